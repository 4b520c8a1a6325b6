"""A folder in the user's cache for libraries that this package compiles: private, since what lies there is executed."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path


class NotPrivateError(RuntimeError):
    """Somebody else could have written what lies there."""


def folder() -> Path:
    """The folder, which may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "backslice" / "tensorflow"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # users of containers may have none
        raise NotPrivateError("there is no home folder to keep libraries in: set XDG_CACHE_HOME or HOME") from None


def make() -> Path:
    """The folder, made now if it does not exist."""
    folder().parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder().mkdir(mode=0o700)
    check()
    return folder()


def check() -> None:
    """Check that the folder is the user's own, and that nobody else can write to it or replace it."""
    _check(folder(), forbidden=0o077)
    _check(folder().parent, forbidden=0o022)


def find(name: str) -> Path | None:
    """A file in the folder, if it is there and the user's own."""
    path = folder() / name
    if not os.path.lexists(path):
        return None
    check()
    _check(path, forbidden=0o022, is_kind=stat.S_ISREG)
    return path


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time. The lock ends with the process, however that ends."""
    descriptor = os.open(make() / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _check(path: Path, forbidden: int, is_kind=stat.S_ISDIR) -> None:  # type: ignore[no-untyped-def]
    found = path.lstat()
    if not is_kind(found.st_mode):
        raise NotPrivateError(f"{path} is not a plain file or folder: remove it")
    if found.st_uid != os.geteuid():
        raise NotPrivateError(f"{path} belongs to user {found.st_uid}, not to you ({os.geteuid()}): remove it")
    if found.st_mode & forbidden:
        mode = stat.S_IMODE(found.st_mode)
        raise NotPrivateError(
            f"{path} has mode {mode:04o}, so that others could have written there: remove it, or set "
            f"XDG_CACHE_HOME to a folder of your own"
        )
