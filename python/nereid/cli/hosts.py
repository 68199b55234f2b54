# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`nereid run --hosts a:4,b:4`: the ranks of one job on several hosts.

    nereid run ──ssh a──▶ nereid host-share ──▶ ranks 0 to 3
               └─ssh b──▶ nereid host-share ──▶ ranks 4 to 7

What a host is to do is one line of JSON on the standard input of its `host-share`, so that neither
the job's secret nor its environment is in a command line. Later bytes there are signals for its
ranks, and its end means that `nereid run` is no more: then they are stopped, too. Output comes back
by the same connection."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import shlex
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nereid.cli.kernels import UsageError

#: How `host-share` is started on a host; NEREID_START and --start replace it.
DEFAULT_START = "ssh -o BatchMode=yes {host} {command}"

#: Variables of these names go to all hosts.
_FORWARDED = re.compile(r"(NEREID_|UCX_|OMP_|PYTHON(PATH|UNBUFFERED|FAULTHANDLER|HASHSEED)$|PATH$|LD_LIBRARY_PATH$)")
#: But for those that say who a process is.
_OWN = re.compile(r"NEREID_(RANK|LOCAL_RANK|WORLD_SIZE|JOB|JOB_FD|RENDEZVOUS|SECRET|START|PORT)$")

#: Where ports are drawn from when NEREID_PORT names none: below those that the system gives out.
_PORTS = range(20000, 30000, 2)


@dataclass(frozen=True)
class Host:
    name: str
    ranks: int


def _host(text: str, where: str) -> Host:
    name, colon, number = text.partition(":") if text.count(":") <= 1 else text.rpartition(":")
    if not name or (colon and not (number.isdecimal() and int(number) > 0)):
        raise UsageError(f"nereid run: {where}: '{text}' is not HOST or HOST:RANKS")
    return Host(name, int(number) if colon else 1)


def parse_hosts(text: str) -> list[Host]:
    return [_host(part.strip(), "--hosts") for part in text.split(",") if part.strip()]


def parse_hostfile(path: str) -> list[Host]:
    """Lines HOST, HOST:RANKS or, as in host files of MPI, HOST slots=RANKS; `#` begins a comment."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"nereid run: --hostfile: {path}: {error.strerror}") from None
    hosts = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        slots = [word.partition("=")[2] for word in words[1:] if word.partition("=")[0] in ("slots", "ranks")]
        if len(words) - 1 != len(slots) or len(slots) > 1:
            raise UsageError(f"nereid run: {path}:{number}: expected HOST, HOST:RANKS or HOST slots=RANKS")
        hosts.append(_host(f"{words[0]}:{slots[0]}" if slots else words[0], f"{path}:{number}"))
    return hosts


def place(hosts: list[Host], ranks: int | None) -> list[Host]:
    """The hosts of a job, with as many ranks on each, but for the last one."""
    if not hosts:
        raise UsageError("nereid run: there are no hosts; write --hosts=a:4,b:4")
    doubled = {host.name for host in hosts if sum(host.name == other.name for other in hosts) > 1}
    if doubled:
        raise UsageError(f"nereid run: the host {min(doubled)} is there twice; write {min(doubled)}:RANKS once")
    room = sum(host.ranks for host in hosts)
    if ranks is not None and ranks > room:
        raise UsageError(f"nereid run: -n {ranks}: the hosts have room for {room} ranks")
    left = room if ranks is None else ranks
    placed = []
    for host in hosts:
        if left:
            placed.append(Host(host.name, min(host.ranks, left)))
            left -= placed[-1].ranks
    for host in placed[1:]:
        if host.ranks > placed[0].ranks or (host.ranks < placed[0].ranks and host is not placed[-1]):
            raise UsageError(f"nereid run: {placed[0].name} has {placed[0].ranks} ranks and {host.name} {host.ranks}: each "
                             "host must have as many, but for the last one, which may have fewer")
    return placed


def environment() -> dict[str, str]:
    """What ranks on other hosts get of this process's environment."""
    return {name: value for name, value in os.environ.items() if _FORWARDED.match(name) and not _OWN.match(name)}


def command_of(template: str, host: str) -> list[str]:
    """The words that start `host-share` on `host`."""
    here = template == DEFAULT_START
    inner = shlex.join([sys.executable, "-m", "nereid", "host-share"])
    command = f"cd {shlex.quote(os.getcwd())} && exec {inner}"
    if here and host in ("localhost", "127.0.0.1", socket.gethostname()):
        return ["sh", "-c", command]
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise UsageError(f"nereid run: --start={template}: {error}") from None
    if "{command}" not in words:
        raise UsageError(f"nereid run: --start={template}: {{command}} must be a word of it, for what runs on the host; "
                         f"the default is '{DEFAULT_START}'")
    return [command if word == "{command}" else word.replace("{host}", host) for word in words]


class _Share:
    """`host-share` of one host."""

    def __init__(self, host: Host, words: list[str], order: dict[str, Any]):
        self.host = host
        try:
            # A group of its own: Ctrl-C in the terminal reaches ranks by this launcher alone.
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise UsageError(f"nereid run: cannot start on host {host.name}: {words[0]}: {error.strerror}") from None
        self.say(json.dumps(order).encode() + b"\n")

    def say(self, data: bytes) -> None:
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which its exit code says

    def let_go(self) -> None:
        try:
            self.process.stdin.close()
        except OSError:
            pass


def run(hosts: list[Host], start: str, rendezvous: str | None, order: dict[str, Any], grace: float, quiet: bool) -> int:
    """Starts a job and waits for it; returns its exit code. `order` is what all hosts are to do alike."""
    total = sum(host.ranks for host in hosts)
    port = os.environ.get("NEREID_PORT") or str(random.SystemRandom().choice(_PORTS))
    if not port.isdecimal() or not 0 < int(port) < 65535:
        raise UsageError(f"nereid run: NEREID_PORT='{port}' is not the number of a port with another one after it")
    address = rendezvous or f"{hosts[0].name}:{port}"
    order = {**order, "total": total, "rendezvous": address, "secret": os.environ.get("NEREID_SECRET") or
             secrets.token_hex(16), "address": address.rpartition(":")[0].strip("[]"), "port": int(port) + 1}
    commands = [command_of(start, host.name) for host in hosts]
    received: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: received.append(number))
              for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    shares: list[_Share] = []
    try:
        first = 0
        for host, words in zip(hosts, commands):
            shares.append(_Share(host, words, {**order, "host": host.name, "first": first, "ranks": host.ranks}))
            first += host.ranks
        return _watch(shares, received, grace, quiet)
    finally:
        for share in shares:
            share.let_go()
        deadline = time.monotonic() + grace + 2
        for share in shares:
            try:
                share.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(share.process.pid, signal.SIGKILL)
                share.process.wait()
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(shares: list[_Share], received: list[int], grace: float, quiet: bool) -> int:
    codes: dict[str, int] = {}
    stopped: int | None = None
    give_up: float | None = None
    told = 0
    while len(codes) < len(shares):
        time.sleep(0.02)
        for share in shares:
            code = share.process.poll()
            if code is None or share.host.name in codes:
                continue
            codes[share.host.name] = code if code >= 0 else 128 - code
            if codes[share.host.name] and stopped is None and give_up is None:
                give_up = time.monotonic() + grace
                if not quiet and code == 255:
                    print(f"nereid run: what starts ranks on host {share.host.name} ended with 255: can it be reached?",
                          file=sys.stderr, flush=True)
        for number in received[told:]:
            told += 1
            stopped = stopped or number
            give_up = time.monotonic() + 2 * grace
            for share in shares:
                share.say(bytes([number]))
        if give_up is not None and time.monotonic() >= give_up:
            for share in shares:
                share.let_go()
            give_up = time.monotonic() + 10**9
            if stopped is None:
                stopped = 0
    if stopped:
        return 128 + stopped
    bad = [code for code in codes.values() if code]
    # A rank that a signal has ended made the others fail.
    return next((code for code in bad if code > 128), bad[0] if bad else 0)


# ---- on each host


def add_host_share(commands) -> None:
    parser = commands.add_parser("host-share", help=argparse.SUPPRESS)
    parser.set_defaults(function=_host_share)


def _read_order() -> dict[str, Any]:
    """The first line of the standard input, and no byte more: what follows are signals."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            raise UsageError("nereid host-share: `nereid run --hosts` starts this command and tells it what to do")
        line += byte
    try:
        return json.loads(line)
    except ValueError:
        raise UsageError("nereid host-share: `nereid run --hosts` starts this command and tells it what to do") from None


def _host_share(args: argparse.Namespace) -> int:
    from nereid import JobError, _runtime
    from nereid import __version__

    order = _read_order()
    if order["version"] != __version__:
        raise UsageError(f"nereid run: host {order['host']} has Nereid {__version__} in {sys.prefix}, the host of nereid run "
                         f"{order['version']}; install the same on both")
    given = dict(order["environment"])
    os.environ.update(given)
    try:
        code, _, _ = _runtime.launch_job(
            order["command"], order["ranks"], tag_output=order["tag"], heap_bytes=order["heap_bytes"],
            timeout=order["timeout"], schedule=order["schedule"], ranks_per_node=order["ranks_per_node"],
            transport=order["transport"], profile=order["profile"], num_threads=order["threads"],
            environment=[tuple(row) for row in order["variables"]],
            rank_environment=[tuple(row) for row in order["rank_variables"]], verbose=order["verbose"],
            share=(order["first"], order["total"], order["host"], order["rendezvous"], order["secret"], order["address"],
                   order["port"], 0))
    except JobError as error:
        raise UsageError(f"nereid run: host {order['host']}: {getattr(error, 'message', error)}") from None
    return code
