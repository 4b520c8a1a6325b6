"""Deprecated names work, and warn at the caller's line."""

import backslice as bs
import pytest
from backslice import dialects

NAMES = {
    (bs, "TensorArrayContainer"): (bs._core.TensorArrayContainer, "a dict"),
    (bs.cuda, "why_not"): (bs.cuda.unavailable_reason, "unavailable_reason"),
    (dialects, "cannot_be_said"): (dialects.unsupported_reasons, "unsupported_reasons"),
}


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda value: getattr(value, "__name__", value))
def test_a_deprecated_name_works_and_says_what_to_use(module, name):
    value, instead = NAMES[module, name]
    with pytest.warns(DeprecationWarning, match=f"{name} is deprecated and removed in 0.5; use {instead}") as warned:
        assert getattr(module, name) is value
    assert warned[0].filename == __file__
    assert name not in module.__all__


def test_names_that_never_existed_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'backslice' has no attribute 'slise'") as raised:
        bs.slise  # noqa: B018
    assert raised.value.name == "slise" and raised.value.obj is bs  # Python suggests the nearest name
