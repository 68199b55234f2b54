# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Finds LLVM and MLIR 22. Debian's version file wants major.minor to match, so
# the version is checked here and not in find_package.
if(NOT MLIR_DIR AND EXISTS "/usr/lib/llvm-22/lib/cmake/mlir")
  set(MLIR_DIR "/usr/lib/llvm-22/lib/cmake/mlir")
endif()
find_package(MLIR REQUIRED CONFIG)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Nereid needs LLVM/MLIR 22, found ${LLVM_VERSION} in ${LLVM_DIR}; "
                      "run scripts/setup.sh or set MLIR_DIR")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# What every target of compiler/ is compiled and linked with.
add_library(NereidMLIRInterface INTERFACE)
target_include_directories(NereidMLIRInterface SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(NereidMLIRInterface INTERFACE
  "${PROJECT_SOURCE_DIR}/compiler/include" "${PROJECT_BINARY_DIR}/compiler/include")
target_compile_definitions(NereidMLIRInterface INTERFACE ${_llvm_definitions})
if(NEREID_STATIC_LLVM)
  # All of MLIR's archives are named and the linker takes the members it needs:
  # what is linked follows from what the code uses, not from a list kept here.
  # Files and not targets, since Debian's targets of MLIR lead to LLVM's shared library.
  get_property(_mlir_libraries GLOBAL PROPERTY MLIR_ALL_LIBS)
  set(_mlir_archives)
  foreach(_library IN LISTS _mlir_libraries)
    get_target_property(_type ${_library} TYPE)
    if(_type STREQUAL "STATIC_LIBRARY")
      list(APPEND _mlir_archives "$<TARGET_FILE:${_library}>")
    endif()
  endforeach()
  llvm_map_components_to_libnames(_llvm_archives core support passes native nativecodegen objcopy debuginfodwarf)
  # LLVM's targets name zstd's shared library; its archive lies beside it.
  find_library(NEREID_ZSTD_ARCHIVE libzstd.a REQUIRED)
  if(TARGET zstd::libzstd_shared)
    set_target_properties(zstd::libzstd_shared PROPERTIES
      IMPORTED_LOCATION "${NEREID_ZSTD_ARCHIVE}" IMPORTED_LOCATION_NONE "${NEREID_ZSTD_ARCHIVE}"
      IMPORTED_LOCATION_RELEASE "${NEREID_ZSTD_ARCHIVE}")
  endif()
  target_link_libraries(NereidMLIRInterface INTERFACE ${_mlir_archives} ${_llvm_archives})
  # No symbol of LLVM leaves what is linked: a torch or triton in the same process
  # brings an LLVM of its own.
  target_link_options(NereidMLIRInterface INTERFACE -Wl,--exclude-libs,ALL -Wl,--as-needed)
else()
  target_link_libraries(NereidMLIRInterface INTERFACE MLIR LLVM)
endif()
target_link_libraries(NereidMLIRInterface INTERFACE NereidABI NereidCommon)
