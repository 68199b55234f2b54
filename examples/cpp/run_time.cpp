// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a library: kernels from text that the program has at run time, one
// as IR (compiled in this process) and one as Python source (compiled by a child
// process that runs Python).
//
//   ./run_time [the command nereid, for the second]
#include <nereid/Compiler.h>
#include <nereid/runtime/LoadedKernel.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using nereid::runtime::argumentSlot;
using nereid::runtime::LoadedKernel;

/// y = a * x + y, 64 elements per program.
static const char *axpyIR = R"(
tt.func public @axpy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %a: f32, %n: i32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %c64 : i32
  %firsts = tt.splat %first : i32 -> tensor<64xi32>
  %lanes = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %offsets = arith.addi %firsts, %lanes : tensor<64xi32>
  %ends = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %offsets, %ends : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %px = tt.addptr %xs, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %py = tt.addptr %ys, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %vx = tt.load %px, %mask : tensor<64x!tt.ptr<f32>>
  %vy = tt.load %py, %mask : tensor<64x!tt.ptr<f32>>
  %as = tt.splat %a : f32 -> tensor<64xf32>
  %scaled = arith.mulf %as, %vx : tensor<64xf32>
  %sum = arith.addf %scaled, %vy : tensor<64xf32>
  tt.store %py, %sum, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}
)";

static const char *axpySource = R"(
import nereid
import nereid.language as tl

@nereid.jit
def axpy(x_ptr, y_ptr, a, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, a * tl.load(x_ptr + offs, mask=mask) + tl.load(y_ptr + offs, mask=mask), mask=mask)
)";

/// Launches the compiled kernel and compares what it did.
static void run(const char *what, const nereid::CompilerResult &compiled) {
  for (const std::string &warning : compiled.warnings)
    std::fprintf(stderr, "%s", warning.c_str());
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s", compiled.error.c_str());
    std::exit(1);
  }
  auto kernel = LoadedKernel::load(compiled.object);
  if (!kernel.ok()) {
    std::fprintf(stderr, "%s", kernel.status().report().c_str());
    std::exit(1);
  }
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = float(i);
    y[i] = float(2 * i);
  }
  auto status = kernel->launch(
      nullptr, {(n + 63) / 64},
      {argumentSlot(x.data()), argumentSlot(y.data()), argumentSlot(3.0f), argumentSlot(n)});
  if (!status.ok()) {
    std::fprintf(stderr, "%s", status.report().c_str());
    std::exit(1);
  }
  for (int i = 0; i < n; ++i)
    if (y[i] != float(5 * i)) {
      std::fprintf(stderr, "%s: y[%d] is %g instead of %d\n", what, i, y[i], 5 * i);
      std::exit(1);
    }
  std::printf("%s: %d elements are right\n", what, n);
}

int main(int argc, char **argv) {
  run("axpy from IR", nereid::compileTTIR(axpyIR, "axpy.ttir"));

  nereid::KernelSource source;
  source.text = axpySource;
  source.kernel = "axpy";
  source.signature = "x_ptr=*fp32, y_ptr=*fp32, a=fp32, n=i32, BLOCK=64";
  if (argc > 1)
    source.command = argv[1];
  run("axpy from Python source", nereid::compileSource(source));
}
