// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_LIB_PIPELINES_FATALERRORS_H
#define NEREID_LIB_PIPELINES_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace nereid {

/// Runs `work` and waits for it. When LLVM gives up inside (it calls
/// report_fatal_error, which ends the process), this returns its reason instead.
/// What `work` had allocated is lost then, and `work` must not be run again on the
/// same module.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

} // namespace nereid

#endif // NEREID_LIB_PIPELINES_FATALERRORS_H
