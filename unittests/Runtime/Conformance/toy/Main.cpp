// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - The conformance suite on a transport from outside -------===//
#include "transport/Transports.h"

#include <gtest/gtest.h>

namespace nereid::runtime {
Expected<std::unique_ptr<Transport>> make_toy(const TransportShape &);
}

int main(int argc, char **argv) {
  nereid::runtime::addTransport({"toy", /*needsMapping=*/true, "a thread that copies byte by byte",
                                 nereid::runtime::make_toy});
  GTEST_FLAG_SET(filter, "*toy*"); // the others run elsewhere
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
