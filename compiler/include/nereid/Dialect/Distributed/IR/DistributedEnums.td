// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_DISTRIBUTED_ENUMS_TD
#define NEREID_DISTRIBUTED_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Dist_SignalOp : I32EnumAttr<"SignalOp", "how a notify changes the signal",
    [I32EnumAttrCase<"SET", 1, "set">, I32EnumAttrCase<"ADD", 2, "add">]> {
  let cppNamespace = "::nereid::distributed";
}
def Dist_CommScope : I32EnumAttr<"CommScope", "how far a notify has to reach",
    [I32EnumAttrCase<"GPU", 1, "gpu">, I32EnumAttrCase<"INTRA_NODE", 2, "intra_node">,
     I32EnumAttrCase<"INTER_NODE", 3, "inter_node">]> {
  let cppNamespace = "::nereid::distributed";
}
def Dist_AccessKind : I32EnumAttr<"AccessKind", "what an access does to memory",
    [I32EnumAttrCase<"READ", 1, "read">, I32EnumAttrCase<"WRITE", 2, "write">]> {
  let cppNamespace = "::nereid::distributed";
}

#endif // NEREID_DISTRIBUTED_ENUMS_TD
