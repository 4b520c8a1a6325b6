"""The cached environments of the peers."""

import subprocess
import sys

from backslice.bench import venvs

PROGRAM = """
from backslice.bench import venvs
venvs.REQUIREMENTS = {"nothing": ["pip"]}
print(venvs.ensure("nothing"))
"""


def test_processes_that_want_the_same_environment_make_it_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    started = [subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate()[0].splitlines() for process in started]

    assert [process.returncode for process in started] == [0, 0, 0]
    assert sum(len(lines) for lines in printed) == 4, "one of the three says that it installs"
    (python,) = {lines[-1] for lines in printed}
    assert subprocess.run([python, "-c", "import pip"]).returncode == 0


def test_an_interrupted_environment_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(venvs, "REQUIREMENTS", {"nothing": ["pip"]})
    venvs._folder("nothing").mkdir(parents=True)

    assert venvs.find("nothing") is None
    assert venvs.ensure("nothing").exists()
