"""The temporary file for a result, beside its target. Its process holds a lock on it. So files of killed commands
differ from files that another command is writing."""

import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import leaving, streams


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Yield an empty file, which is removed at the end unless it was renamed."""
    path, handle = _made(target)
    try:
        yield path
    finally:
        os.close(handle)
        with suppress(FileNotFoundError):
            os.unlink(path)
        leaving.unfinished(None)


def remove_stale(target: Path) -> None:
    """Remove, and report, temporary files that killed commands left for this target."""
    stale = re.compile(rf"\.{re.escape(_stem(target))}\.[0-9a-f]{{8}}\.part")
    with os.scandir(target.parent) as entries:
        found = sorted(entry.path for entry in entries if stale.fullmatch(entry.name))
    for path in found:
        with suppress(OSError):  # it is locked, gone, or another user's, or there are no locks
            if _remove_unless_locked(path):
                streams.say(f"removed {path}, which a command that was killed had left behind")


def _made(target: Path) -> tuple[Path, int]:
    """Return a new file and the handle that holds its lock."""
    while True:
        path = target.parent / f".{_stem(target)}.{secrets.token_hex(4)}.part"
        leaving.unfinished(path)  # before the file exists, so that no signal comes in between
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another command removed it as stale before it was locked


def _remove_unless_locked(path: str) -> bool:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or _may_be_about_to_be_locked(found):
            return False
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
        return True
    finally:
        os.close(handle)


def _may_be_about_to_be_locked(found: os.stat_result) -> bool:
    return found.st_size == 0 and time.time() - found.st_mtime < 1


def _stem(target: Path) -> str:
    """Return the target's name, shortened so that the temporary name is not too long for the file system."""
    return os.fsdecode(os.fsencode(target.name)[:200])
