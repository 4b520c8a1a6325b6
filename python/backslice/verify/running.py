"""Runs the programs of a framework in worker processes, and collects those with a wrong result."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import InvalidArgumentError
from .frameworks import FRAMEWORKS

WAYS = ("plain", "adapter")
MOST_CRASHES = 20
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}


@dataclass(frozen=True)
class Deviation:
    """A program whose result is not that of the exact rules.

    Attributes
    ----------
    title : str
        A description of the program.
    reason : str
        How its result differs, or its error.
    code : str
        The program. It runs as it is, and computes `found` and `expected`.
    """

    title: str
    reason: str
    code: str


@dataclass
class Outcome:
    """The result of :func:`verify`.

    Attributes
    ----------
    programs : int
        How many programs ran.
    deviations : list of Deviation
        The programs with an unexpected result.
    """

    programs: int = 0
    deviations: list[Deviation] = field(default_factory=list)


def verify(
    framework: str, seed: int = 0, seconds: float = 10, on_program: Callable[[Outcome], object] = lambda _: None
) -> Outcome:
    """Compare random slice gradients of a framework with the exact rules of this library.

    Half of the time, the programs run with backslice's adapter. They run in other processes, which a framework may end.

    Parameters
    ----------
    framework : {"jax", "onnxruntime", "tensorflow", "torch"}
        The framework that runs the programs.
    seed : int, default: 0
        A seed always gives the same programs.
    seconds : float, default: 10
        For how long, without the time to import the framework.
    on_program : callable, optional
        Called with the outcome so far after every program.

    Returns
    -------
    Outcome

    Raises
    ------
    InvalidArgumentError
        The framework is not one of these.
    ImportError
        The framework is missing or broken.

    Examples
    --------
    >>> from backslice.verify import verify
    >>> outcome = verify("torch", seconds=5)
    >>> assert outcome.deviations == []
    """
    if framework not in FRAMEWORKS:
        raise InvalidArgumentError(f"framework is {framework!r}, expected one of {', '.join(FRAMEWORKS)}")
    outcome = Outcome()
    for way in WAYS:
        _run_way(framework, way, seed, seconds / len(WAYS), outcome, on_program)
    return outcome


def _run_way(
    framework: str, way: str, seed: int, seconds: float, outcome: Outcome, on_program: Callable[[Outcome], object]
) -> None:
    """A program that ends the process is a deviation, and the next process goes on behind it."""
    end, first = None, 0
    for _ in range(MOST_CRASHES):
        remaining = seconds if end is None else end - time.monotonic()
        command = [
            sys.executable,
            "-m",
            "backslice.verify.worker",
            framework,
            way,
            str(seed),
            str(first),
            str(remaining),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **QUIET}, text=True
        ) as worker:
            running: dict[str, Any] | None = None
            assert worker.stdout is not None
            for line in worker.stdout:
                message = json.loads(line)
                if "missing" in message:
                    raise ImportError(message["missing"])
                if end is None:
                    end = time.monotonic() + seconds
                if "end" in message:
                    return
                if "code" in message:
                    running = message
                    continue
                assert running is not None
                _add(outcome, way, running, message["deviation"])
                running = None
                on_program(outcome)
        if running is None:
            raise ImportError(f"{framework} cannot be used: its import ended the process with code {worker.returncode}")
        _add(outcome, way, running, f"the process ended with code {worker.returncode}")
        first = running["number"] + 1


def _add(outcome: Outcome, way: str, program: dict[str, Any], reason: str | None) -> None:
    outcome.programs += 1
    if reason is not None:
        title = f"{program['title']}, {'with backslice' if way == 'adapter' else 'without backslice'}"
        outcome.deviations.append(Deviation(title, reason, program["code"]))
