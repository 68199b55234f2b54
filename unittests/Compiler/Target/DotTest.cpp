// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dot micro-kernels against a plain triple loop, for every vector width that
// the machine has.
#include "Kernel.h"

#include "Target/CPU/Dot.h"
#include "Target/CPU/IR/CPU.h"
#include "Target/CPU/KernelObject.h"
#include "Target/CPU/Pipeline.h"
#include "nereid/Dialect/Triton/IR/Triton.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <random>

using namespace nereid;
using namespace nereid::test;

namespace {

/// Memory aligned as dot wants it, with a guard behind it.
template <typename T> struct Buffer {
  explicit Buffer(size_t count) : count(count), bytes(count * sizeof(T) + 128) {
    data = reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
    std::memset(reinterpret_cast<char *>(data + count), 0x5a, 64);
  }
  bool guardHolds() const {
    for (int i = 0; i < 64; ++i)
      if (reinterpret_cast<const unsigned char *>(data + count)[i] != 0x5a)
        return false;
    return true;
  }
  T *data;
  size_t count;
  std::vector<unsigned char> bytes;
};

struct DotTest : KernelTest {
  std::mt19937 random{12345};

  struct Dot {
    cpu::DotLayout layout;
    std::shared_ptr<runtime::KernelCode> code;
  };

  /// A kernel (a, b, c) that does one dot.
  Dot build(int64_t m, int64_t n, int64_t k, mlir::Type a, mlir::Type b, mlir::Type accumulator,
            const cpu::TargetFeatures &target) {
    context.loadAllAvailableDialects();
    mlir::OpBuilder builder(&context);
    auto loc = builder.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    mlir::Type pointer = tt::PointerType::get(builder.getI8Type(), 1);
    auto function = tt::FuncOp::create(builder, loc, "dot",
                                       builder.getFunctionType({pointer, pointer, pointer}, {}));
    mlir::Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    mlir::Type llvmPointer = mlir::LLVM::LLVMPointerType::get(&context);
    mlir::Value pointers[3];
    for (int i = 0; i < 3; ++i)
      pointers[i] =
          mlir::UnrealizedConversionCastOp::create(builder, loc, llvmPointer, entry->getArgument(i))
              .getResult(0);
    Dot dot;
    dot.layout = cpu::chooseDotLayout(m, n, k, a, b, accumulator, target);
    cpu::DotOperands operands;
    operands.a = pointers[0];
    operands.b = pointers[1];
    cpu::emitDot(builder, loc, dot.layout, operands, pointers[2]);
    tt::ReturnOp::create(builder, loc);

    cpu::PipelineOptions options;
    options.target = target;
    mlir::PassManager pm(&context);
    cpu::phases(options).back().build(pm);
    EXPECT_TRUE(mlir::succeeded(pm.run(*module)));
    cpu::EmitOptions emitOptions;
    emitOptions.target = target;
    auto code = cpu::emitCode(*module, emitOptions, cpu::EmitKind::Object);
    EXPECT_TRUE(mlir::succeeded(code));
    KernelMetadata metadata;
    metadata.name = "dot";
    std::string object = llvm::cantFail(cpu::makeKernelObject(*code, metadata, target));
    auto loaded = runtime::KernelCode::load(object);
    if (!loaded.ok()) {
      ADD_FAILURE() << loaded.status().message();
      std::abort();
    }
    dot.code = *loaded;
    return dot;
  }

  /// Runs one dot on random integers or fractions; `Packed` is the type in the
  /// buffers of A and B, `C` that of the accumulator.
  template <typename Packed, typename C>
  void check(const Dot &dot, double tolerance, llvm::function_ref<double()> next) {
    const cpu::DotLayout &l = dot.layout;
    Buffer<Packed> a(l.aElements()), b(l.bElements());
    Buffer<C> c(l.cElements());
    // Padding holds what a float kernel likes least.
    if constexpr (std::is_floating_point_v<Packed>)
      std::fill_n(b.data, b.count, std::numeric_limits<Packed>::quiet_NaN());
    std::vector<double> expected(l.m * l.n), magnitude(l.m * l.n);
    for (int64_t row = 0; row < l.m; ++row)
      for (int64_t i = 0; i < l.k; ++i)
        a.data[l.aOffset(row, i)] = Packed(next());
    for (int64_t i = 0; i < l.k; ++i)
      for (int64_t column = 0; column < l.n; ++column)
        b.data[l.bOffset(i, column)] = Packed(next());
    for (int64_t row = 0; row < l.m; ++row)
      for (int64_t column = 0; column < l.n; ++column) {
        C start = C(next());
        c.data[row * l.ldc + column] = start;
        double sum = double(start), size = std::fabs(double(start));
        for (int64_t i = 0; i < l.k; ++i) {
          double product = double(a.data[l.aOffset(row, i)]) * double(b.data[l.bOffset(i, column)]);
          sum += product;
          size += std::fabs(product);
        }
        expected[row * l.n + column] = sum;
        magnitude[row * l.n + column] = size;
      }
    uint64_t slots[] = {reinterpret_cast<uint64_t>(a.data), reinterpret_cast<uint64_t>(b.data),
                        reinterpret_cast<uint64_t>(c.data)};
    nrd_program program{};
    dot.code->entry()(&program, slots);
    ASSERT_TRUE(c.guardHolds());
    for (int64_t row = 0; row < l.m; ++row)
      for (int64_t column = 0; column < l.n; ++column) {
        int64_t i = row * l.n + column;
        ASSERT_LE(std::fabs(double(c.data[row * l.ldc + column]) - expected[i]),
                  tolerance * magnitude[i])
            << l.m << "x" << l.n << "x" << l.k << " at " << row << ", " << column << ", "
            << l.target.vectorBits << " bits";
      }
  }

  double fraction() { return std::uniform_real_distribution<double>(-1, 1)(random); }
  int64_t size() { return std::uniform_int_distribution<int64_t>(1, 70)(random); }
  std::vector<cpu::TargetFeatures> targets() {
    std::vector<cpu::TargetFeatures> result;
    for (unsigned bits : {512, 256, 128}) {
      cpu::TargetFeatures target = cpu::TargetFeatures::host(bits);
      if (result.empty() || result.back().vectorBits != target.vectorBits)
        result.push_back(target);
    }
    return result;
  }
};

} // namespace

TEST_F(DotTest, Float32RandomShapes) {
  mlir::Type f32 = mlir::Float32Type::get(&context);
  for (const cpu::TargetFeatures &target : targets())
    for (int i = 0; i < 20; ++i) {
      Dot dot = build(size(), size(), size(), f32, f32, f32, target);
      check<float, float>(dot, 4e-6, [&] { return fraction(); });
    }
}

TEST_F(DotTest, Float32TileShapes) {
  mlir::Type f32 = mlir::Float32Type::get(&context);
  for (const cpu::TargetFeatures &target : targets())
    for (auto [m, n, k] : {std::tuple{16, 16, 16},
                           {32, 32, 32},
                           {64, 48, 16},
                           {128, 256, 64},
                           {1, 64, 1},
                           {5, 129, 7}})
      check<float, float>(build(m, n, k, f32, f32, f32, target), 8e-6, [&] { return fraction(); });
}

TEST_F(DotTest, Float64) {
  mlir::Type f64 = mlir::Float64Type::get(&context);
  for (const cpu::TargetFeatures &target : targets())
    for (int i = 0; i < 6; ++i) {
      Dot dot = build(size(), size(), size(), f64, f64, f64, target);
      check<double, double>(dot, 1e-14, [&] { return fraction(); });
    }
}

TEST_F(DotTest, HalfOperandsAndAccumulator) {
  mlir::Type f16 = mlir::Float16Type::get(&context), bf16 = mlir::BFloat16Type::get(&context),
             f32 = mlir::Float32Type::get(&context);
  for (const cpu::TargetFeatures &target : targets()) {
    if (!target.hasF16C)
      continue;
    for (int i = 0; i < 4; ++i) {
      check<float, float>(build(size(), size(), size(), f16, bf16, f32, target), 4e-6,
                          [&] { return fraction(); });
      check<float, _Float16>(build(size(), size(), size(), f16, f16, f16, target), 1e-3,
                             [&] { return fraction(); });
    }
  }
}

TEST_F(DotTest, NarrowIntegers) {
  mlir::Type i32 = mlir::IntegerType::get(&context, 32);
  for (unsigned bits : {8, 16}) {
    mlir::Type element = mlir::IntegerType::get(&context, bits);
    // Sums of 70 products of 16 bits would wrap around.
    int limit = bits == 8 ? 128 : 4000;
    std::uniform_int_distribution<int> number(-limit, limit - 1);
    auto next = [&] { return double(number(random)); };
    for (const cpu::TargetFeatures &target : targets())
      for (int i = 0; i < 8; ++i) {
        Dot dot = build(size(), size(), size(), element, element, i32, target);
        // Pairs of steps where there is an even number of them.
        EXPECT_EQ(dot.layout.packedA, dot.layout.packedB);
        if (dot.layout.packedA.isInteger(16))
          check<int16_t, int32_t>(dot, 0, next);
        else
          check<int32_t, int32_t>(dot, 0, next);
      }
  }
}

namespace {
/// bf16, rounded to nearest.
struct BFloat16 {
  explicit BFloat16(double value) {
    float narrow = float(value);
    uint32_t word;
    std::memcpy(&word, &narrow, 4);
    bits = uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  explicit operator double() const {
    uint32_t word = uint32_t(bits) << 16;
    float wide;
    std::memcpy(&wide, &word, 4);
    return wide;
  }
  uint16_t bits;
};
} // namespace

TEST_F(DotTest, BFloat16) {
  mlir::Type bf16 = mlir::BFloat16Type::get(&context), f32 = mlir::Float32Type::get(&context);
  for (const cpu::TargetFeatures &target : targets())
    for (int i = 0; i < 8; ++i) {
      Dot dot = build(size(), size(), size(), bf16, bf16, f32, target);
      if (dot.layout.packedA.isBF16())
        check<BFloat16, float>(dot, 4e-6, [&] { return fraction(); });
      else
        check<float, float>(dot, 4e-6, [&] { return fraction(); });
    }
}

TEST_F(DotTest, OffsetsOfB) {
  // The value that the tile load computes equals what the layout says.
  mlir::Type f32 = mlir::Float32Type::get(&context);
  context.loadAllAvailableDialects();
  for (int64_t n : {16, 40, 64, 65, 200}) {
    cpu::DotLayout layout =
        cpu::chooseDotLayout(8, n, 5, f32, f32, f32, cpu::TargetFeatures::host());
    EXPECT_EQ(layout.panelWidth % 16, 0);
    EXPECT_LT(layout.bOffset(4, n - 1), layout.bElements());
    mlir::OpBuilder builder(&context);
    auto loc = builder.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    for (int64_t row : {0, 3})
      for (int64_t column = 0; column < n; column += 7) {
        auto constant = [&](int64_t value) -> mlir::Value {
          return mlir::arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
        };
        mlir::Value offset =
            cpu::emitBOffset(builder, loc, layout, constant(row), constant(column));
        std::function<int64_t(mlir::Value)> evaluate = [&](mlir::Value value) -> int64_t {
          mlir::Operation *op = value.getDefiningOp();
          if (auto c = mlir::dyn_cast<mlir::arith::ConstantOp>(op))
            return mlir::cast<mlir::IntegerAttr>(c.getValue()).getInt();
          int64_t x = evaluate(op->getOperand(0)), y = evaluate(op->getOperand(1));
          if (mlir::isa<mlir::arith::AddIOp>(op))
            return x + y;
          if (mlir::isa<mlir::arith::MulIOp>(op))
            return x * y;
          return mlir::isa<mlir::arith::DivUIOp>(op) ? x / y : x % y;
        };
        EXPECT_EQ(evaluate(offset), layout.bOffset(row, column));
      }
  }
}
