"""Runs inside a peer's process: times the workloads that come over the pipe, until it closes.

`python worker.py MODULE` with a module of the folder peers. Needs nothing of backslice, unless that is the peer.
"""

import importlib
import json
import os
import resource
import sys
import time

SLOW = 5.0  # seconds: a call that takes longer is made once
ENOUGH = 0.4  # seconds of calls for one result
QUEUED = 10  # calls at once on a device, so that it, and not the process that queues them, is timed
PREPARE = {"container": "prepare_container", "dask": "prepare_dask"}  # by kind; all others: prepare


def on_the_clock(call, repeat):
    """How many seconds so many calls take. Peers on devices have their own."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return time.perf_counter() - start


def best_time(call, seconds_of, enough):
    """The best of several calls, in seconds."""
    best, spent, calls = float("inf"), 0.0, 0
    at_once = 1 if seconds_of is on_the_clock else QUEUED
    while calls < 3 or spent < enough:
        repeat = at_once if best > 1e-4 else 100
        seconds = seconds_of(call, repeat)
        best, spent, calls = min(best, seconds / repeat), spent + seconds, calls + 1
        if seconds > SLOW:
            break
    return best


def times(call, peer, enough):
    """Return the time of a call, and separately the time of compiling before the first call."""
    seconds_of = getattr(peer, "seconds_of", on_the_clock)
    compiles = getattr(peer, "COMPILES", False)
    first = seconds_of(call, 1)  # warm-up: compilation, first touches
    seconds = first if first > SLOW and not compiles else best_time(call, seconds_of, enough)
    return {"seconds": seconds, **({"compiling": max(first - seconds, 0.0)} if compiles else {})}


def answer(peer, workload):
    try:
        prepare = getattr(peer, PREPARE.get(workload["kind"], "prepare"), None)
        call = prepare and prepare(workload)
        if call is None:
            return {"unsupported": True}
        describe = getattr(peer, "describe", lambda _: {})
        return {**times(call, peer, workload.get("enough", ENOUGH)), "how": describe(workload)}
    except MemoryError:
        return {"error": "out of memory"}
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        lacking = any(word in text.lower() for word in ("memory", "oom", "alloc", "resource"))
        return {"error": "out of memory" if lacking else text[:300]}


def main():
    limit = int(os.environ.get("BACKSLICE_BENCH_MEMORY", "0"))
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a framework must not mix with the replies
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
    peer = importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":  # not in the processes that a peer starts
    main()
