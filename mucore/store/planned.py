"""Which code planned a run, and whether this one would make the same of it."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mucore import catalog
from mucore.errors import MucoreError
from mucore.spec import RunSpec


@functools.cache
def revisions() -> dict[str, str]:
    """Eight hexadecimal digits each for the methods and the metrics of this code, by the revisions
    of their cards. A user's own methods are left out: runs name these by their content.
    """
    methods = {card.id: card.revision for card in catalog.METHODS}
    metrics = {card.id: card.revision for card in catalog.metrics()}
    return {"methods": _digest(methods), "metrics": _digest(metrics)}


def gives(spec: Mapping[str, Any], key: str) -> bool:
    """Whether this code gives the run the key that it was planned under."""
    try:
        return RunSpec.model_validate(dict(spec)).key == key
    except (MucoreError, ValidationError):
        return False


def _digest(content: Mapping[str, int]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
