"""Random programs on the device, compared bit for bit, also with operations on several streams."""

import os

import torch
from backslice import verify

CASES = int(os.environ.get("BACKSLICE_ORACLE_CASES", "600"))


def test_programs_of_the_verifier() -> None:
    report = verify.torch_programs(range(CASES), "cuda")
    assert report.different == [] and report.taken > report.programs


def test_programs_of_the_verifier_on_a_side_stream() -> None:
    with torch.cuda.stream(torch.cuda.Stream()):
        report = verify.torch_programs(range(CASES, CASES + CASES // 4), "cuda")
    assert report.different == [] and report.taken > report.programs
