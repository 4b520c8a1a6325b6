"""The modules that `import backslice` imports, which determine its time."""

import subprocess
import sys


def imported_modules():
    """Return the modules that the package imports over NumPy and ml_dtypes."""
    program = """
import sys, numpy, ml_dtypes
before = set(sys.modules)
import backslice
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_no_large_module_is_imported():
    others = {name for name in imported_modules() if name.partition(".")[0] != "backslice"}
    assert others <= {"__future__", "atexit", "reprlib", "threading"}


def test_parts_of_the_package_are_imported_when_they_are_used():
    own = [name for name in imported_modules() if name.partition(".")[0] == "backslice"]
    assert len(own) <= 15, own
