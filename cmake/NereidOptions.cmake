# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Language level, warnings, sanitizers, ccache and linker: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Debian keeps libMLIR outside the loader's path: installed files must know where.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The environment that scripts/setup.sh makes, unless told otherwise.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python to build the package for")
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden
                    -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Precompiled headers must not carry time stamps, or ccache never hits.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
add_link_options(-Wl,--gc-sections)

find_program(NEREID_LLD NAMES ld.lld-22 ld.lld)
if(NEREID_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options("-fuse-ld=${NEREID_LLD}")
endif()

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(_launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${NEREID_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
endif()

if(NEREID_SANITIZE)
  add_compile_options(-fsanitize=${NEREID_SANITIZE} -fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=${NEREID_SANITIZE})
  if(NEREID_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()
