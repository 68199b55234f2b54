// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes say of the speed of the code that they make, where they decide it:
// MLIR's remarks of one category. Nobody listens unless the user asks
// (CompileOptions::speed; --remarks-filter=speed of nereid-opt), and then nothing
// is said.
#ifndef NEREID_SUPPORT_SPEEDREMARKS_H
#define NEREID_SUPPORT_SPEEDREMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace nereid {

inline constexpr char speedRemarks[] = "speed";

/// Says what became of `op` and what would make that faster (may be empty).
inline void sayOfSpeed(mlir::Operation *op, const llvm::Twine &what, llvm::StringRef faster = {}) {
  if (!op->getContext()->getRemarkEngine())
    return;
  auto options =
      mlir::remark::RemarkOpts::name(op->getName().getStringRef()).category(speedRemarks);
  if (faster.empty())
    mlir::remark::passed(op->getLoc(), options) << mlir::remark::add("{0}", what.str());
  else
    mlir::remark::missed(op->getLoc(), options)
        << mlir::remark::add("{0}", what.str()) << mlir::remark::suggest("{0}", faster.str());
}

} // namespace nereid

#endif // NEREID_SUPPORT_SPEEDREMARKS_H
