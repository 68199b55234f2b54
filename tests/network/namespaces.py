# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines for tests: network namespaces, joined by a bridge.

    ip netns exec NAME command        a machine: 10.77.N.1, 10.77.N.2, ...

Ranks in different namespaces share neither sockets nor memory; UCX and the control plane see machines
with an interface each. What is made carries the number of the process that made it, and is taken away by it."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


def why_not() -> str | None:
    """Why there can be no namespaces here; None when there can."""
    if shutil.which("ip") is None:
        return "there is no `ip` here (Debian: iproute2)"
    name = f"nrdtry{os.getpid()}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode:
        return f"network namespaces need root rights: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return None


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


@dataclass
class Machines:
    names: list[str]
    addresses: list[str]
    net: int
    links: list[str] = field(default_factory=list)

    @property
    def start(self) -> str:
        """For `nereid run --start`: hosts are names of namespaces."""
        return "ip netns exec {host} sh -c {command}"

    def hosts(self, *ranks: int) -> str:
        return ",".join(f"{name}:{count}" for name, count in zip(self.names, ranks))

    def rendezvous(self, port: int) -> str:
        return f"{self.addresses[0]}:{port}"

    def inside(self, machine: int, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.names[machine], *command]

    def cut(self, machine: int) -> None:
        """Takes the cable out."""
        _ip("link", "set", self.links[machine], "down")

    def join(self, machine: int) -> None:
        _ip("link", "set", self.links[machine], "up")


@contextlib.contextmanager
def machines(count: int = 2):
    me, net = os.getpid(), os.getpid() % 250
    bridge = f"nrdb{me}"
    made = Machines([f"nrd{me}-{i}" for i in range(count)], [f"10.77.{net}.{i + 1}" for i in range(count)], net)
    try:
        _ip("link", "add", bridge, "type", "bridge")
        _ip("link", "set", bridge, "up")
        for i, name in enumerate(made.names):
            outer, inner = f"nrdo{me}-{i}"[-15:], f"nrdi{me}-{i}"[-15:]
            _ip("netns", "add", name)
            _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
            _ip("link", "set", inner, "netns", name)
            _ip("link", "set", outer, "master", bridge, "up")
            made.links.append(outer)
            _ip("-n", name, "link", "set", inner, "name", "eth0")
            _ip("-n", name, "addr", "add", f"{made.addresses[i]}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield made
    finally:
        for name in made.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        for link in [*made.links, bridge]:
            subprocess.run(["ip", "link", "del", link], capture_output=True)
