"""Shell completion, in a real bash."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
PATH="$0:$PATH"
eval "$(_BACKSLICE_COMPLETE=source_bash backslice)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_backslice_completion backslice
printf '%s\\n' "${COMPREPLY[@]}"
complete -p backslice
"""


def completed(*words: str) -> list[str]:
    """Return the completions that Tab offers after these words."""
    folder = Path(sys.executable).parent
    run = subprocess.run(["bash", "-c", SCRIPT, folder, *words], capture_output=True, text=True, timeout=60)
    *offered, registered = run.stdout.splitlines()
    # otherwise bash completes files
    assert registered == "complete -o default -F _backslice_completion backslice", run.stderr
    assert run.stderr == ""
    return offered


@pytest.mark.parametrize(
    "words, offered",
    [
        (("backslice", "ex"), ["explain", "explore"]),
        (("backslice", "s"), ["slice", "sparse-grad"]),
        (("backslice", "convert", "4,6", "1", "--t"), ["--tf", "--to"]),
        (("backslice", "convert", "4,6", "1", "--to", ""), ["python", "tf", "onnx", "all"]),
        (
            ("backslice", "bench", "--peer", "t"),
            ["tensorflow", "tensorflow_with_backslice", "torch", "torch_with_backslice"],
        ),
        (("backslice", "sparse-grad", "a.npz", "--order", "i"), ["in_order"]),
        (("backslice", "grad", "dy.npy", "--dtype", "b"), ["bfloat16"]),
        (("backslice", "grad", "d"), [""]),
    ],
    ids=lambda words: " ".join(words),
)
def test_bash_completes_commands_options_and_values(words, offered):
    assert completed(*words) == offered


def test_the_script_is_shown_for_the_shell_that_asks():
    command = 'PATH="$0:$PATH"; backslice --show-completion; true'
    run = subprocess.run(["bash", "-c", command, Path(sys.executable).parent], capture_output=True, text=True)
    assert "complete -o default -F _backslice_completion backslice" in run.stdout, run.stderr
