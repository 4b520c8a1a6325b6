"""A framework in a child process. Some inputs kill it: that is recorded, and it is restarted."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from backslice.bench.venvs import ensure
from numpy.typing import NDArray
from wire import pack, receive, send, unpack


@dataclass
class Reply:
    arrays: tuple[NDArray[Any], ...] | None = None  # one per output
    error: str | None = None
    crashed: bool = False

    @property
    def array(self) -> NDArray[Any] | None:
        """Return the first output."""
        return None if self.arrays is None else self.arrays[0]


@dataclass
class Peer:
    venv: str
    script: str
    environment: dict[str, str] = field(default_factory=dict)
    crashes: int = 0
    process: Any = field(default=None, init=False)

    def start(self) -> None:
        quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
        command = [str(ensure(self.venv)), str(Path(__file__).with_name(self.script))]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | quiet | self.environment,
        )  # fmt: skip
        if receive(self.process.stdout) != "ready":
            sys.exit(f"{self.script} did not start")

    def call(self, op: str, arrays: dict[str, NDArray[Any]], **options: Any) -> Reply:
        if self.process is None:
            self.start()
        try:
            packed = {name: pack(np.asarray(array)) for name, array in arrays.items()}
            send(self.process.stdin, {"op": op, "arrays": packed, "options": options})
            kind, content = receive(self.process.stdout)
        except (EOFError, BrokenPipeError):
            self.stop()
            self.crashes += 1
            return Reply(crashed=True)
        return Reply(arrays=tuple(map(unpack, content))) if kind == "ok" else Reply(error=content)

    @staticmethod
    def replies(many: Reply) -> list[Reply]:
        """Split the result of a call that ran many operations, as ragged_index_program.play_all joins them."""
        replies: list[Reply] = []
        assert many.arrays is not None, many
        left = list(many.arrays)
        while left:
            count = int(left.pop(0))
            outputs = [left.pop(0) for _ in range(abs(count))]
            replies.append(Reply(error=str(outputs[0][0])) if count < 0 else Reply(arrays=tuple(outputs)))
        return replies

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
