# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Written by python/generate_language.py from the compiler's table: do not edit.
"""Functions and constants of nereid.libshmem_device. Part 3."""

from nereid.language._device import DeviceConstant, device_function


@device_function("libshmem_device", "ulong_atomic_inc")
def ulong_atomic_inc(dest, pe, qp_id=0):
    """Adds 1 at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_or")
def ulong_atomic_or(dest, value, pe, qp_id=0):
    """Bitwise or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_set")
def ulong_atomic_set(dest, value, pe, qp_id=0):
    """Sets the element at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_swap")
def ulong_atomic_swap(dest, value, pe, qp_id=0):
    """set; returns the old value. Of MORI."""


@device_function("libshmem_device", "ulong_atomic_xor")
def ulong_atomic_xor(dest, value, pe, qp_id=0):
    """Bitwise exclusive or at dest's place in pe's heap. Of MORI."""


@device_function("libshmem_device", "ulong_g")
def ulong_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "ulong_p")
def ulong_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "ulong_put_signal")
def ulong_put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe):
    """putmem_signal of nelems 8-byte elements. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "ulong_wait_until")
def ulong_wait_until(addr, cmp_, cmp_val):
    """signal_wait_until of a signal of uint64; returns the value that satisfied it. Of NVSHMEM, ROCSHMEM and MXSHMEM."""


@device_function("libshmem_device", "ulonglong_g")
def ulonglong_g(source, pe):
    """Reads one uint64 at source's place in pe's heap."""


@device_function("libshmem_device", "ulonglong_p")
def ulonglong_p(dest, value, pe, qp_id=0):
    """Stores one uint64 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


@device_function("libshmem_device", "ushort_g")
def ushort_g(source, pe):
    """Reads one uint16 at source's place in pe's heap."""


@device_function("libshmem_device", "ushort_p")
def ushort_p(dest, value, pe, qp_id=0):
    """Stores one uint16 at dest's place in pe's heap. Of NVSHMEM, MORI and MXSHMEM."""


NVSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "NVSHMEM_CMP_EQ", 1689144424804115677494357021163520)
NVSHMEM_CMP_NE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_NE", 1689144424804115677494357021163521)
NVSHMEM_CMP_GT = DeviceConstant("libshmem_device", "NVSHMEM_CMP_GT", 1689144424804115677494357021163522)
NVSHMEM_CMP_LE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_LE", 1689144424804115677494357021163523)
NVSHMEM_CMP_LT = DeviceConstant("libshmem_device", "NVSHMEM_CMP_LT", 1689144424804115677494357021163524)
NVSHMEM_CMP_GE = DeviceConstant("libshmem_device", "NVSHMEM_CMP_GE", 1689144424804115677494357021163525)
NVSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "NVSHMEM_SIGNAL_SET", 1689144424804134124238430730715137)
NVSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "NVSHMEM_SIGNAL_ADD", 1689144424804134124238430730715138)
ROCSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_EQ", 1689144424808838043977226666377216)
ROCSHMEM_CMP_NE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_NE", 1689144424808838043977226666377217)
ROCSHMEM_CMP_GT = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_GT", 1689144424808838043977226666377218)
ROCSHMEM_CMP_LE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_LE", 1689144424808838043977226666377219)
ROCSHMEM_CMP_LT = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_LT", 1689144424808838043977226666377220)
ROCSHMEM_CMP_GE = DeviceConstant("libshmem_device", "ROCSHMEM_CMP_GE", 1689144424808838043977226666377221)
ROCSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "ROCSHMEM_SIGNAL_SET", 1689144424808856490721300375928833)
ROCSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "ROCSHMEM_SIGNAL_ADD", 1689144424808856490721300375928834)
ACLSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_EQ", 1689144424813560410460096311590912)
ACLSHMEM_CMP_NE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_NE", 1689144424813560410460096311590913)
ACLSHMEM_CMP_GT = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_GT", 1689144424813560410460096311590914)
ACLSHMEM_CMP_LE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_LE", 1689144424813560410460096311590915)
ACLSHMEM_CMP_LT = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_LT", 1689144424813560410460096311590916)
ACLSHMEM_CMP_GE = DeviceConstant("libshmem_device", "ACLSHMEM_CMP_GE", 1689144424813560410460096311590917)
ACLSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "ACLSHMEM_SIGNAL_SET", 1689144424813578857204170021142529)
ACLSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "ACLSHMEM_SIGNAL_ADD", 1689144424813578857204170021142530)
MORI_CMP_EQ = DeviceConstant("libshmem_device", "MORI_CMP_EQ", 1689144424818282776942965956804608)
MORI_CMP_NE = DeviceConstant("libshmem_device", "MORI_CMP_NE", 1689144424818282776942965956804609)
MORI_CMP_GT = DeviceConstant("libshmem_device", "MORI_CMP_GT", 1689144424818282776942965956804610)
MORI_CMP_LE = DeviceConstant("libshmem_device", "MORI_CMP_LE", 1689144424818282776942965956804611)
MORI_CMP_LT = DeviceConstant("libshmem_device", "MORI_CMP_LT", 1689144424818282776942965956804612)
MORI_CMP_GE = DeviceConstant("libshmem_device", "MORI_CMP_GE", 1689144424818282776942965956804613)
MORI_SIGNAL_SET = DeviceConstant("libshmem_device", "MORI_SIGNAL_SET", 1689144424818301223687039666356225)
MORI_SIGNAL_ADD = DeviceConstant("libshmem_device", "MORI_SIGNAL_ADD", 1689144424818301223687039666356226)
MXSHMEM_CMP_EQ = DeviceConstant("libshmem_device", "MXSHMEM_CMP_EQ", 1689144424823005143425835602018304)
MXSHMEM_CMP_NE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_NE", 1689144424823005143425835602018305)
MXSHMEM_CMP_GT = DeviceConstant("libshmem_device", "MXSHMEM_CMP_GT", 1689144424823005143425835602018306)
MXSHMEM_CMP_LE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_LE", 1689144424823005143425835602018307)
MXSHMEM_CMP_LT = DeviceConstant("libshmem_device", "MXSHMEM_CMP_LT", 1689144424823005143425835602018308)
MXSHMEM_CMP_GE = DeviceConstant("libshmem_device", "MXSHMEM_CMP_GE", 1689144424823005143425835602018309)
MXSHMEM_SIGNAL_SET = DeviceConstant("libshmem_device", "MXSHMEM_SIGNAL_SET", 1689144424823023590169909311569921)
MXSHMEM_SIGNAL_ADD = DeviceConstant("libshmem_device", "MXSHMEM_SIGNAL_ADD", 1689144424823023590169909311569922)
NVSHMEMI_AMO_INC = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_INC", 1689144424804171017726578149818368)
NVSHMEMI_AMO_SET = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SET", 1689144424804171017726578149818369)
NVSHMEMI_AMO_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_ADD", 1689144424804171017726578149818370)
NVSHMEMI_AMO_AND = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_AND", 1689144424804171017726578149818371)
NVSHMEMI_AMO_OR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_OR", 1689144424804171017726578149818372)
NVSHMEMI_AMO_XOR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_XOR", 1689144424804171017726578149818373)
NVSHMEMI_AMO_FETCH = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH", 1689144424804171017726578149818374)
NVSHMEMI_AMO_FETCH_INC = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_INC", 1689144424804171017726578149818375)
NVSHMEMI_AMO_FETCH_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_ADD", 1689144424804171017726578149818376)
NVSHMEMI_AMO_FETCH_AND = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_AND", 1689144424804171017726578149818377)
NVSHMEMI_AMO_FETCH_OR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_OR", 1689144424804171017726578149818378)
NVSHMEMI_AMO_FETCH_XOR = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_FETCH_XOR", 1689144424804171017726578149818379)
NVSHMEMI_AMO_SWAP = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SWAP", 1689144424804171017726578149818380)
NVSHMEMI_AMO_COMPARE_SWAP = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_COMPARE_SWAP", 1689144424804171017726578149818381)
NVSHMEMI_AMO_SIGNAL_SET = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SIGNAL_SET", 1689144424804134124238430730715137)
NVSHMEMI_AMO_SIGNAL_ADD = DeviceConstant("libshmem_device", "NVSHMEMI_AMO_SIGNAL_ADD", 1689144424804134124238430730715138)
MORI_AMO_INC = DeviceConstant("libshmem_device", "MORI_AMO_INC", 1689144424818338117175187085459456)
MORI_AMO_SET = DeviceConstant("libshmem_device", "MORI_AMO_SET", 1689144424818338117175187085459457)
MORI_AMO_ADD = DeviceConstant("libshmem_device", "MORI_AMO_ADD", 1689144424818338117175187085459458)
MORI_AMO_AND = DeviceConstant("libshmem_device", "MORI_AMO_AND", 1689144424818338117175187085459459)
MORI_AMO_OR = DeviceConstant("libshmem_device", "MORI_AMO_OR", 1689144424818338117175187085459460)
MORI_AMO_XOR = DeviceConstant("libshmem_device", "MORI_AMO_XOR", 1689144424818338117175187085459461)
MORI_AMO_FETCH = DeviceConstant("libshmem_device", "MORI_AMO_FETCH", 1689144424818338117175187085459462)
MORI_AMO_FETCH_INC = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_INC", 1689144424818338117175187085459463)
MORI_AMO_FETCH_ADD = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_ADD", 1689144424818338117175187085459464)
MORI_AMO_FETCH_AND = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_AND", 1689144424818338117175187085459465)
MORI_AMO_FETCH_OR = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_OR", 1689144424818338117175187085459466)
MORI_AMO_FETCH_XOR = DeviceConstant("libshmem_device", "MORI_AMO_FETCH_XOR", 1689144424818338117175187085459467)
MORI_AMO_SWAP = DeviceConstant("libshmem_device", "MORI_AMO_SWAP", 1689144424818338117175187085459468)
MORI_AMO_COMPARE_SWAP = DeviceConstant("libshmem_device", "MORI_AMO_COMPARE_SWAP", 1689144424818338117175187085459469)
MORI_AMO_SIGNAL_SET = DeviceConstant("libshmem_device", "MORI_AMO_SIGNAL_SET", 1689144424818301223687039666356225)
MORI_AMO_SIGNAL_ADD = DeviceConstant("libshmem_device", "MORI_AMO_SIGNAL_ADD", 1689144424818301223687039666356226)
NVSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_INVALID", 1689144424804152570982508735234047)
NVSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_WORLD", 1689144424804152570982504440266752)
NVSHMEM_TEAM_WORLD_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_WORLD_INDEX", 1689144424804152570982504440266752)
NVSHMEM_TEAM_SHARED = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SHARED", 1689144424804152570982504440266753)
NVSHMEM_TEAM_SHARED_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SHARED_INDEX", 1689144424804152570982504440266753)
NVSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_NODE", 1689144424804152570982504440266754)
NVSHMEM_TEAM_NODE_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_NODE_INDEX", 1689144424804152570982504440266754)
NVSHMEMX_TEAM_SAME_MYPE_NODE = DeviceConstant("libshmem_device", "NVSHMEMX_TEAM_SAME_MYPE_NODE", 1689144424804152570982504440266755)
NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = DeviceConstant("libshmem_device", "NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX", 1689144424804152570982504440266755)
ACLSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_INVALID", 1689144424813597303948248025661439)
ACLSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "ACLSHMEM_TEAM_WORLD", 1689144424813597303948243730694144)
MXSHMEM_TEAM_INVALID = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_INVALID", 1689144424823042036913987316088831)
MXSHMEM_TEAM_WORLD = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_WORLD", 1689144424823042036913983021121536)
MXSHMEM_TEAM_SHARED = DeviceConstant("libshmem_device", "MXSHMEM_TEAM_SHARED", 1689144424823042036913983021121537)
MXSHMEMX_TEAM_NODE = DeviceConstant("libshmem_device", "MXSHMEMX_TEAM_NODE", 1689144424823042036913983021121538)
MXSHMEMX_TEAM_SAME_MYPE_NODE = DeviceConstant("libshmem_device", "MXSHMEMX_TEAM_SAME_MYPE_NODE", 1689144424823042036913983021121539)

