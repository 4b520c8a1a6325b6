"""Paths of the C interface and the shared library, for programs that are compiled against this package.

The library is the one that this package uses itself: whoever loads it shares its threads and its pool of memory.
"""

import os.path  # not pathlib, which would make the import of the package longer

from .errors import FailedPreconditionError
from .suggestions import checked_keywords

_PACKAGE = os.path.dirname(os.path.realpath(__file__))


def _linkable(*parts: str) -> str:
    """Return the path of a file or folder that pip installs."""
    path = os.path.join(_PACKAGE, *parts)
    if not os.path.exists(path):
        raise FailedPreconditionError(
            f"{path} does not exist: this build of backslice has its library inside the extension module. "
            "Install the package with pip, which builds the shared library"
        )
    return path


@checked_keywords
def get_include() -> str:
    """Return the folder of the C headers, for a compiler's ``-I``.

    A program includes ``backslice/c/backslice.h``. The headers of C++ are not there, since a program in C++ needs a
    library that its own compiler made.

    Returns
    -------
    str
        An absolute path.

    Raises
    ------
    FailedPreconditionError
        The package was not installed by pip, and has no headers.
    """
    return _linkable("include")


@checked_keywords
def get_library() -> str:
    """Return the shared library that this package uses, to link with or for ``ctypes.CDLL``.

    Returns
    -------
    str
        An absolute path.

    Raises
    ------
    FailedPreconditionError
        The package was not installed by pip, and has no shared library.

    Examples
    --------
    >>> import ctypes
    >>> library = ctypes.CDLL(bs.get_library())
    >>> library.backslice_abi_version()
    1
    """
    folder = os.path.join(_PACKAGE, "lib")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    libraries = sorted(name for name in names if name.startswith("libbackslice.so."))
    return _linkable("lib", libraries[0] if libraries else "libbackslice.so")


@checked_keywords
def get_cmake_dir() -> str:
    """Return the folder of the CMake package, for ``-D backslice_ROOT``.

    ``find_package(backslice)`` then has the target ``backslice::c``.

    Returns
    -------
    str
        An absolute path.

    Raises
    ------
    FailedPreconditionError
        The package was not installed by pip, and has no CMake package.
    """
    return _linkable("lib", "cmake", "backslice")
