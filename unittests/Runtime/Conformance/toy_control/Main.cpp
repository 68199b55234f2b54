// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - The conformance suites on a control plane from outside --===//
#include "control/ControlPlanes.h"

#include <gtest/gtest.h>

namespace nereid::runtime {
ControlPlaneRow controlPlane_toy();
ControlPlaneRow controlPlane_toy_machines();
} // namespace nereid::runtime

int main(int argc, char **argv) {
  nereid::runtime::addControlPlane(nereid::runtime::controlPlane_toy());
  nereid::runtime::addControlPlane(nereid::runtime::controlPlane_toy_machines());
  GTEST_FLAG_SET(filter, "*toy*"); // the others run elsewhere
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
