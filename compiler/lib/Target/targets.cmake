# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The targets of this build: folders beside this file, or whole paths. The first is
# the default. A folder X defines infoOfX() in Info.cpp (without LLVM) and createX()
# in its library NereidXTarget; docs/adding.md says what a target consists of.
set(NEREID_EXTRA_TARGETS "" CACHE STRING "Folders of targets from outside of this tree")
set(NEREID_TARGETS
  CPU
  CUDA
  Ascend
  ${NEREID_EXTRA_TARGETS})

# nereid_add_target_info(NAME targets...)
# A library of what launches know of these targets. No LLVM. Targets.def in its build
# folder has a line NEREID_TARGET(X) for each.
function(nereid_add_target_info name)
  set(_folder "${PROJECT_SOURCE_DIR}/compiler/lib/Target")
  set(_lines "")
  set(_sources "${_folder}/Info/Options.cpp" "${_folder}/Info/TargetInfo.cpp")
  foreach(_target IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH _target BASE_DIRECTORY "${_folder}" OUTPUT_VARIABLE _path)
    if(NOT EXISTS "${_path}/Info.cpp")
      message(FATAL_ERROR "The target ${_target} of compiler/lib/Target/targets.cmake has no file ${_path}/Info.cpp")
    endif()
    cmake_path(GET _path FILENAME _base)
    string(APPEND _lines "NEREID_TARGET(${_base})\n")
    list(APPEND _sources "${_path}/Info.cpp")
  endforeach()
  file(CONFIGURE OUTPUT Targets.def CONTENT "${_lines}")
  add_library(${name} STATIC ${_sources})
  target_include_directories(${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/compiler/include" "${PROJECT_SOURCE_DIR}/common" "${CMAKE_CURRENT_BINARY_DIR}")
  # The version of the package that the target cuda is made for stands in the extra of
  # that name alone.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/pyproject.toml")
  file(STRINGS "${PROJECT_SOURCE_DIR}/pyproject.toml" _extra REGEX "^cuda = ")
  if(NOT _extra MATCHES "\"triton==([0-9.]+)\"")
    message(FATAL_ERROR "The extra cuda of pyproject.toml does not say triton==VERSION")
  endif()
  target_compile_definitions(${name} PRIVATE NEREID_TRITON_VERSION="${CMAKE_MATCH_1}")
endfunction()
