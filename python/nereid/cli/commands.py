# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `nereid`: run, check, compile, cache, info, explain; run_ir.py has run-ir, fit.py has fit, bench.py has bench."""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import re
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Sequence

from nereid.cli import hosts as _hosts
from nereid.cli.kernels import UsageError, typed_kernel


def _add_target_and_profile(parser: argparse.ArgumentParser) -> None:
    from nereid import _runtime

    parser.add_argument("--target", metavar="NAME", help="where the code runs: "
                        f"{' or '.join(_runtime.target_names()) or 'this build has no targets'} (NEREID_TARGET)")
    parser.add_argument("--profile", metavar="NAME", help="by which machine's rules the kernel is written: "
                        f"{', '.join(_runtime.profile_names())} (NEREID_PROFILE)")


def _check_target_and_profile(args: argparse.Namespace) -> None:
    from nereid import JobError, _runtime

    try:
        if args.target is not None:
            _runtime.find_target(args.target)
        if args.profile is not None:
            _runtime.find_profile(args.profile)
    except (JobError, ValueError) as error:
        raise UsageError(f"nereid {args.command_name}: {getattr(error, 'message', error)}") from None


# ---- nereid run


def _add_check(commands) -> None:
    parser = commands.add_parser(
        "check",
        help="run a script as N ranks and say which two accesses nothing orders",
        description="nereid run --check, first in the order of the system, then under seeds, in which transfers and "
        "signals come late; stops at the first run with findings. The exit code is then 40, else that of the script. "
        "docs/check.md says what is found and what not.",
        usage="nereid check [-n N] [options] script.py [arguments ...]",
    )
    parser.add_argument("--seeds", type=_whole, default=8, metavar="K",
                        help="runs under the seeds 1 to K after the first one (default 8); 0 = none")
    _add_run_options(parser)
    parser.set_defaults(check=True)


def _add_run(commands) -> None:
    parser = commands.add_parser(
        "run",
        help="run a script as N ranks of one job",
        description="Starts a Python script (or a program) as N ranks of one job and waits for all of them. When a "
        "rank fails, the others are told, and stopped after a short time. The exit code is that of the first rank that "
        "failed (128 + signal number when a signal ended it).",
        usage="nereid run [-n N] [options] script.py [arguments ...]",
    )
    _add_run_options(parser)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--ranks", type=_positive, metavar="N",
                        help="number of ranks (default 1; with --hosts, as many as there is room for)")
    parser.add_argument("--hosts", metavar="A:4,B:4",
                        help="start the ranks on these hosts, so many on each; all must have this Python and this folder")
    parser.add_argument("--hostfile", metavar="FILE", help="the same from a file: lines HOST, HOST:RANKS or HOST slots=RANKS")
    parser.add_argument("--start", metavar="TEMPLATE",
                        help=f"with --hosts: what starts a command on a host (default '{_hosts.DEFAULT_START}'; NEREID_START)")
    parser.add_argument("--rendezvous", metavar="HOST:PORT",
                        help="with --hosts: where ranks meet (default: the first host, NEREID_PORT or a port at random)")
    parser.add_argument("--tag-output", action=argparse.BooleanOptionalAction, default=None,
                        help="put '[rank] ' before every line of output, with --hosts '[rank@host] ' (default: with --hosts)")
    parser.add_argument("--heap-size", metavar="BYTES", help="symmetric heap of each rank, e.g. 512M or 2G")
    parser.add_argument("--timeout", type=float, metavar="S",
                        help="seconds without progress after which waiting fails; 0 = never")
    parser.add_argument("--threads", type=_positive, metavar="T", help="threads of each rank (default cores / N)")
    _add_target_and_profile(parser)
    parser.add_argument("--explain", action="store_true",
                        help="say which launch options have no effect on the target")
    parser.add_argument("--schedule", metavar="HOW",
                        help="fifo (default), random:SEED or random:FIRST..LAST. Under a random schedule one program of "
                        "the whole job runs at a time, the seed picks which; puts, non-blocking gets and signals arrive "
                        "late and out of order as far as fence, quiet and barriers allow. The same seed gives the same "
                        "schedule. With a range the script runs once for each seed, until one fails")
    parser.add_argument("--ranks-per-node", type=_positive, metavar="K",
                        help="ranks 0 to K-1 are on one node, the next K on another, and so on: kernels reach other "
                        "nodes by put, get and signals only (default: all ranks on one node)")
    parser.add_argument("--check", action="store_true",
                        help="afterwards say which two accesses nothing orders, by lines (docs/check.md); the exit code "
                        "is then 40")
    parser.add_argument("--check-events", type=_positive, default=1 << 20, metavar="N",
                        help="with --check: room for so many events, 72 bytes each (default 1048576)")
    parser.add_argument("--check-output", metavar="FILE", help="with --check: what was found also goes to this file, as JSON")
    parser.add_argument("--check-format", choices=("json", "sarif"), help="of --check-output (default json)")
    parser.add_argument("--transport", metavar="NAME",
                        help="what moves bytes between nodes, as NEREID_TRANSPORT: a transport, or delayed: and one, "
                        "which then holds operations back and reorders them (default delayed:shared_memory; ucx between hosts). Without "
                        "--ranks-per-node each rank is a node when the transport maps nothing, as `remote` and `ucx`")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="variable for all ranks; {rank} in the value becomes the rank")
    parser.add_argument("--rank-env", action="append", default=[], metavar="RANK:NAME=VALUE",
                        help="variable for one rank; wins over --env")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not say which rank failed")
    parser.add_argument("--as-triton", action="store_true",
                        help="imports of triton and triton_dist mean Nereid, for files written for them, also in the "
                        "Python processes that they start")
    parser.add_argument("-m", "--module", nargs=argparse.REMAINDER, metavar="NAME ...",
                        help="run a module with all that follows as its arguments, like python -m")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="script.py ...", help="script and its arguments")
    parser.set_defaults(function=_run, parser=parser)


def _whole(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return value


def _command_line(args: argparse.Namespace) -> list[str]:
    command = list(args.command)
    if command and command[0] == "--":
        command = command[1:]
    if args.module:
        return [sys.executable, "-m", args.module, *command]
    if not command:
        raise UsageError("nereid run: no script was given; write nereid run -n 4 script.py")
    script = command[0]
    if script.startswith("-"):
        raise UsageError(f"nereid run: unknown option '{script}'; options stand before the script (see nereid run -h)")
    if Path(script).is_dir():
        raise UsageError(f"nereid run: '{script}' is a folder")
    if script.endswith(".py") or (Path(script).exists() and not os.access(script, os.X_OK)):
        if not Path(script).exists():
            raise UsageError(f"nereid run: there is no file '{script}'")
        return [sys.executable, *command]
    return command


def _run(args: argparse.Namespace) -> int:
    if args.module is not None:
        if not args.module:
            raise UsageError("nereid run: -m takes the name of a module; write nereid run -n 4 -m module")
        args.module, args.command = args.module[0], args.module[1:]
    if args.hosts is not None and args.hostfile is not None:
        raise UsageError("nereid run: --hosts and --hostfile say the same; write one of them")
    args.placed = None
    if args.hosts is not None or args.hostfile is not None:
        listed = _hosts.parse_hosts(args.hosts) if args.hosts is not None else _hosts.parse_hostfile(args.hostfile)
        args.placed = _hosts.place(listed, args.ranks)
        args.ranks = sum(host.ranks for host in args.placed)
        if args.check or (args.schedule or "").startswith("random:"):
            raise UsageError("nereid run: --check and random schedules need all ranks on one machine; --ranks-per-node makes "
                             "nodes of it")
    elif args.start is not None or args.rendezvous is not None:
        raise UsageError("nereid run: --start and --rendezvous go with --hosts or --hostfile")
    args.ranks = args.ranks or 1
    if args.tag_output is None:
        args.tag_output = args.placed is not None
    environment = []
    for entry in args.env:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise UsageError(f"nereid run: --env takes NAME=VALUE, not '{entry}'")
        environment.append((name, value))
    for entry in args.rank_env:
        rank, colon, setting = entry.partition(":")
        name, equals, value = setting.partition("=")
        if not (colon and equals and name and rank.isdecimal()):
            raise UsageError(f"nereid run: --rank-env takes RANK:NAME=VALUE, not '{entry}'")
        if int(rank) >= args.ranks:
            raise UsageError(f"nereid run: --rank-env={entry}: the job has the ranks 0 to {args.ranks - 1}")
    if args.timeout is not None and args.timeout < 0:
        raise UsageError("nereid run: --timeout takes seconds, 0 for no limit")
    _check_target_and_profile(args)
    if args.target is not None:
        from nereid._base import targets as _targets

        if not _targets.find(args.target)["device"]:
            raise UsageError(f"nereid run: the target {args.target} makes {_targets.find(args.target)['description']}; "
                             f"nereid compile --target {args.target} writes them")
        environment.append(("NEREID_TARGET", args.target))
    if args.explain:
        environment.append(("NEREID_EXPLAIN", "1"))
    if args.as_triton:
        from nereid import compat

        environment.extend(compat.environment(dict(environment).get("PYTHONPATH")).items())
    command = _command_line(args)
    schedules = _schedules(args.schedule)
    if args.command_name == "check" and args.schedule is None:
        schedules += [f"random:{seed}" for seed in range(1, args.seeds + 1)]
    told = time.monotonic()
    for number, schedule in enumerate(schedules):
        if len(schedules) > 1 and not args.quiet and (number == 0 or time.monotonic() - told >= _PROGRESS_SECONDS):
            told = time.monotonic()
            print(f"nereid {args.command_name}: --schedule={schedule or 'fifo'}, {number + 1} of {len(schedules)}", file=sys.stderr, flush=True)
        code = _run_checked(args, command, schedule, environment) if args.check else \
            _run_once(args, command, schedule, environment)
        if code == 0:
            continue
        stopped = code in (128 + signal.SIGINT, 128 + signal.SIGTERM)
        if len(schedules) > 1 and not args.quiet and not stopped:
            print(f"nereid {args.command_name}: failed with --schedule={schedule or 'fifo'}, after {number} other "
                  f"{'schedule' if number == 1 else 'schedules'} without a failure. To repeat it:\n  "
                  f"{_repeat_line(args, schedule)}", file=sys.stderr)
        return code
    if len(schedules) > 1 and not args.quiet:
        print(f"nereid {args.command_name}: no failure with {len(schedules)} schedules, {schedules[0] or 'fifo'} to "
              f"{schedules[-1]}",
              file=sys.stderr)
    return 0


#: How often a command with several schedules says where it is, at most.
_PROGRESS_SECONDS = 2.0

#: More seeds in one command are a typing mistake.
_MAX_SEEDS = 100000


def _schedules(text: str | None) -> list[str]:
    """The schedules of one command: random:3..5 means three of them."""
    if text is None or not text.startswith("random:") or ".." not in text:
        return [text or ""]
    first, _, last = text.removeprefix("random:").partition("..")
    if not (first.isdecimal() and last.isdecimal()):
        raise UsageError(f"nereid run: --schedule={text}: write two seeds, for example random:1..20")
    if int(last) < int(first):
        raise UsageError(f"nereid run: --schedule={text}: the last seed is smaller than the first")
    if int(last) - int(first) >= _MAX_SEEDS:
        raise UsageError(f"nereid run: --schedule={text}: at most {_MAX_SEEDS} seeds in one command")
    return [f"random:{seed}" for seed in range(int(first), int(last) + 1)]


#: Options of which a repeated run needs nothing, or which stand at their own place in its line.
_NOT_REPEATED = {"help", "quiet", "explain", "tag_output", "ranks", "schedule", "module", "command", "seeds", "check",
                 "check_output", "check_format"}


def _repeat_line(args: argparse.Namespace, schedule: str) -> str:
    """The command that runs one of several schedules again, with all options that were given."""
    words = ["nereid", "run", "-n", str(args.ranks), *([f"--schedule={schedule}"] if schedule else [])]
    if args.check:
        words.append("--check")
    for action in args.parser._actions:
        value = getattr(args, action.dest, action.default)
        if action.dest in _NOT_REPEATED or value == action.default:
            continue
        option = action.option_strings[-1]
        if action.nargs == 0:
            words.append(option)
        else:
            words += [f"{option}={entry}" for entry in (value if isinstance(value, list) else [value])]
    if args.module:
        words += ["-m", args.module]
    return shlex.join([*words, *args.command])


def _rank_environment(args: argparse.Namespace) -> list[tuple[int, str, str]]:
    rows = []
    for entry in args.rank_env:
        rank, _, setting = entry.partition(":")
        name, _, value = setting.partition("=")
        rows.append((int(rank), name, value))
    return rows


#: Exit code of a checked run with findings.
_CHECK_FOUND = 40


def _run_checked(args: argparse.Namespace, command: list[str], schedule: str, environment: list) -> int:
    from nereid import JobError, __version__, _runtime
    from nereid._check import report

    if args.check_format and not args.check_output:
        raise UsageError(f"nereid {args.command_name}: --check-format={args.check_format} writes a file; name it with "
                         "--check-output=FILE")
    with tempfile.TemporaryDirectory(prefix="nereid-check-") as folder:
        path = str(Path(folder) / "log")
        try:
            _runtime.create_check_log(path, args.check_events)
            code = _run_once(args, command, schedule,
                             [*environment, ("NEREID_CHECK", path), ("NEREID_INSTRUMENT", "1")])
            findings, summary, lost = _runtime.check_log(path)
        except JobError as error:
            raise UsageError(f"nereid {args.command_name}: {getattr(error, 'message', error)}") from None
    findings, suppressed = report.split(findings)
    summary = re.sub(r"\d+ errors?", f"{len(findings)} error{'s' * (len(findings) != 1)}", summary, count=1)
    if suppressed:
        summary += f"; {len(suppressed)} allowed in the source"
    if args.check_output:
        text = report.as_sarif(findings, suppressed, __version__) if args.check_format == "sarif" else \
            report.as_json(findings, suppressed, summary, schedule)
        try:
            Path(args.check_output).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"nereid {args.command_name}: --check-output={args.check_output}: {error.strerror}") from None
    for finding in findings[:_CHECK_SHOWN]:
        print(finding["text"], file=sys.stderr)
    if len(findings) > _CHECK_SHOWN:
        print(f"and {len(findings) - _CHECK_SHOWN} more errors", file=sys.stderr)
    if findings:
        print("nereid explain " + findings[0]["code"] + " says more, with an example", file=sys.stderr)
    if not args.quiet or findings or lost:
        print(summary + ("; --check-events makes room for more" if lost else ""), file=sys.stderr)
    return _CHECK_FOUND if findings else code


#: Findings that are printed in full.
_CHECK_SHOWN = 20


def _run_once(args: argparse.Namespace, command: list[str], schedule: str, environment: list) -> int:
    from nereid import JobError, __version__, _runtime

    try:
        if args.placed is not None:
            order = {
                "version": __version__,
                "environment": _hosts.environment(),
                "command": command,
                "tag": args.tag_output,
                "heap_bytes": None if args.heap_size is None else _runtime.parse_byte_size(args.heap_size),
                "timeout": args.timeout,
                "schedule": schedule,
                "ranks_per_node": args.ranks_per_node,
                "transport": args.transport or "",
                "profile": args.profile or "",
                "threads": args.threads or 0,
                "variables": environment,
                "rank_variables": _rank_environment(args),
                "verbose": not args.quiet,
            }
            start = args.start or os.environ.get("NEREID_START") or _hosts.DEFAULT_START
            return _hosts.run(args.placed, start, args.rendezvous, order, 5.0, args.quiet)
        code, _, _ = _runtime.launch_job(
            command,
            args.ranks,
            tag_output=args.tag_output,
            heap_bytes=None if args.heap_size is None else _runtime.parse_byte_size(args.heap_size),
            timeout=args.timeout,
            schedule=schedule,
            ranks_per_node=args.ranks_per_node,
            transport=args.transport or "",
            profile=args.profile or "",
            num_threads=args.threads or 0,
            environment=environment,
            rank_environment=_rank_environment(args),
            verbose=not args.quiet,
        )
    except JobError as error:
        raise UsageError(f"nereid run: {getattr(error, 'message', error)}") from None
    return code


# ---- nereid compile


def _add_compile(commands) -> None:
    from nereid._base import targets as _targets

    parser = commands.add_parser(
        "compile",
        help="compile a kernel and write a stage of it",
        description="Compiles one kernel of a Python file and writes the chosen stage. The signature gives each "
        "parameter a type (*fp32, i32, fp32; *fp32:16 = divisible by 16) or, for constexprs, a value. The file's code for "
        "the host runs as far as its first launch. Of a kernel that is IR already (FILE.ttir) it writes a stage, too.",
    )
    parser.add_argument("kernel", metavar="FILE.py:NAME", help="the file and the name of the jit function in it, or FILE.ttir")
    _add_target_and_profile(parser)
    parser.add_argument("--emit", metavar="STAGE", default="ttir", help=f"what to write (default ttir): {_stages_text()}")
    parser.add_argument("--signature", metavar="TEXT", help='e.g. "x_ptr=*fp32, n=i32, BLOCK=128"')
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--header", metavar="FILE.h",
                        help="with --emit=obj: also write a C++ header with the object file in it and a launch function "
                        "with typed parameters")
    parser.add_argument("--unused-token", choices=_targets.unused_token(), help="dl.wait whose token is not used")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="an option of the target; nereid info lists them")
    parser.add_argument("--debug", action="store_true", help="with tl.device_assert")
    parser.add_argument("--portable", action="store_true", help="refuse what the language has beyond Triton's")
    parser.add_argument(
        "--triton",
        choices=("3.6", "3.9"),
        help="with --emit=ttir: simplified, and in the form that this version of the triton package reads",
    )
    parser.add_argument("--explain-perf", action="store_true",
                        help="say, in the kernel's lines, what each load, store, product, reduction and loop became, and "
                        "what would make it faster, instead of a stage")
    parser.set_defaults(function=_compile)


def _stages_text() -> str:
    """The stages of each target."""
    from nereid import _runtime
    from nereid._base import targets as _targets

    names = _runtime.target_names() or [_runtime.default_target()]
    return "; ".join(f"{', '.join(_targets.stage_names(name))} (target {name})" for name in names)


def _target_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the command line says of the target, checked; what the environment says is checked too."""
    from nereid import _runtime
    from nereid._base import targets as _targets

    options: dict[str, Any] = {}
    try:
        target = _targets.active()
        _targets.profile(), _targets.settings(target)  # what the environment says
        _targets.stage(target, args.emit)
        for entry in args.option:
            name, equals, value = entry.partition("=")
            if not equals:
                raise UsageError(f"nereid compile: --option takes NAME=VALUE, not '{entry}'")
            if _targets.option(target, name) is None and name in _targets.foreign(target):
                raise UsageError(f"nereid compile: --option: {_targets.foreign(target)[name][0]}")
            options[name] = _runtime.parse_option(target, name, value)
    except KeyError as error:
        raise UsageError(f"nereid compile: --emit: {error.args[0]}") from None
    except ValueError as error:
        raise UsageError(f"nereid compile: {error}") from None
    if args.unused_token:
        options["unused_token"] = args.unused_token
    if args.debug:
        options["debug"] = True
    if args.portable:
        options["portable"] = True
    return options


def _compile(args: argparse.Namespace) -> int:
    from nereid import CompilationError, _compiler
    from nereid._kernels import compile as _compile
    from nereid._kernels import ir as _ir
    from nereid._base import targets as _targets
    from nereid.language import target_info

    if args.explain_perf and (args.output or args.header or args.triton or _ir.is_ir_path(args.kernel)):
        raise UsageError("nereid compile: --explain-perf prints what it has to say of a kernel in Python; "
                         "without it, --emit writes a stage")
    if args.emit == "object":
        args.emit = "obj"
    _check_target_and_profile(args)
    if args.header and args.emit != "obj":
        raise UsageError(f"nereid compile: --header goes with --emit=obj, not --emit={args.emit}")
    if args.target:
        _targets.choose(args.target)
        target_info._name = args.target
    if args.profile:
        os.environ["NEREID_PROFILE"] = args.profile
    given = _target_options(args)
    if args.header and _targets.find(_targets.active())["device"] != "cpu":
        raise UsageError(f"nereid compile: --header is for kernels that run on the CPU, not for the target {_targets.active()}")
    if _ir.is_ir_path(args.kernel):
        return _compile_ir(args, given)
    kernel, specs, text = typed_kernel("nereid compile", args.kernel, args.signature)
    options = {**kernel._options({}), **given}
    try:
        # What tl.static_print prints is not part of our output.
        with contextlib.redirect_stdout(sys.stderr):
            if args.explain_perf:
                said = _compiler.explain_speed(kernel, specs, options)
            else:
                content = _stage(kernel, specs, options, args.emit, args.triton)
    except CompilationError as error:
        print(error, file=sys.stderr)
        return 1
    if args.explain_perf:
        print("".join(said) or f"the target {_targets.active()} says nothing of the speed of this kernel", end="" if said else "\n")
        return 0
    return _write(args, content, text, _compile._types(specs))


def _write(args: argparse.Namespace, content: str | bytes, signature: str, types: list[str] | None = None) -> int:
    data = content if isinstance(content, bytes) else content.encode()
    if args.header:
        from nereid._kernels import cpp_header as _cpp_header

        Path(args.header).write_text(_cpp_header.header(data, f"{args.kernel} {signature}", types), encoding="utf-8")
        if not args.output:
            return 0
    if args.output:
        Path(args.output).write_bytes(data)
    else:
        if isinstance(content, bytes) and sys.stdout.isatty():
            raise UsageError(f"nereid compile: the stage {args.emit} is not text for a terminal; write it to a file with -o")
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    return 0


def _compile_ir(args: argparse.Namespace, given: dict[str, Any]) -> int:
    """A stage of a kernel that is IR already."""
    from nereid import CompilationError, _compiler
    from nereid._base import targets as _targets

    path = Path(args.kernel)
    if not path.is_file():
        raise UsageError(f"nereid compile: there is no file '{path}'")
    if args.signature or args.triton or args.debug:
        raise UsageError("nereid compile: --signature, --triton and --debug go with a kernel in Python, not with IR")
    target = _targets.active()
    options = {"target": target, "profile": _targets.profile(), **_targets.settings(target), **given}
    try:
        compilation = _compiler.compile_ir(path.read_text(encoding="utf-8"), str(path), options)
    except UnicodeDecodeError:
        raise UsageError(f"nereid compile: '{path}' is not text") from None
    except CompilationError as error:
        print(error, file=sys.stderr)
        return 1
    return _write(args, compilation.stage(args.emit), "")


def _stage(kernel: Any, specs: list, options: dict, stage: str, triton: str | None = None) -> str | bytes:
    from nereid import _compiler

    if triton:
        if stage != "ttir":
            raise UsageError(f"nereid compile: --triton goes with --emit=ttir, not --emit={stage}")
        return _compiler.export_ttir(kernel, specs, options, triton)
    return _compiler.emit(kernel, specs, stage, options)


# ---- nereid cache


def _add_cache(commands) -> None:
    parser = commands.add_parser(
        "cache",
        help="show or clear the cache of compiled kernels",
        description="Shows where compiled kernels are kept, how many there are and how large; lists them; or removes "
        "them (and the stored results of autotuning). Other processes may use the cache meanwhile.",
    )
    parser.add_argument("action", nargs="?", choices=("show", "list", "clear"), default="show")
    parser.set_defaults(function=_cache_command)


def _cache_command(args: argparse.Namespace) -> int:
    from nereid._kernels import cache as _cache

    root = _cache.cache_root()
    if root is None:
        print("the cache is switched off (NEREID_CACHE=0)")
        return 0
    if args.action == "clear":
        count = _cache.clear()
        print(f"{count} kernel{'' if count == 1 else 's'} removed from {root}")
        return 0
    entries = _cache.entries()
    if args.action == "list":
        for entry in entries:
            print(f"{entry.name:<40} {entry.bytes / 1024:8.1f} KiB  {entry.key[:16]}")
    total = sum(entry.bytes for entry in entries)
    print(f"{root}: {len(entries)} kernel{'' if len(entries) == 1 else 's'}, {total / 2**20:.1f} MiB")
    return 0


# ---- nereid explain


def _add_explain(commands) -> None:
    parser = commands.add_parser(
        "explain",
        help="what an error of the compiler, or a code of the check, means",
        description="Shows an entry of the compiler's catalogue of errors and warnings: its text, with ... for what "
        "varies, and what to write instead. The name is `error.name` of a nereid.CompilationError, or a code of the "
        "check (nereid check), which is shown with an example; without one, all names are listed.",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="e.g. broadcast_mismatch, or a part of a name or text")
    parser.set_defaults(function=_explain)


def _with_gaps(text: str) -> str:
    """A template of the catalogue as readers see it: `...` for what varies, nothing for
    an addition at the end of a word."""
    return re.sub(r"\{\d\}", "...", re.sub(r"(?<=[a-z])\{\d\}", "", text))


def _explain(args: argparse.Namespace) -> int:
    from nereid import _compiler

    from nereid._check import codes

    rows = _compiler.diagnostics()
    if args.name is None:
        print("\n".join([*(name for name, _, _ in rows), *codes.CODES]))
        return 0
    if code := codes.find(args.name):
        print(code.text())
        return 0
    found = [row for row in rows if row[0] == args.name] or [
        row for row in rows if args.name in row[0] or args.name.lower() in row[1].lower()
    ]
    if not found:
        raise UsageError(f"nereid explain: the catalogue has no '{args.name}'; `nereid explain` lists all names")
    for name, message, instead in found:
        print(f"{name}\n  {_with_gaps(message)}")
        if re.search(r"[a-z]", re.sub(r"\{\d\}", "", instead)):
            print(f"  help: {_with_gaps(instead)}")
        elif instead:
            print("  help: the error itself says what to write at its place")
    return 0


# ---- nereid info


def _add_info(commands) -> None:
    parser = commands.add_parser(
        "info",
        help="versions, targets, profiles, environment variables; what a kernel's object file says",
        description="Shows what Nereid runs on and every environment variable that it reads. With a file of "
        "nereid compile --emit=obj: what it says of its kernel.",
    )
    parser.add_argument("file", nargs="?", metavar="KERNEL.o", help="a kernel's object file")
    parser.add_argument("--json", action="store_true", help="what the file says, as JSON")
    parser.set_defaults(function=_info)


def _info_of_file(args: argparse.Namespace) -> int:
    from nereid._kernels import description as _description

    try:
        description = _description.describe(Path(args.file).read_bytes())
    except (OSError, RuntimeError) as error:
        raise UsageError(f"nereid info: {args.file}: {getattr(error, 'strerror', None) or error}") from None
    print(_description.as_json(description) if args.json else _description.as_text(description))
    return 0


def _info(args: argparse.Namespace) -> int:
    if args.file is not None:
        return _info_of_file(args)
    if args.json:
        raise UsageError("nereid info: --json goes with a kernel's object file; write nereid info --json kernel.o")
    import numpy

    import nereid
    from nereid import _runtime
    from nereid._kernels import cache as _cache
    from nereid._base import environment as _environment
    from nereid._base import targets as _targets

    def line(name: str, value: Any) -> None:
        print(f"  {name:<22}{value}")

    print("Nereid")
    line("version", nereid.__version__)
    line("ABI version", _runtime.ABI_VERSION)
    line("Python", f"{platform.python_version()} ({sys.executable})")
    line("numpy", numpy.__version__)
    try:
        from nereid import _compiler

        for name, value in _compiler.version_info().items():
            line(name, value)
    except ImportError as error:
        line("compiler", f"not loadable: {error}")
    root = _cache.cache_root()
    line("kernel cache", "switched off" if root is None else root)
    print("\nMachine")
    line("cores", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}")
    line("memory", f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB")
    print("\nDevices: what runs kernels")
    for name, description in _runtime.devices():
        line(name, description)
    print("\nTargets: where code runs")
    for name in _runtime.target_names():
        target = _targets.find(name)
        line(name, target["description"] + (" (default)" if name == _runtime.default_target() else ""))
        line("  stages", ", ".join(_targets.stage_names(name)))
        if target["tool"]:
            line("  compiles with", f"the Python package {target['tool']}")
        for row in target["options"]:
            choices = f" ({', '.join(row['choices'])})" if row["choices"] else ""
            line(f"  {row['name']}", f"{row['help']}{choices}; default {row['default']}")
    print("\nProfiles: by which rules kernels are written")
    active = _targets.profile()
    for name in _runtime.profile_names():
        line(name, _profile_text(_runtime.find_profile(name)) + (" (in force)" if name == active else ""))
    print("\nEnvironment variables (value, else default)")
    rows = [*_runtime.knobs(), *_environment.VARIABLES]
    width = max(len(name) for name, _, _ in rows) + 2
    for name, default, text in rows:
        value = os.environ.get(name)
        print(f"  {name:<{width}}{value + ' (set)' if value is not None else default or '-':<20} {text}")
    return 0


def _profile_text(profile: dict[str, Any]) -> str:
    """What a profile changes, in one line."""
    signals = f"{8 * profile['signal_bytes']}-bit" if profile["signal_bytes"] else "of any integer type"
    return ", ".join([
        f"functions of {profile['library']}",
        f"signals {signals}",
        f"{profile['wait_stride'] or 'element size'} bytes between the signals of a wait".replace("size bytes", "size"),
        f"barriers called by {'one program' if profile['one_program_per_rank'] else 'all programs'} of each rank",
        f"fence {'completes' if profile['fence_completes'] else 'only orders'}",
        f"{profile['sub_vec_num']} vector core{'s' if profile['sub_vec_num'] > 1 else ''} per AI core",
    ])


# ---- the command


def _parser() -> argparse.ArgumentParser:
    import nereid
    from nereid.cli import bench as _bench
    from nereid.cli import fit as _fit
    from nereid.cli import run_ir as _run_ir

    parser = argparse.ArgumentParser(
        prog="nereid", description="Distributed tile kernels: run jobs of several ranks, compile kernels."
    )
    parser.add_argument("--version", action="version", version=f"nereid {nereid.__version__}")
    commands = parser.add_subparsers(dest="command_name", metavar="command", required=True)
    _add_run(commands)
    _hosts.add_host_share(commands)
    _add_compile(commands)
    _run_ir.add_command(commands)
    _fit.add_command(commands)
    _bench.add_command(commands)
    _add_cache(commands)
    _add_info(commands)
    _add_explain(commands)
    _add_check(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    from nereid.cli import bench as _bench

    argv = sys.argv[1:] if argv is None else argv
    # Its options are those of the program in the source tree.
    args = argparse.Namespace(function=lambda _: _bench.run(argv[1:])) if argv[:1] == ["bench"] else _parser().parse_args(argv)
    try:
        return args.function(args)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output has gone; nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
