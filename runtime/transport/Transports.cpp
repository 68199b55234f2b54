// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/Transports.h"

namespace nereid::runtime {

#define NEREID_TRANSPORT(name, needsMapping, betweenMachines, help)                                \
  Expected<std::unique_ptr<Transport>> make_##name(const TransportShape &);
#include "transport/transports.def"
#undef NEREID_TRANSPORT

static std::vector<TransportRow> &table() {
  static std::vector<TransportRow> rows = {
#define NEREID_TRANSPORT(name, needsMapping, betweenMachines, help)                                \
  {#name, needsMapping, help, make_##name, betweenMachines},
#include "transport/transports.def"
#undef NEREID_TRANSPORT
  };
  return rows;
}

const std::vector<TransportRow> &transportTable() { return table(); }

void addTransport(const TransportRow &row) {
  for (TransportRow &known : table())
    if (std::string_view(known.name) == row.name) {
      known = row;
      return;
    }
  table().push_back(row);
}

Expected<TransportChoice> findTransport(std::string_view text, std::string_view option) {
  static constexpr std::string_view kDelayed = "delayed:";
  TransportChoice choice;
  std::string_view name = text;
  if (name.substr(0, kDelayed.size()) == kDelayed) {
    choice.delayed = true;
    name.remove_prefix(kDelayed.size());
  }
  std::string known;
  for (const TransportRow &row : table()) {
    if (name == row.name) {
      choice.row = &row;
      return choice;
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  return Status::error(StatusCode::Environment, std::string(option) + "='" + std::string(text) +
                                                    "': expected one of " + known +
                                                    ", or delayed: and one of them");
}

Status settleNodes(const std::string &transport, int32_t worldSize, int32_t ranksPerMachine,
                   int32_t &ranksPerNode) {
  Expected<TransportChoice> choice = findTransport(transport);
  if (!choice.ok())
    return choice.status();
  const bool needsMapping = choice->row->needsMapping;
  if (ranksPerMachine >= worldSize) {
    if (ranksPerNode == 0 && !needsMapping)
      ranksPerNode = 1;
    return {};
  }
  if (needsMapping) {
    std::string others;
    for (const TransportRow &row : table())
      if (!row.needsMapping)
        others += (others.empty() ? "" : ", ") + std::string(row.name);
    return Status::error(StatusCode::Environment,
                         "NEREID_TRANSPORT='" + transport +
                             "' needs all ranks on one machine, but this job has " +
                             std::to_string(ranksPerMachine) + " of " + std::to_string(worldSize) +
                             " on each; those that need not: " + others);
  }
  if (ranksPerNode == 0)
    ranksPerNode = ranksPerMachine;
  if (ranksPerMachine % ranksPerNode)
    return Status::error(StatusCode::Environment,
                         "NEREID_RANKS_PER_NODE=" + std::to_string(ranksPerNode) +
                             ": nodes must not go over the bounds of machines, and this job has " +
                             std::to_string(ranksPerMachine) + " ranks on each");
  return {};
}

} // namespace nereid::runtime
