// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nereid/Target/Target.h"

nereid::Target::~Target() = default;
