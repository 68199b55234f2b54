# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit configuration: where the tools lie and what a test file is called."""
import os

import lit.formats

config.name = "nereid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ll", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.nereid_build_dir, "test")

# Each tool by its full path: the one just built, LLVM's own for the helpers.
tools = {name: os.path.join(config.nereid_build_dir, "tools", name, name) for name in ("nereid-opt",)}
tools.update({name: os.path.join(config.llvm_tools_dir, name)
              for name in ("FileCheck", "not", "count", "split-file", "mlir-opt", "llc", "opt")})
for name, path in tools.items():
    config.substitutions.append((r"(?<![\w/.-])" + name + r"(?![\w/.-])", path))

