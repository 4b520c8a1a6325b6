"""Runs every fuzzer from its seed corpus and prints a table; fails if one of them finds something.

    python3 fuzz/run.py --seconds 60 [--jobs 2] [dense sparse ...]

New inputs are kept in build/fuzz/corpus, from which the next run continues.
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
LONGEST_INPUT = 512  # bytes; longer ones are slower and find nothing more
LONGEST_CALL = 25  # seconds; one input that takes longer is a finding


@dataclass
class Outcome:
    name: str
    inputs: str
    coverage: str
    finding: str  # empty if there is none
    artifact: Path | None


def fuzzers() -> list[str]:
    return sorted(
        path.name.removeprefix("fuzz_")
        for path in (BUILD / "fuzz").glob("fuzz_*")
        if os.access(path, os.X_OK) and path.is_file()
    )


def command(name: str, seconds: int) -> list[str]:
    found, learnt = BUILD / "findings" / name, BUILD / "corpus" / name
    for folder in (found, learnt):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-max_len={LONGEST_INPUT}", f"-timeout={LONGEST_CALL}"]
    options += [f"-artifact_prefix={found}/", "-print_final_stats=1", "-rss_limit_mb=2048", "-len_control=0"]
    return [str(BUILD / "fuzz" / f"fuzz_{name}"), *options, str(learnt), str(ROOT / "fuzz" / "corpus" / name)]


def last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text)
    return found[-1] if found else ""


def run(name: str, seconds: int) -> Outcome:
    # Requests for too much memory must be errors in the library, and not end the process.
    environment = os.environ | {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1"}
    done = subprocess.run(
        command(name, seconds), env=environment, stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    (BUILD / "findings" / f"{name}.log").write_text(done.stderr)
    claim = re.search(r"\S+: does not hold: .*|\S+ runtime error: .*|SUMMARY: .*", done.stderr)
    failed = done.returncode != 0
    finding = (claim.group() if claim else f"exit code {done.returncode}") if failed else ""
    artifact = last(r"Test unit written to (\S+)", done.stderr)
    return Outcome(
        name,
        last(r"stat::number_of_executed_units: (\d+)", done.stderr),
        last(r"cov: (\d+)", done.stderr),
        finding,
        Path(artifact) if artifact else None,
    )


def report(outcomes: list[Outcome]) -> None:
    print(f"{'fuzzer':<16}{'inputs':>12}{'coverage':>10}{'findings':>10}")
    for outcome in outcomes:
        print(f"{outcome.name:<16}{outcome.inputs:>12}{outcome.coverage:>10}{int(bool(outcome.finding)):>10}")
    for outcome in outcomes:
        if not outcome.finding:
            continue
        print(f"\n{outcome.name}: {outcome.finding}")
        print(f"  the whole report: {(BUILD / 'findings' / outcome.name).relative_to(ROOT)}.log")
        if outcome.artifact:
            program = (BUILD / "fuzz" / f"fuzz_{outcome.name}").relative_to(ROOT)
            print(f"  to reproduce: {program} {outcome.artifact.relative_to(ROOT)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="for each fuzzer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="fuzzers at once")
    parser.add_argument("names", nargs="*", metavar="fuzzer", help="all, if none is named")
    arguments = parser.parse_args()
    names = arguments.names or fuzzers()
    if unknown := set(names) - set(fuzzers()):
        parser.error(
            f"no such fuzzer: {', '.join(sorted(unknown))}; there are {', '.join(fuzzers()) or 'none, run make fuzz'}"
        )
    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(lambda name: run(name, arguments.seconds), names))
    report(outcomes)
    return int(any(outcome.finding for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
