"""An array that is divided between two processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        return int(listening.getsockname()[1])


def test_each_process_computes_its_own_shards() -> None:
    program, address = Path(__file__).with_name("one_of_two_processes.py"), f"localhost:{free_port()}"
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    running = [
        subprocess.Popen(
            [sys.executable, str(program), address, str(number)],
            env=os.environ | {"XLA_FLAGS": flags}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        for number in range(2)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=200)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert all("both halves are right" in output for output in outputs)
