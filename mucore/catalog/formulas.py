"""Formulas on cards, such as "4 * retain * features + state": read as arithmetic, never run as
code.

They may use numbers, texts to compare with, + - * / ** and comparisons, `A if B else C`, `and`,
`or`, `not`, `in`, the functions min, max and ceil, and `(name := ...)` for a value that comes
twice. Names are those of `NAMES` and the method's own parameters.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from mucore.errors import BadValue

# What formulas can count with, beside parameters.
NAMES: Mapping[str, str] = {
    "weights": "bytes of all weights",
    "state": "bytes of weights and statistics: a copy of the network",
    "moments": "bytes of the second moments of every layer's inputs, in float64",
    "widest": "weights of one output, in the layer that has most",
    "image": "bytes of an image in float32",
    "pixels": "pixels of an image",
    "features": "inputs of the classifier",
    "channels": "outputs of all convolutions and linear layers",
    "classes": "classes, or attributes",
    "leaving": "classes that go entirely",
    "train": "training samples",
    "forget": "samples to forget",
    "retain": "samples to retain",
    "validation": "validation samples",
    "chunk": "samples of which curvature takes products at once",
    "recipe_epochs": "epochs of the recipe",
    "recipe_batch": "batch size of the recipe",
}
_ARITHMETIC: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    # in floating point, where a tower of powers overflows at once instead of filling the memory
    ast.Pow: lambda base, power: float(base) ** power,
}
_COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"min": min, "max": max, "ceil": math.ceil}


def evaluate(text: str, values: Mapping[str, Any]) -> float:
    """The number that a formula comes to. Raises `BadValue` for what is no formula, or a name that
    `values` lacks.
    """
    try:
        return float(_value(_parsed(text), dict(values)))
    except (RecursionError, MemoryError):
        raise BadValue(
            "A formula is nested too deeply to be read. Write it in fewer steps."
        ) from None
    except (SyntaxError, TypeError, ValueError, ArithmeticError, KeyError) as error:
        said = f"the name {error} is not known" if isinstance(error, KeyError) else str(error)
        raise BadValue(
            f"The formula {text!r} cannot be computed: {said}. It may use {', '.join(NAMES)} and "
            "the method's parameters."
        ) from None


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _value(node: ast.expr, values: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.NamedExpr(target=ast.Name(id=name), value=inner):
            values[name] = _value(inner, values)
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            return _ARITHMETIC[type(op)](
                _number(_value(left, values)), _number(_value(right, values))
            )
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)](_value(left, values), _value(right, values))
        case ast.BoolOp(op=op, values=parts):
            found = None
            for part in parts:
                found = _value(part, values)
                if bool(found) == isinstance(op, ast.Or):
                    return found
            return found
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, values)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, values)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, values) else other, values)
        case ast.Tuple(elts=parts):
            return tuple(_value(part, values) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(part, values) for part in parts))
    raise ValueError(f"{ast.unparse(node)} is no part of a formula")


def _number(value: Any) -> int | float:
    """A text or tuple times a number would fill the memory."""
    if not isinstance(value, int | float):
        raise TypeError(f"arithmetic is for numbers, and {value!r} is none")
    return value
