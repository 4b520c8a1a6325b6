"""All containers at once, of many dtypes, compared with plain models, with ordinary and hostile arguments.

Every refusal is one of our errors, and changes nothing.

BACKSLICE_STATE_SECONDS=60 searches for that long, with another seed each time.
"""

import os
import time

import pytest
from container_rules_arrays import ArrayRules
from container_rules_buffer import BufferRules
from container_rules_ragged import RaggedRules
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


class Containers(BufferRules, ArrayRules, RaggedRules, RuleBasedStateMachine):
    """Ordinary rules must agree with the models, whether they accept or refuse. Hostile rules must be refused. The
    invariants must hold after every step, above all after refused ones."""


SECONDS = float(os.environ.get("BACKSLICE_STATE_SECONDS", "0"))
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def test_containers_agree_with_their_models():
    run_state_machine_as_test(
        Containers, settings=settings(derandomize=True, max_examples=150, stateful_step_count=40, **QUIET)
    )


@pytest.mark.skipif(not SECONDS, reason="runs for as long as BACKSLICE_STATE_SECONDS says, as in `make fuzz`")
def test_search_for_longer():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        run_state_machine_as_test(
            Containers, settings=settings(database=None, max_examples=100, stateful_step_count=50, **QUIET)
        )
