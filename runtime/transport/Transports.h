// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transports.h - The table of transports -----------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_TRANSPORTS_H
#define NEREID_RUNTIME_TRANSPORT_TRANSPORTS_H

#include "transport/interface/Transport.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime {

/// The setting that leaves the choice to where the ranks are, and what it means.
inline constexpr const char *kAnyTransport = "auto";
inline constexpr const char *kBetweenNodes = "delayed:shared_memory";
inline constexpr const char *kBetweenMachines = "ucx";

/// The rows of transports.def and those that were added.
const std::vector<TransportRow> &transportTable();

/// Adds a row from outside of the runtime; before any job is made. A row of the
/// same name is replaced.
void addTransport(const TransportRow &row);

/// A name of the table, or "delayed:" and one.
struct TransportChoice {
  const TransportRow *row = nullptr;
  bool delayed = false;
};
/// Unknown names: Environment, listing the known ones and who has named it.
Expected<TransportChoice> findTransport(std::string_view text,
                                        std::string_view option = "NEREID_TRANSPORT");

/// What a number of ranks per node of 0 means, where so many run on each machine: all on
/// one, one on each when the transport does not map the heaps of peers, a machine's on
/// each when there are several. Environment when the transport does not reach other
/// machines, or a node would lie on two.
Status settleNodes(const std::string &transport, int32_t worldSize, int32_t ranksPerMachine,
                   int32_t &ranksPerNode);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_TRANSPORTS_H
