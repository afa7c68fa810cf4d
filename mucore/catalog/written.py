"""What is written in a file of a user's own: values read off its syntax tree, and nothing is run.

A value is a literal, a collection of values, arithmetic with numbers, the name of a value above it,
or a call of a class of cards, or of frozenset, tuple, list, set or dict, with values alone.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mucore.catalog import cards

MOST_BYTES = 1_000_000  # of a file; mucore's longest has a hundredth of that
_CLASSES: Mapping[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (cards.MethodCard, cards.Parameter, cards.Footprint, cards.Between, cards.Among)
}
_COLLECTIONS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (frozenset, tuple, list, set, dict)
}
_ARITHMETIC: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_SIGNS: Mapping[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


class Unreadable(Exception):
    """What is written is no value; the text, without a full stop, says what stands there."""


def parse(source: bytes, name: str) -> ast.Module:
    """The syntax tree of a Python file. Raises `Unreadable` with the reason and the line."""
    if len(source) > MOST_BYTES:
        raise Unreadable(f"it has {len(source):,} bytes, and {MOST_BYTES:,} are allowed")
    try:
        return ast.parse(source, name)
    except SyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        raise Unreadable(f"{error.msg}{line}") from None
    except ValueError as error:
        raise Unreadable(str(error)) from None
    except (RecursionError, MemoryError):
        raise Unreadable("it is nested too deeply") from None


class Names:
    """What the names of a file mean, as far as that can be known without running it."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._calls = {**_COLLECTIONS}
        self._modules: set[str] = set()

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """Take up the classes of cards, and the modules that hold them."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                if _holds_cards(alias.name):
                    self._modules.add(alias.asname or alias.name)
            elif _holds_cards(node.module or "") and not node.level:
                if alias.name in _CLASSES:
                    self._calls[alias.asname or alias.name] = _CLASSES[alias.name]
                elif isinstance(getattr(cards, alias.name, None), frozenset):
                    self._values[alias.asname or alias.name] = getattr(cards, alias.name)
            elif (node.module, alias.name) == ("mucore", "catalog"):
                self._modules.add(alias.asname or alias.name)

    def assigned(self, name: str, node: ast.expr) -> None:
        """Take up a constant; what the file computes for itself stays unknown."""
        try:
            self._values[name] = self.value(node)
        except Unreadable:
            self._values.pop(name, None)

    def value(self, node: ast.expr) -> Any:
        """The value that is written. Raises `Unreadable` for anything that only running the file
        would give.
        """
        try:
            return self._value(node)
        except RecursionError:
            raise Unreadable("it is nested too deeply") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Unreadable(f"{type(error).__name__}: {error}".rstrip(".")) from None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._values:
                return self._values[name]
            case ast.Name(id=name):
                raise Unreadable(
                    f"the card uses the name {name}, which only running the file would give"
                )
            case ast.Tuple(elts=parts):
                return tuple(self._all(parts))
            case ast.List(elts=parts):
                return self._all(parts)
            case ast.Set(elts=parts):
                return set(self._all(parts))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return dict(zip(self._all(filter(None, keys)), self._all(values), strict=True))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
                return _SIGNS[type(op)](_number(self._value(operand)))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _ARITHMETIC[type(op)](
                    _number(self._value(left)), _number(self._value(right))
                )
            case ast.Call(func=func, args=args, keywords=named) if all(each.arg for each in named):
                return self._called(func)(
                    *self._all(args), **{each.arg or "": self._value(each.value) for each in named}
                )
        raise Unreadable(
            f"the card uses {type(node).__name__} (line {node.lineno}), which only running the "
            "file would give"
        )

    def _all(self, nodes: Iterable[ast.expr]) -> list[Any]:
        return [self._value(node) for node in nodes]

    def _called(self, func: ast.expr) -> Callable[..., Any]:
        match func:
            case ast.Name(id=name) if name in self._calls:
                return self._calls[name]
            case ast.Attribute(value=module, attr=name) if (
                name in _CLASSES and ast.unparse(module) in self._modules
            ):
                return _CLASSES[name]
        raise Unreadable(
            f"the card calls {ast.unparse(func)[:60]} (line {func.lineno}), which only running the "
            "file could do"
        )


def _holds_cards(module: str) -> bool:
    return module in ("mucore.catalog", "mucore.catalog.cards")


def _number(value: Any) -> int | float:
    if not isinstance(value, int | float):
        raise TypeError(f"arithmetic is for numbers, and {value!r} is none")
    return value
