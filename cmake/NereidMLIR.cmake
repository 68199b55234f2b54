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
target_link_libraries(NereidMLIRInterface INTERFACE MLIR LLVM NereidABI)
