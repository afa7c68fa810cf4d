"""Formulas on cards, such as "4 * retain * classes + weights": checked to be arithmetic, whatever
else Python could compute.

They may use numbers, texts to compare with, + - * / ** and comparisons, `A if B else C`, `and`,
`or`, `not`, `in`, the functions min, max and ceil, and `(name := ...)` for a value that comes
twice. Names are those of `NAMES` and the method's own parameters.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any

from mucore.errors import BadValue

# What formulas can count with, beside parameters.
NAMES: Mapping[str, str] = {
    "weights": "bytes of all weights",
    "classes": "classes, or attributes",
    "leaving": "wholly forgotten classes",
    "train": "training samples",
    "forget": "samples to forget",
    "retain": "samples to retain",
    "validation": "validation samples",
    "recipe_epochs": "epochs of the recipe",
}
_FUNCTIONS = {"min": min, "max": max, "ceil": math.ceil}
_PARTS = (
    *(ast.Expression, ast.Constant, ast.Name, ast.NamedExpr, ast.Tuple, ast.expr_context),
    *(ast.BinOp, ast.operator, ast.UnaryOp, ast.unaryop),
    *(ast.Compare, ast.cmpop, ast.BoolOp, ast.boolop, ast.IfExp),
)


def evaluate(text: str, values: Mapping[str, Any]) -> float:
    """The number that a formula comes to. Raises `BadValue` for what is no formula, or a name that
    `values` lacks.
    """
    try:
        return float(eval(_compiled(text), {"__builtins__": {}, **_FUNCTIONS}, dict(values)))
    except (
        SyntaxError,
        TypeError,
        ValueError,
        ArithmeticError,
        NameError,
        RecursionError,
    ) as error:
        raise BadValue(
            f"The formula {text!r} cannot be computed: {error}. It may use {', '.join(NAMES)} and "
            "the method's parameters."
        ) from None


@cache
def _compiled(text: str) -> CodeType:
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func) in _FUNCTIONS
        if not (is_call or isinstance(node, _PARTS)):
            raise ValueError(f"{ast.unparse(node)} is no part of a formula")
    return compile(tree, "a formula", "eval")
