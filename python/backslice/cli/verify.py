"""backslice verify: random slice gradients in a framework."""

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..verify import Outcome, verify
from ..verify.frameworks import FRAMEWORKS
from . import MISUSED, Failure, Usage


class Missing(Failure):
    exit_code = MISUSED


def run(framework: str, seed: int, seconds: float, out: Console) -> Outcome:
    """Run the programs, and print each deviation when it is found."""
    if framework not in FRAMEWORKS:
        raise Usage(f"FRAMEWORK is {framework!r}, expected {', '.join(FRAMEWORKS)}")
    if not 0 < seconds < float("inf"):
        raise Usage(f"--seconds is {seconds:g}, expected a positive number")
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task, shown = progress.add_task(f"importing {framework}", total=None), 0

        def show(outcome: Outcome) -> None:
            nonlocal shown
            progress.update(task, description=_counts(outcome))
            for deviation in outcome.deviations[shown:]:
                out.print(Text(f"{deviation.title}: {deviation.reason}", "bold"))
                out.print(Text(deviation.code))
            shown = len(outcome.deviations)

        try:
            outcome = verify(framework, seed, seconds, show)
        except ImportError as error:
            raise Missing(str(error)) from None
        show(outcome)
    out.print(Text(f"{framework}: {_counts(outcome)}"))
    return outcome


def _counts(outcome: Outcome) -> str:
    count = len(outcome.deviations)
    return f"{outcome.programs} programs, {count} deviation{'' if count == 1 else 's'}"
