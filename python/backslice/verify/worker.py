"""Runs random programs in a process of its own, since a framework may end it. Every line that it prints is JSON.

python -m backslice.verify.worker FRAMEWORK adapter|plain SEED FIRST SECONDS
"""

import json
import os
import random
import sys
import time
import warnings
from dataclasses import asdict
from importlib import import_module
from itertools import count

from ..frameworks import imported
from .frameworks import FRAMEWORKS


def main(framework: str, way: str, seed: str, first: str, seconds: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of a framework is not an answer
    warnings.simplefilter("ignore")
    try:
        for module in FRAMEWORKS[framework]:
            imported(module, f"backslice verify {framework} needs {module}")
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=answers)
        return
    make = import_module(f".{framework}", __package__).random_program
    end = time.monotonic() + float(seconds)
    for number in count(int(first)):
        if time.monotonic() >= end:
            break
        program = make(random.Random(f"{framework} {way} {seed} {number}"), way == "adapter")
        print(json.dumps({"number": number, **asdict(program)}), file=answers)
        print(json.dumps({"deviation": program.deviation()}), file=answers)
    print(json.dumps({"end": True}), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
