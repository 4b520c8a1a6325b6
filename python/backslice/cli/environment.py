"""The environment variables of the library, for people who wonder why it does what it does."""

import os
import re

from .. import simd_targets


def problems() -> list[str]:
    """What the library refuses, in its first operation; later ones go on as if the variable were not set, as do those
    that compute nothing."""
    found = []
    threads, target = (os.environ.get(f"BACKSLICE_{name}", "") for name in ("NUM_THREADS", "FORCE_TARGET"))
    if threads and not (re.fullmatch("[0-9]+", threads) and 1 <= int(threads[:20]) < 1 << 31):
        found.append(f'BACKSLICE_NUM_THREADS is "{threads}", expected a whole number of threads, at least 1')
    if target and target not in simd_targets():
        targets = ", ".join(simd_targets())
        found.append(f'BACKSLICE_FORCE_TARGET is "{target}", which is not a target of this machine: {targets}')
    return found
