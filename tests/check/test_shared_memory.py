# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stays in shared memory is found; what others take away again is not held against a test."""

import threading
import time

import shared_memory


def test_what_stays_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_memory, "FOLDER", str(tmp_path))
    (tmp_path / "old").write_text("")
    before = shared_memory.names()
    assert shared_memory.left_since(before) == set()
    (tmp_path / "stays").write_text("")
    (tmp_path / "goes").write_text("")
    threading.Thread(target=lambda: (time.sleep(0.3), (tmp_path / "goes").unlink())).start()
    assert shared_memory.left_since(before, patience=2) == {"stays"}
