# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target cuda without a GPU: every operation between ranks is compiled by the stock triton wheel."""

import base64
import importlib.util
import json
import os
import re
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

import nereid  # noqa: E402
from nereid._base import targets, tools  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
NEREID_OPT = ROOT / "build" / "release" / "tools" / "nereid-opt" / "nereid-opt"
ARCHS = [80, 90, 100]
TOOL = targets.find("cuda")["tool"]

KERNELS = '''
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem


@nereid.jit
def ring(x, signal, BLOCK: tl.constexpr):
    right = (dl.rank() + 1) % dl.num_ranks()
    i = tl.arange(0, BLOCK)
    tl.store(dl.symm_at(x, right) + BLOCK + i, tl.load(x + i))
    dl.notify(signal, right, signal=1, sig_op="add", comm_scope="intra_node")
    token = dl.wait(signal, 1, "sys", "acquire", waitValue=1)
    y = dl.consume_token(x, token)
    tl.store(x + i, tl.load(y + BLOCK + i) * 2)
    shmem.barrier_all()
'''


def chunks() -> dict[str, str]:
    found = {}
    for file in ("distributed-ops.mlir", "library-calls.mlir"):
        for text in (ROOT / "test/Target/CUDA" / file).read_text(encoding="utf-8").split("// -----"):
            found[re.search(r"func public @(\w+)", text)[1]] = text
    return found


CHUNKS = chunks()


def compile_text(text: str, arch: int, **options) -> dict:
    request = {"text": text, "name": "k", "arch": arch, "num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": 0,
               "enable_fp_fusion": True, "debug": False, **options}
    return json.loads(tools.run(TOOL, json.dumps(request)))


def marks(text: str) -> set[str]:
    return set(re.findall(r"// nereid \d+;", text))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", CHUNKS)
def test_operation_compiles(name, arch, tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    passes = ["--nereid-rewrite-block-pointers"] if arch < 90 else []
    passes += [f"--nereid-lower-distributed-to-tt=arch={arch}", "--nereid-canonicalize", "--cse",
               f"--nereid-separate-accesses=arch={arch}", "--nereid-export-ttir"]
    done = subprocess.run([NEREID_OPT, "-", *passes], input=CHUNKS[name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answer = compile_text(done.stdout, arch)
    assert "error" not in answer, answer
    assert base64.b64decode(answer["cubin"])[:4] == b"\x7fELF"
    assert marks(done.stdout) == marks(answer["ptx"])
    if name in ("putmem", "getmem"):
        assert "st.global.v4" in answer["ptx"] and "ld.global.v4" in answer["ptx"]


def nereid_compile(folder: Path, *options: str, signal: str = "*i64", **environment: str):
    (folder / "k.py").write_text(KERNELS)
    return subprocess.run([sys.executable, "-m", "nereid.cli", "compile", f"{folder / 'k.py'}:ring", "--signature",
                           f"x=*fp32, signal={signal}, BLOCK=256", *options], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "NEREID_TARGET": "cuda", "NEREID_CACHE": "0", **environment})


@pytest.mark.parametrize("stage, has", [("cuda-ttir", "tt.elementwise_inline_asm"), ("ttgir", "ttg.num-warps\" = 8"),
                                        ("ptx", ".target sm_90a")])
def test_stages(stage, has, tmp_path):
    done = nereid_compile(tmp_path, f"--emit={stage}", "--option", "num_warps=8", NEREID_CUDA_ARCH="sm_90")
    assert done.returncode == 0, done.stderr
    assert has in done.stdout


@pytest.mark.parametrize("option, message", [
    ("num_warps=3", "the option 'num_warps' takes a power of two from 1 to 32, not 3"),
    ("arch=sm_70", "the option 'arch' takes host, sm_80"),
])
def test_wrong_options(option, message, tmp_path):
    done = nereid_compile(tmp_path, "--emit=ptx", "--option", option, NEREID_CUDA_ARCH="sm_90")
    assert done.returncode != 0
    assert message in done.stderr


def test_a_wait_that_triton_leaves_out_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = tools.run

    def lossy(tool, request):
        answer = json.loads(run(tool, request))
        return json.dumps({**answer, "ptx": answer["ptx"].replace("// nereid 1;", "")})

    monkeypatch.setenv("NEREID_CACHE", "0")  # both times the tool is asked
    monkeypatch.setenv("NEREID_TARGET", "cuda")
    monkeypatch.setenv("NEREID_CUDA_ARCH", "sm_90")
    source = nereid.compiler.ASTSource(module.ring, {"x": "*fp32", "signal": "*i64"}, {"BLOCK": 256})
    assert nereid.compile(source).asm["cubin"][:4] == b"\x7fELF"
    monkeypatch.setattr(tools, "run", lossy)
    with pytest.raises(nereid.CompilationError, match="Triton has left out an operation that waits"):
        nereid.compile(source)


def test_no_gpu_and_no_arch_says_what_to_pass(tmp_path):
    done = nereid_compile(tmp_path, "--emit=cuda-ttir", "--option", "arch=host")
    if "tt.func" not in done.stdout:  # a machine without a GPU
        assert 'pass arch="sm_90", or set NEREID_CUDA_ARCH' in done.stderr


def test_a_compiler_that_dies_is_an_error(monkeypatch):
    """The process of the tool ends; the next request starts another."""
    assert "error" in compile_text("no module", 90)
    tools._last.clear()
    tools._running["triton"].kill()
    tools._running["triton"].wait()
    assert "cubin" in compile_text("module { tt.func public @k() { tt.return } }", 90)


def test_a_forked_process_has_a_compiler_of_its_own():
    """Even when another thread was asking in the parent at that moment."""
    text = "module { tt.func public @k() { tt.return } }"
    assert "cubin" in compile_text(text, 90)
    parents = tools._running["triton"].pid
    with tools._lock:
        child = os.fork()
        if child == 0:
            tools._last.clear()
            os._exit(0 if "cubin" in compile_text(text, 90) and tools._running["triton"].pid != parents else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tools._running["triton"].poll() is None


def test_a_tool_that_is_not_installed_is_named(monkeypatch):
    def version(name):
        raise tools.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(tools.importlib.metadata, "version", version)
    error = json.loads(tools.run(TOOL, "{}"))["error"]
    assert error.startswith(f"the code is made by the package {TOOL}, but it is not installed for ")
    assert error.endswith("pip install 'nereid[cuda]'")


#: nrd_kernel_info of abi/nereid/kernel.h and CUDAImage of common/nereid/cuda_kernel.h.
INFO = struct.Struct("<QII QQQ 8I 5I 5I")
IMAGE = struct.Struct("<8I")


def test_object_says_what_a_launch_must_know(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("NEREID_TARGET", "cuda")
    monkeypatch.setenv("NEREID_CUDA_ARCH", "sm_90")
    source = nereid.compiler.ASTSource(module.ring, {"x": "*fp32:16", "signal": "*i64"}, {"BLOCK": 256})
    kernel = nereid.compile(source, options={"num_warps": 8})
    content = kernel.asm["obj"]
    (magic, abi, size, checksum, file_bytes, scratch, section_bytes, flags, lanes, code_bytes, entry, num_args, num_sites,
     num_lines, args, symmetric, sites, lines, strings, name, mode, architecture, cpu, features) = INFO.unpack_from(content)
    text = lambda at: content[at:content.index(b"\0", at)].decode()  # noqa: E731
    assert (magic, abi, size, file_bytes) == (0x6C656E72656B646E, nereid._runtime.ABI_VERSION, INFO.size, len(content))
    assert (flags, lanes, entry, num_args, num_lines, scratch, section_bytes % 8) == (3, 1, 0, 2, 0, 0, 0) and checksum
    assert (text(name), text(architecture)) == ("ring", "sm_90")
    rows = [struct.unpack_from("<IIQ", content, args + 16 * i) for i in range(2)]
    assert [(text(n), text(t), d) for n, t, d in rows] == [("x", "*fp32", 16), ("signal", "*i64", 0)]
    assert struct.unpack_from("<Q", content, symmetric)[0] == 3
    waits = [struct.unpack_from("<5I", content, sites + 20 * i) for i in range(num_sites)]
    assert [text(row[4]).strip() for row in waits] == [
        'token = dl.wait(signal, 1, "sys", "acquire", waitValue=1)', "shmem.barrier_all()"]
    assert all(text(row[2]).endswith("k.py") and text(row[3]) == "ring" for row in waits)
    begin, cubin_bytes, warps, ctas, shared, block_scratch, align, uses_runtime = IMAGE.unpack_from(content, section_bytes)
    assert (begin, warps, ctas, block_scratch, uses_runtime) == (IMAGE.size, 8, 1, 0, 1) and align >= 1 and shared < 48 * 1024
    assert code_bytes == begin + cubin_bytes and section_bytes + code_bytes == len(content)
    assert content[section_bytes + begin:] == kernel.asm["cubin"]
    assert kernel.metadata.num_warps == 8 and kernel.metadata.num_stages == 3
    assert 8 <= kernel.n_regs <= 64 and kernel.n_spills == 0


LARGE = '''
import nereid
import nereid.language as tl


@nereid.jit
def product(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        a = tl.load(a_ptr + i[:, None] * K + k + i[None, :])
        b = tl.load(b_ptr + (k + i)[:, None] * BLOCK + i[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + i[:, None] * BLOCK + i[None, :], sums)
'''


def test_too_much_shared_memory_is_an_error_of_the_compilation(tmp_path):
    (tmp_path / "k.py").write_text(LARGE)
    command = [sys.executable, "-m", "nereid.cli", "compile", f"{tmp_path / 'k.py'}:product", "--target=cuda", "--emit=obj",
               "--signature", "a_ptr=*fp16:16, b_ptr=*fp16:16, c_ptr=*fp32:16, K=i32:16, BLOCK=128", "--option", "num_warps=8",
               "-o", str(tmp_path / "k.o"), "--option"]
    for stages, fits in ((2, True), (8, False)):
        done = subprocess.run([*command, f"num_stages={stages}"], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "NEREID_CUDA_ARCH": "sm_90"})
        assert (done.returncode == 0) == fits, done.stderr
    assert re.search(r"k.py:7:.*the kernel needs \d+ bytes of shared memory, and a thread block of sm_90 has 232448 at most; take "
                     r"smaller blocks, or fewer stages \(num_stages\)", done.stderr), done.stderr


def test_a_header_is_for_the_cpu(tmp_path):
    done = nereid_compile(tmp_path, "--emit=obj", "--header", str(tmp_path / "k.h"), NEREID_CUDA_ARCH="sm_90")
    assert done.returncode == 2 and "--header is for kernels that run on the CPU, not for the target cuda" in done.stderr


MORE = '''
import nereid
import nereid.distributed as dl
import nereid.language as tl


@nereid.jit
def pair(x, signal, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(dl.symm_at(x, 1) + i, tl.load(x + i))
    dl.notify(signal, 1, signal=1, sig_op="add", comm_scope="intra_node")
    token = dl.wait(signal, 1, "sys", "acquire", waitValue=1)
    y = dl.consume_token(x, token)
    tl.store(x + i, tl.load(y + i) * 2)


@nereid.jit
def twice(source, out, N: tl.constexpr):
    for row in range(0, N, 64):
        out.store([row, 0], source.load([row, 0]) * 2)


@nereid.jit
def peers_rows(x, signal, M, N: tl.constexpr):
    mine = tl.make_tensor_descriptor(x, [M, N], [N, 1], [64, N])
    theirs = tl.make_tensor_descriptor(dl.symm_at(x, 1), [M, N], [N, 1], [64, N])
    theirs.store([0, 0], mine.load([64, 0]))
    dl.notify(signal, 1, signal=1, sig_op="set", comm_scope="intra_node")
'''


@pytest.fixture
def more(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(MORE)
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("NEREID_CUDA_ARCH", "sm_90")
    monkeypatch.setenv("NEREID_TARGET", "cpu")
    targets.choose("cuda")
    yield module
    targets.choose("cpu")


def test_a_barrier_of_all_programs_is_one_thread_blocks(tmp_path):
    done = nereid_compile(tmp_path, "--emit=ptx", "--profile=host", "--option=num_ctas=2", NEREID_CUDA_ARCH="sm_90")
    assert done.returncode != 0
    assert re.search(r"k.py:17:.*error: libshmem_device.barrier_all cannot be used by programs of several thread blocks, which would "
                     r"not all get its result: compile with num_ctas=1", done.stderr), done.stderr


def test_programs_of_several_thread_blocks(more):
    source = nereid.compiler.ASTSource(more.pair, {"x": "*fp32:16", "signal": "*i64"}, {"BLOCK": 2048})
    kernel = nereid.compile(source, options={"num_ctas": 2})
    assert ".reqnctapercluster" in kernel.asm["ptx"] or "cluster" in kernel.asm["ptx"]
    assert kernel.asm["ptx"].count("barrier.cluster.wait.acquire") >= 2
    assert IMAGE.unpack_from(kernel.asm["obj"], INFO.unpack_from(kernel.asm["obj"])[6])[3] == 2


def test_descriptors_made_by_the_host(more):
    """They come as address, sizes and strides; the kernel makes descriptors of the GPU of them."""
    a = np.zeros((256, 64), np.float16)
    describe = nereid.tensor_descriptor.TensorDescriptor.from_tensor
    kernel = more.twice.warmup(describe(a, [64, 64]), describe(a.copy(), [64, 64]), 256)
    assert "cp.async.bulk.tensor.2d.global.shared" in kernel.asm["ptx"]
    assert IMAGE.unpack_from(kernel.asm["obj"], INFO.unpack_from(kernel.asm["obj"])[6])[5] > 0


def test_descriptors_of_a_peers_memory(more):
    """The signal after a store by a descriptor waits for its copy."""
    source = nereid.compiler.ASTSource(more.peers_rows, {"x": "*fp16:16", "signal": "*i64", "M": "i32"}, {"N": 64})
    ptx = nereid.compile(source).asm["ptx"]
    store = ptx.index("cp.async.bulk.tensor.2d.global.shared")
    done = ptx.index("cp.async.bulk.wait_group 0;", store)
    assert store < done < ptx.index("st.release.sys.global.b64", done)


def test_choices_of_warps_and_stages_are_tuned(more):
    """They are different kernels on this target, and the same one on the CPU."""
    configs = [nereid.Config({}, num_warps=w, num_stages=s, num_ctas=1, maxnreg=r) for w in (4, 8) for s in (1, 3) for r in (None, 128)]
    assert len({config._same_code(set()) for config in configs}) == 8
    targets.choose("cpu")
    assert len({config._same_code(set()) for config in configs}) == 1


SHAPES = '''
import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import libshmem_device as shmem


@nereid.jit
def waits_in_a_loop(a_ptr, b_ptr, signal, out, K, BRANCH: tl.constexpr, DESCRIPTORS: tl.constexpr):
    i = tl.arange(0, 64)
    a_desc = tl.make_tensor_descriptor(a_ptr, [64, K], [K, 1], [64, 64])
    sums = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 64):
        if BRANCH:
            if k % 128 == 0:
                shmem.signal_wait_until(signal + k, shmem.NVSHMEM_CMP_EQ, 1)
        else:
            shmem.signal_wait_until(signal + k, shmem.NVSHMEM_CMP_EQ, 1)
        if DESCRIPTORS:
            a = a_desc.load([0, k])
        else:
            a = tl.load(a_ptr + i[:, None] * K + k + i[None, :])
        b = tl.load(b_ptr + (k + i)[:, None] * 64 + i[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(out + i[:, None] * 64 + i[None, :], sums)


@nereid.jit
def waits_in_tiles(a_ptr, b_ptr, signal, out, tiles, K, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    i = tl.arange(0, 64)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=FLATTEN, warp_specialize=SPECIALIZE):
        token = dl.wait(signal + tile, 1, "sys", "acquire", waitValue=1)
        ready = dl.consume_token(a_ptr, token)
        sums = tl.zeros((64, 64), tl.float32)
        for k in range(0, K, 64):
            a = tl.load(ready + (tile * 64 + i)[:, None] * K + k + i[None, :])
            b = tl.load(b_ptr + (k + i)[:, None] * 64 + i[None, :])
            sums = tl.dot(a, b, sums)
        tl.store(out + (tile * 64 + i)[:, None] * 64 + i[None, :], sums)


@nereid.jit
def polls(flag, x, N: tl.constexpr):
    while tl.atomic_cas(flag, 1, 0) != 1:
        pass
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) + 1)


@nereid.jit
def numbers(p, flag, byte, word, half, brain, single, double):
    tl.store(p, single + double.to(tl.float32) + half.to(tl.float32) + brain.to(tl.float32) + byte + word + flag)
'''


@pytest.fixture
def shapes(tmp_path, monkeypatch):
    (tmp_path / "k.py").write_text(SHAPES)
    spec = importlib.util.spec_from_file_location("k", tmp_path / "k.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("NEREID_CUDA_ARCH", "sm_90")
    monkeypatch.setenv("NEREID_TARGET", "cuda")
    return module


#: What loads from memory in Triton's IR for GPUs.
LOADS = ("= tt.load", "ttg.async_copy_global_to_local", "ttng.async_tma_copy_global_to_local", "tt.descriptor_load")


def order_of(ttgir: str) -> tuple[int, int]:
    """Where the first wait stands, and the first load."""
    return ttgir.index("SPIN: ld.acquire"), min(ttgir.index(word) for word in LOADS if word in ttgir)


@pytest.mark.parametrize("descriptors", [False, True])
@pytest.mark.parametrize("branch", [False, True])
def test_no_load_is_moved_above_a_wait(branch, descriptors, shapes):
    """Triton loads ahead in loops, but not over a wait."""
    types = {"a_ptr": "*fp16:16", "b_ptr": "*fp16:16", "signal": "*i64", "out": "*fp32", "K": "i32:16"}
    source = nereid.compiler.ASTSource(shapes.waits_in_a_loop, types, {"BRANCH": branch, "DESCRIPTORS": descriptors})
    ttgir = nereid.compile(source, options={"num_stages": 3}).asm["ttgir"]
    wait, load = order_of(ttgir[ttgir.index("scf.for"):])
    assert wait < load and not any(word in ttgir[:ttgir.index("scf.for")] for word in LOADS)


@pytest.mark.parametrize("flatten, specialize", [(False, False), (True, False), (False, True)])
def test_waits_between_tiles_stay(flatten, specialize, shapes):
    """The loop inside is pipelined behind the wait; hints with which Triton would lose the wait have no effect."""
    types = {"a_ptr": "*fp16:16", "b_ptr": "*fp16:16", "signal": "*i64", "out": "*fp32", "tiles": "i32", "K": "i32:16"}
    source = nereid.compiler.ASTSource(shapes.waits_in_tiles, types, {"FLATTEN": flatten, "SPECIALIZE": specialize})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel = nereid.compile(source, options={"num_stages": 3})
    assert [str(w.message) for w in caught if "warp_specialize has no effect" in str(w.message)] if specialize else not caught
    wait, load = order_of(kernel.asm["ttgir"])
    assert wait < load and "ttg.async_copy_global_to_local" in kernel.asm["ttgir"]
    assert marks(kernel.asm["cuda-ttir"]) == marks(kernel.asm["ptx"])


def test_a_loop_that_polls_can_be_given_up(shapes):
    """It looks at the host's word, and its kernel takes the arguments of the runtime for it."""
    source = nereid.compiler.ASTSource(shapes.polls, {"flag": "*i32", "x": "*fp32"}, {"N": 128})
    kernel = nereid.compile(source)
    content = kernel.asm["obj"]
    info = INFO.unpack_from(content)
    assert info[7] & 1 and IMAGE.unpack_from(content, info[6])[7] == 1
    assert "ld.relaxed.sys.global.b32" in kernel.asm["ptx"]


def test_numbers_of_all_types_are_arguments(shapes):
    types = {"p": "*fp32", "flag": "i1", "byte": "i8", "word": "i16", "half": "fp16", "brain": "bf16", "single": "fp32",
             "double": "fp64"}
    content = nereid.compile(nereid.compiler.ASTSource(shapes.numbers, types, {})).asm["obj"]
    info = INFO.unpack_from(content)
    names = [struct.unpack_from("<II", content, info[14] + 16 * i)[1] for i in range(info[11])]
    assert [content[at:content.index(b"\0", at)].decode() for at in names] == list(types.values())
    assert IMAGE.unpack_from(content, info[6])[7] == 0
