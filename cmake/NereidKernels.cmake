# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# nereid_add_kernel(TARGET FILE.py:NAME [SIGNATURE text] [CPU level] [PROFILE name])
#
# Compiles a kernel when TARGET is built and makes its header NAME.h, with the object
# file and a typed launch function in it, known to TARGET. FILE may also be IR
# (kernel.ttir, without :NAME); the header is then called after the file.
#
#   SIGNATURE  types of arguments and values of constants, as for `nereid compile`
#   CPU        host (default), x86-64-v2, x86-64-v3 or x86-64-v4
#   PROFILE    target profile (default host)
function(nereid_add_kernel target kernel)
  cmake_parse_arguments(ARG "" "SIGNATURE;CPU;PROFILE" "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_add_kernel: unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT Nereid_COMMAND)
    message(FATAL_ERROR "nereid_add_kernel: this Nereid was installed without its Python package, which compiles "
                        "kernels; set Nereid_COMMAND to a command nereid")
  endif()
  if(kernel MATCHES "^(.+\\.py):([A-Za-z_][A-Za-z0-9_]*)$")
    set(_file "${CMAKE_MATCH_1}")
    set(_name "${CMAKE_MATCH_2}")
  else()
    set(_file "${kernel}")
    get_filename_component(_name "${kernel}" NAME_WE)
  endif()
  if(NOT ARG_CPU)
    set(ARG_CPU host)
  endif()
  set(_options)
  if(ARG_SIGNATURE)
    list(APPEND _options "--signature=${ARG_SIGNATURE}")
  endif()
  if(ARG_PROFILE)
    list(APPEND _options "--profile=${ARG_PROFILE}")
  endif()
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels")
  file(MAKE_DIRECTORY "${_folder}")
  add_custom_command(
    OUTPUT "${_folder}/${_name}.h"
    COMMAND "${CMAKE_COMMAND}" -E env "NEREID_CPU=${ARG_CPU}" "${Nereid_COMMAND}" compile "${kernel}" --emit=obj
            "--header=${_folder}/${_name}.h" ${_options}
    DEPENDS "${_file}"
    COMMENT "Compiling kernel ${_name}"
    VERBATIM)
  target_sources(${target} PRIVATE "${_folder}/${_name}.h")
  target_include_directories(${target} PRIVATE "${_folder}")
endfunction()
