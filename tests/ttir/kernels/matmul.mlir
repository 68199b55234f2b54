// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c = a @ b, fp16 in, fp32 accumulated, 64x64x32 tiles, masks on all sides; the
// product is added to the accumulator afterwards.
module {
  tt.func public @matmul(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f16>, %m: i32, %n: i32, %k: i32,
                         %lda: i32, %ldb: i32, %ldc: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %m0 = arith.muli %pm, %c64 : i32
    %m0s = tt.splat %m0 : i32 -> tensor<64xi32>
    %om = arith.addi %m0s, %r64 : tensor<64xi32>
    %n0 = arith.muli %pn, %c64 : i32
    %n0s = tt.splat %n0 : i32 -> tensor<64xi32>
    %on = arith.addi %n0s, %r64 : tensor<64xi32>
    %rows = tt.expand_dims %om {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %cols = tt.expand_dims %on {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ka = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %kb = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    // a + rows * lda + k
    %ldas = tt.splat %lda : i32 -> tensor<64x1xi32>
    %arow = arith.muli %rows, %ldas : tensor<64x1xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %a1 = tt.addptr %as, %arow : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %a2 = tt.broadcast %a1 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
    %kab = tt.broadcast %ka : tensor<1x32xi32> -> tensor<64x32xi32>
    %ap0 = tt.addptr %a2, %kab : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    // b + k * ldb + cols
    %ldbs = tt.splat %ldb : i32 -> tensor<32x1xi32>
    %brow = arith.muli %kb, %ldbs : tensor<32x1xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x1x!tt.ptr<f16>>
    %b1 = tt.addptr %bs, %brow : tensor<32x1x!tt.ptr<f16>>, tensor<32x1xi32>
    %b2 = tt.broadcast %b1 : tensor<32x1x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<f16>>
    %colsb = tt.broadcast %cols : tensor<1x64xi32> -> tensor<32x64xi32>
    %bp0 = tt.addptr %b2, %colsb : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
    %ms = tt.splat %m : i32 -> tensor<64x1xi32>
    %inm = arith.cmpi slt, %rows, %ms : tensor<64x1xi32>
    %ns = tt.splat %n : i32 -> tensor<1x64xi32>
    %inn = arith.cmpi slt, %cols, %ns : tensor<1x64xi32>
    %inma = tt.broadcast %inm : tensor<64x1xi1> -> tensor<64x32xi1>
    %innb = tt.broadcast %inn : tensor<1x64xi1> -> tensor<32x64xi1>
    %k31 = arith.addi %k, %c31 : i32
    %steps = arith.divsi %k31, %c32 : i32
    %stepa = arith.constant dense<32> : tensor<64x32xi32>
    %ldb32 = arith.muli %ldb, %c32 : i32
    %stepb = tt.splat %ldb32 : i32 -> tensor<32x64xi32>
    %acc:3 = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zero, %ap = %ap0, %bp = %bp0)
        -> (tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>) : i32 {
      %k0 = arith.muli %i, %c32 : i32
      %left = arith.subi %k, %k0 : i32
      %lefta = tt.splat %left : i32 -> tensor<1x32xi32>
      %inka = arith.cmpi slt, %ka, %lefta : tensor<1x32xi32>
      %inkab = tt.broadcast %inka : tensor<1x32xi1> -> tensor<64x32xi1>
      %maska = arith.andi %inma, %inkab : tensor<64x32xi1>
      %leftb = tt.splat %left : i32 -> tensor<32x1xi32>
      %inkb = arith.cmpi slt, %kb, %leftb : tensor<32x1xi32>
      %inkbb = tt.broadcast %inkb : tensor<32x1xi1> -> tensor<32x64xi1>
      %maskb = arith.andi %innb, %inkbb : tensor<32x64xi1>
      %x = tt.load %ap, %maska : tensor<64x32x!tt.ptr<f16>>
      %y = tt.load %bp, %maskb : tensor<32x64x!tt.ptr<f16>>
      %product = tt.dot %x, %y, %zero : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
      %next = arith.addf %sum, %product : tensor<64x64xf32>
      %ap1 = tt.addptr %ap, %stepa : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
      %bp1 = tt.addptr %bp, %stepb : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
      scf.yield %next, %ap1, %bp1 : tensor<64x64xf32>, tensor<64x32x!tt.ptr<f16>>, tensor<32x64x!tt.ptr<f16>>
    }
    %result = arith.truncf %acc#0 : tensor<64x64xf32> to tensor<64x64xf16>
    %ldcs = tt.splat %ldc : i32 -> tensor<64x1xi32>
    %crow = arith.muli %rows, %ldcs : tensor<64x1xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %cp1 = tt.addptr %cs, %crow : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %cp2 = tt.broadcast %cp1 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
    %colsc = tt.broadcast %cols : tensor<1x64xi32> -> tensor<64x64xi32>
    %cp = tt.addptr %cp2, %colsc : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %inmc = tt.broadcast %inm : tensor<64x1xi1> -> tensor<64x64xi1>
    %innc = tt.broadcast %inn : tensor<1x64xi1> -> tensor<64x64xi1>
    %maskc = arith.andi %inmc, %innc : tensor<64x64xi1>
    tt.store %cp, %result, %maskc : tensor<64x64x!tt.ptr<f16>>
    tt.return
  }
}
