# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts into a prefix for C++ users (docs/cpp.md):
#
#   include/nereid/         headers of the runtime, the kernels' ABI, the compiler
#   lib/                    the runtime's static libraries, the compiler's shared one
#   lib/cmake/Nereid/       find_package(Nereid): Nereid::Runtime, Nereid::Compiler
#   lib/nereid/python/      the Python package, for the command
#   bin/nereid              run, compile, info; bin/nereid-opt
include(CMakePackageConfigHelpers)
set(_config lib/cmake/Nereid)

install(DIRECTORY abi/nereid common/nereid runtime/include/nereid DESTINATION include
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
if(NEREID_BUILD_COMPILER)
  install(FILES compiler/include/nereid/Compiler.h DESTINATION include/nereid)
  install(TARGETS nereid-opt RUNTIME DESTINATION bin)
endif()

get_property(_libraries GLOBAL PROPERTY NEREID_EXPORTED_LIBRARIES)
install(TARGETS ${_libraries} EXPORT Nereid ARCHIVE DESTINATION lib LIBRARY DESTINATION lib)
install(EXPORT Nereid NAMESPACE Nereid:: FILE NereidExports.cmake DESTINATION ${_config})
configure_package_config_file(cmake/NereidConfig.cmake.in "${PROJECT_BINARY_DIR}/NereidConfig.cmake"
                              INSTALL_DESTINATION ${_config})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/NereidConfig.cmake" "${PROJECT_BINARY_DIR}/NereidConfigVersion.cmake"
        cmake/NereidKernels.cmake DESTINATION ${_config})

if(NEREID_BUILD_PYTHON)
  install(DIRECTORY python/nereid DESTINATION lib/nereid/python
          FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
  install(TARGETS nereid_runtime_module LIBRARY DESTINATION lib/nereid/python/nereid)
  if(NEREID_BUILD_COMPILER)
    install(TARGETS nereid_compiler_module LIBRARY DESTINATION lib/nereid/python/nereid)
  endif()
  configure_file(cmake/nereid.in "${PROJECT_BINARY_DIR}/nereid" @ONLY)
  install(PROGRAMS "${PROJECT_BINARY_DIR}/nereid" DESTINATION bin)
endif()
