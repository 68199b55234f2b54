# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# nereid_add_compiler_library(NAME sources... [LINK libs...] [NO_PCH])
# A static library of compiler/: compiled against LLVM/MLIR with the shared
# precompiled header, after all generated headers exist.
function(nereid_add_compiler_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC NereidMLIRInterface ${ARG_LINK})
  add_dependencies(${name} NereidGeneratedHeaders)
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM NereidPCH)
  endif()
endfunction()

# nereid_add_runtime_library(NAME sources... [LINK libs...] [PRIVATE libs...])
# One row of the runtime's layers: it links the rows that docs/architecture.md
# lets it use, and tools/check/layering.py holds LINK to that.
function(nereid_add_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name}
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>" "$<INSTALL_INTERFACE:include>"
    PRIVATE "${PROJECT_SOURCE_DIR}/runtime")
  target_link_libraries(${name} PUBLIC NereidABI NereidCommon ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY NEREID_EXPORTED_LIBRARIES ${name})
endfunction()

# nereid_add_unittest(NAME sources... [LINK libs...])
# A GoogleTest program, registered with ctest under its name.
function(nereid_add_unittest name)
  cmake_parse_arguments(ARG "COMPILER" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_property(GLOBAL APPEND PROPERTY NEREID_UNITTESTS ${name})
endfunction()
