# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""@autotune and @heuristics: what is measured, chosen, remembered; hooks; bad use; kernels
that communicate."""

import sys

import numpy as np
import pytest

import nereid
import nereid.distributed as dl
import nereid.language as tl
from nereid import Config


def add_one(name="add_one", **jit_options):
    @nereid.jit(**jit_options)
    def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EXTRA: tl.constexpr = 1):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.static_assert(BLOCK < 512, "BLOCK is too large")
        tl.store(y_ptr + offs, tl.load(x_ptr + offs, offs < n, 0) + EXTRA, offs < n)

    return add_one


def grid(meta):
    return (nereid.cdiv(meta["n"], meta["BLOCK"]),)


def counting(times):
    """A do_bench that runs each configuration once and takes its time from a list."""
    calls = iter(times)

    def bench(call, quantiles):
        call()
        return [next(calls)] * len(quantiles)

    return bench


CONFIGS = [Config({"BLOCK": block}) for block in (16, 32, 64)]


def test_fastest_configuration_by_key():
    kernel = nereid.autotune(CONFIGS, key=["n"], do_bench=counting([3, 1, 2, 1, 2, 3]))(add_one())
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernel[grid](x, y, 100)
    np.testing.assert_array_equal(y, x + 1)
    assert kernel.best_config is CONFIGS[1] and kernel.best_config.kwargs["BLOCK"] == 32
    kernel[grid](x, y, 99)  # another key
    assert kernel.best_config is CONFIGS[0]
    kernel[grid](x, y, 100)  # known: no measurement, of which there are no more
    assert kernel.best_config is CONFIGS[1]
    assert list(kernel.cache) == [(100, "float32", "float32"), (99, "float32", "float32")]
    assert [times[0] for times in kernel.configs_timings.values()] == [1, 2, 3]


def test_dtypes_are_part_of_the_key():
    kernel = nereid.autotune(CONFIGS, key=[], do_bench=counting([3, 1, 2, 1, 2, 3]))(add_one())
    for dtype, best in ((np.float32, 1), (np.int16, 0)):
        x, y = np.ones(20, dtype), np.zeros(20, dtype)
        kernel[grid](x, y, 20)
        assert kernel.best_config is CONFIGS[best] and (y == 2).all()


def test_real_measurements(capfd, monkeypatch):
    monkeypatch.setenv("NEREID_PRINT_AUTOTUNING", "1")
    kernel = nereid.autotune(CONFIGS, key=["n"], warmup=1, rep=3)(add_one())
    x, y = np.arange(70, dtype=np.float32), np.zeros(70, np.float32)
    compiled = kernel[grid](x, y, 70)
    np.testing.assert_array_equal(y, x + 1)
    assert compiled.signature["BLOCK"] == f"constexpr int:{kernel.best_config.kwargs['BLOCK']}"
    assert len(kernel.configs_timings) == 3 and all(t[1] <= t[0] <= t[2] for t in kernel.configs_timings.values())
    printed = capfd.readouterr().out
    assert "autotuning add_one for key (70, 'float32', 'float32')" in printed and printed.count(" ms") == 3


def test_one_configuration_is_not_measured():
    kernel = nereid.autotune([CONFIGS[2]], key=["n"], do_bench=counting([]))(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    assert (y == 1).all() and kernel.best_config is CONFIGS[2]


def test_no_configuration_means_the_defaults():
    @nereid.autotune([], key=[])
    @nereid.jit
    def kernel(x_ptr):
        tl.store(x_ptr, 7)

    x = np.zeros(1, np.int32)
    kernel[(1,)](x)
    assert x[0] == 7


def test_configurations_that_do_not_compile():
    configs = [Config({"BLOCK": 1024}), *CONFIGS]
    kernel = nereid.autotune(configs, key=["n"], do_bench=counting([1, 2, 3]))(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    assert kernel.best_config is CONFIGS[0] and kernel.configs_timings[configs[0]][0] == float("inf")
    with pytest.raises(nereid.CompilationError, match="BLOCK is too large"):
        nereid.autotune([Config({"BLOCK": 512}), Config({"BLOCK": 1024})], key=["n"])(add_one())[grid](y, y, 5)


def test_same_code_is_measured_once():
    """Options of other targets make no difference here."""
    configs = [Config({"BLOCK": b}, num_warps=w, num_stages=s) for b in (16, 32) for w in (4, 8) for s in (1, 3)]
    kernel = nereid.autotune(configs, key=["n"], do_bench=counting([2, 1]))(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    assert kernel.best_config is configs[4] and len(kernel.configs_timings) == 8


@pytest.mark.parametrize("call", [
    lambda kernel, y: kernel[grid](y, y, 5, BLOCK=16),
    lambda kernel, y: kernel[grid](y, y, 5, 16),
    lambda kernel, y: kernel.warmup(y, y, 5, BLOCK=16, grid=(1,)),
])
@pytest.mark.parametrize("configs", [CONFIGS, CONFIGS[:1]])
def test_value_that_is_tuned_and_passed(call, configs):
    kernel = nereid.autotune(configs, key=["n"], do_bench=counting([1, 2, 3]))(add_one())
    with pytest.raises(ValueError, match="'BLOCK' is chosen by autotuning and passed by the caller"):
        call(kernel, np.zeros(5, np.float32))


@pytest.mark.parametrize("options, words", [
    ({"key": [], "reset_to_zero": ["z"]}, "reset_to_zero names 'z'"),
    ({"key": [], "restore_value": ["z"]}, "restore_value names 'z'"),
    ({"key": [], "prune_configs_by": {"prune": None}}, "not 'prune'"),
])
def test_wrong_options(options, words):
    with pytest.raises(ValueError, match=words):
        nereid.autotune(CONFIGS, **options)(add_one())


def test_key_that_is_no_parameter():
    with pytest.warns(UserWarning, match="key names 'x_pt', which is not a parameter and has no effect; did you mean 'x_ptr'"):
        kernel = nereid.autotune(CONFIGS, key=["n", "x_pt"], do_bench=counting([1, 2, 3]))(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    assert kernel.best_config is CONFIGS[0]


def test_wrong_decoration():
    def plain(x):
        pass

    with pytest.raises(TypeError, match="put @nereid.jit below it"):
        nereid.autotune(CONFIGS, key=[])(plain)
    with pytest.raises(TypeError, match="list of nereid.Config"):
        nereid.autotune([{"BLOCK": 3}], key=[])(add_one())
    with pytest.raises(ValueError, match="neither a parameter nor a launch option 'SIZE'"):
        nereid.heuristics({"SIZE": lambda args: 1})(add_one())
    with pytest.raises(nereid.ArgumentError, match="needs a grid"):
        nereid.autotune(CONFIGS, key=[])(add_one())(1)
    with pytest.raises(TypeError, match="takes a dict"):
        Config(["BLOCK"])


def test_unknown_name_in_a_configuration():
    kernel = nereid.autotune([Config({"BLOK": 16, "BLOCK": 16}), Config({"BLOCK": 32})], key=[])(add_one())
    y = np.zeros(5, np.float32)
    with pytest.raises(nereid.ArgumentError, match="'BLOK'.*Did you mean 'BLOCK'"):
        kernel[grid](y, y, 5)


def accumulate(**options):
    @nereid.autotune([Config({"BLOCK": 16}), Config({"BLOCK": 32})], key=["n"], warmup=0, rep=1, **options)
    @nereid.jit
    def accumulate(x_ptr, n, BLOCK: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, tl.load(x_ptr + offs, offs < n) + 1, offs < n)

    return accumulate


@pytest.mark.parametrize("wrap", [np.asarray, nereid.symm.from_array], ids=["numpy", "symmetric"])
def test_reset_to_zero_and_restore_value(wrap):
    x = wrap(np.full(40, 5, np.int32))
    accumulate(reset_to_zero=["x_ptr"])[grid](x, 40)
    np.testing.assert_array_equal(np.asarray(x), 1)
    x = wrap(np.full(40, 5, np.int32))
    accumulate(restore_value=["x_ptr"])[grid](x, 40)
    np.testing.assert_array_equal(np.asarray(x), 6)
    x = wrap(np.full(40, 5, np.int32))
    accumulate()[grid](x, 40)
    assert np.asarray(x)[0] > 6  # the measurements show


def test_hooks():
    seen = []
    configs = [Config({"BLOCK": b}, pre_hook=lambda args: seen.append(("config", args["BLOCK"]))) for b in (16, 32)]
    kernel = nereid.autotune(
        configs, key=["n"], do_bench=counting([2, 1]),
        pre_hook=lambda args, reset_only=False: seen.append(("pre", args["n"], reset_only)),
        post_hook=lambda args, exception: seen.append(("post", args["BLOCK"], exception)))(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    assert seen == [
        ("config", 16), ("config", 32),  # before they are compiled
        ("config", 16), ("pre", 5, False), ("post", 16, None), ("config", 32), ("pre", 5, False), ("post", 32, None),
        ("pre", 5, True), ("config", 32),
    ]


def test_pruning():
    def early(configs, named_args, **kwargs):
        assert named_args["n"] == 5 and kwargs == {"EXTRA": 2}
        return [config for config in configs if config.kwargs["BLOCK"] > 16]

    kernel = nereid.autotune(CONFIGS, key=["n"], do_bench=counting([2, 1]),
                             prune_configs_by={"early_config_prune": early})(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5, EXTRA=2)
    assert kernel.best_config is CONFIGS[2] and list(kernel.configs_timings) == CONFIGS[1:] and (y >= 2).all()

    for top_k, left in ((2, [CONFIGS[2], CONFIGS[1]]), (0.67, [CONFIGS[2], CONFIGS[1]])):
        kernel = nereid.autotune(
            CONFIGS, key=["n"], do_bench=counting([2, 1]),
            prune_configs_by={"perf_model": lambda BLOCK, **args: -BLOCK, "top_k": top_k})(add_one())
        kernel[grid](y, y, 5)
        assert list(kernel.configs_timings) == left
    none = nereid.autotune(CONFIGS, key=[], prune_configs_by={"early_config_prune": lambda c, a, **k: []})(add_one())
    with pytest.raises(ValueError, match="left no configuration"):
        none[grid](y, y, 5)


def test_results_on_disk(cache_folder):
    def tuned(times):
        return nereid.autotune(CONFIGS, key=["n"], cache_results=True, do_bench=counting(times))(add_one())

    y = np.zeros(5, np.float32)
    first = tuned([3, 1, 2])
    first[grid](y, y, 5)
    again = tuned([])
    again[grid](y, y, 5)
    assert again.best_config is CONFIGS[1]
    results = list(cache_folder.glob("*/*.json"))
    assert len(results) == 1
    results[0].write_text("{")  # damaged: measured anew
    third = tuned([3, 2, 1])
    third[grid](y, y, 5)
    assert third.best_config is CONFIGS[2]
    other = nereid.autotune(CONFIGS[:2], key=["n"], cache_results=True, do_bench=counting([1, 2]))(add_one())
    other[grid](y, y, 5)
    assert other.best_config is CONFIGS[0]


def test_heuristics_see_arguments_and_each_other():
    kernel = nereid.heuristics({
        "BLOCK": lambda args: nereid.next_power_of_2(args["n"]),
        "EXTRA": lambda args: args["BLOCK"] * 2,
        "num_warps": lambda args: 4,
    })(add_one())
    y = np.zeros(5, np.float32)
    kernel[grid](y, y, 5)
    np.testing.assert_array_equal(y, 16)
    assert kernel.arg_names == ["x_ptr", "y_ptr", "n", "BLOCK", "EXTRA"] and kernel.__name__ == "add_one"
    assert kernel.warmup(y, y, 5, grid=(1,)).signature["BLOCK"] == "constexpr int:8"


@pytest.mark.parametrize("outer", ["autotune", "heuristics"])
def test_stacked(outer):
    tune = nereid.autotune(CONFIGS, key=["n"], do_bench=counting([3, 2, 1]))
    guess = nereid.heuristics({"EXTRA": lambda args: 10 + args.get("BLOCK", 0)})
    kernel = tune(guess(add_one())) if outer == "autotune" else guess(tune(add_one()))
    y = np.zeros(5, np.float32)
    kernel[grid](np.zeros_like(y), y, 5)
    # Only heuristics below autotune see what it chooses.
    np.testing.assert_array_equal(y, 74 if outer == "autotune" else 10)
    assert kernel.best_config is CONFIGS[2]


def test_config_fields():
    config = Config({"BLOCK": 8}, num_warps=2, num_stages=1, num_ctas=4, maxnreg=99, ir_override="x", multibuffer=True)
    assert config.all_kwargs() == {
        "BLOCK": 8, "num_warps": 2, "num_stages": 1, "num_ctas": 4, "maxnreg": 99, "ir_override": "x",
        "multibuffer": True,
    }
    assert Config({"BLOCK": 8}).all_kwargs() == {"BLOCK": 8, "num_warps": 4, "num_stages": 3, "num_ctas": 1}
    assert config == Config(**{**vars(config), "options": 0} if False else dict(
        kwargs={"BLOCK": 8}, num_warps=2, num_stages=1, num_ctas=4, maxnreg=99, ir_override="x", multibuffer=True))
    assert config != Config({"BLOCK": 8}) and len({config, Config({"BLOCK": 8}), Config({"BLOCK": 8})}) == 2
    assert "BLOCK: 8" in str(config)


# ---- kernels that communicate


@nereid.jit
def ring_kernel(data_ptr, signal_ptr, n, BLOCK: tl.constexpr):
    """Every rank adds its rank to the next rank's data and says so."""
    pid = tl.program_id(0)
    rank = dl.rank()
    peer = (rank + 1) % dl.num_ranks()
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    remote = dl.symm_at(data_ptr, peer)
    tl.store(remote + offs, tl.full([BLOCK], 100, tl.int32) + rank, offs < n)
    dl.notify(signal_ptr + pid, peer, signal=1, sig_op="set", comm_scope="intra_node")
    token = dl.wait(signal_ptr + pid, 1, "gpu", "acquire", waitValue=1)
    data_ptr = dl.consume_token(data_ptr, token)
    tl.store(data_ptr + offs, tl.load(data_ptr + offs, offs < n) * 2, offs < n)


def run_ring(uneven_key=False):
    configs = [Config({"BLOCK": block}) for block in (8, 16, 32)]
    kernel = nereid.autotune(configs, key=["n"], reset_to_zero=["signal_ptr"], warmup=0, rep=1)(ring_kernel)
    n = 40 + (nereid.rank() if uneven_key else 0)
    data = nereid.symm.zeros(64, np.int32)
    signal = nereid.symm.zeros(8, np.int64)
    kernel[grid](data, signal, n)
    nereid.barrier()
    previous = (nereid.rank() - 1) % nereid.world_size()
    return kernel.best_config.kwargs["BLOCK"], bool((data.numpy()[:40] == 2 * (100 + previous)).all())


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_agree(ranks):
    results = nereid.testing.spawn(run_ring, ranks)
    assert len({block for block, _ in results}) == 1 and all(right for _, right in results)


def test_ranks_with_different_keys():
    with pytest.raises(nereid.testing.SpawnError) as caught:
        nereid.testing.spawn(run_ring, 2, (True,))
    text = str(caught.value)
    assert "must not depend on the rank" in text and "rank 0: key (40" in text and "rank 1: key (41" in text


def run_local_kernel():
    """A kernel that does not communicate is tuned by each rank that launches it."""
    if nereid.rank() == 0:
        kernel = nereid.autotune(CONFIGS, key=["n"], warmup=0, rep=1)(add_one())
        y = np.zeros(5, np.float32)
        kernel[grid](np.zeros_like(y), y, 5)
        return y.tolist()
    return None


def test_local_kernel_on_one_rank():
    assert nereid.testing.spawn(run_local_kernel, 2) == [[1.0] * 5, None]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_errors_of_functions_of_the_user_say_where():
    def fails(*args, **kwargs):
        raise KeyError("nope")

    def note(kernel, **constants):
        y = np.zeros(5, np.float32)
        with pytest.raises(KeyError, match="nope") as caught:
            kernel[grid](y, y, 5, **constants)
        return caught.value.__notes__

    arguments = "of kernel add_one; the arguments are x_ptr, y_ptr, n"
    assert note(nereid.heuristics({"BLOCK": fails})(add_one())) == [f"in the heuristic of 'BLOCK' {arguments}"]
    tune = {
        "early_config_prune": {"prune_configs_by": {"early_config_prune": fails}},
        "perf_model": {"prune_configs_by": {"perf_model": fails, "top_k": 1}},
        "the pre_hook of the autotuner": {"pre_hook": fails},
    }
    for what, options in tune.items():
        [text] = note(nereid.autotune(CONFIGS, key=["n"], **options)(add_one()))
        assert text.startswith(f"in {what} {arguments}"), text
    [text] = note(nereid.autotune([Config({"BLOCK": 8}, pre_hook=fails)], key=[])(add_one()))
    assert text.startswith("in the pre_hook of the configuration (BLOCK: 8, ") and arguments in text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_no_configuration_for_a_constant():
    y = np.zeros(5, np.float32)
    with pytest.raises(nereid.ArgumentError, match="'BLOCK'") as caught:
        nereid.autotune([], key=[])(add_one())[(1,)](y, y, 5)
    assert "configs of @nereid.autotune of add_one is empty" in caught.value.__notes__[0]
