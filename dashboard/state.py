"""What a reader has selected. The only file that knows session keys and URL parameters.

Everything selected lives in the URL, by id and not by label, so a copied address shows the same view. The address is the truth: a widget
follows it when a link or the back button changes it, and writes to it when a person moves the widget. A value equal to its default leaves
the address. Unknown values in an address fall back to the default instead of failing.

Pages read with `param`, `params`, `choice`, `choices`, `upcoming` or draw a bound widget with `select`, `multiselect`, `segmented`, `text`,
`number`, `toggle`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

_WIDGET = "url:"  # session key of the widget bound to a parameter
_SEEN = "seen:"  # what the address held when the widget was last drawn
_PAGE = "page"


def enter(page: str) -> None:
    """Called once a run by app.py: the widgets of another page, which may share parameter names, are forgotten."""
    if st.session_state.get(_PAGE) != page:
        for key in [key for key in st.session_state if str(key).startswith((_WIDGET, _SEEN))]:
            del st.session_state[key]
        st.session_state[_PAGE] = page


def dark() -> bool:
    """Whether this reader sees the dark theme."""
    return st.context.theme.type == "dark"


# --- reading and writing the address -------------------------------------------------------------------------------------------------


def param(name: str, default: str = "") -> str:
    """The text of a URL parameter."""
    return st.query_params.get(name, default)


def params(name: str) -> list[str]:
    """All values of a repeated URL parameter, in order; an empty list where it is missing."""
    return st.query_params.get_all(name)


def set_param(name: str, value: str | Sequence[str] | None) -> None:
    """Write a URL parameter; None or an empty list removes it. Writing what is there already does nothing."""
    values = [] if value is None else [value] if isinstance(value, str) else list(value)
    if values == params(name):
        return
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]


def choice(name: str, options: Sequence[str], default: str | None = None) -> str:
    """The option that the address names; `default`, or else the first option, where it names none of them. "" without options."""
    value = param(name)
    if value in options:
        return value
    return _first(options, default)


def upcoming(name: str, options: Sequence[str], default: str | None = None) -> str:
    """What `select` or `segmented` will return when it is drawn further down with the same arguments."""
    key = _WIDGET + name
    moved = key not in st.session_state or st.session_state.get(_SEEN + name) != params(name) or st.session_state[key] not in options
    return choice(name, options, default) if moved else st.session_state[key]


def choices(name: str, options: Sequence[str], default: Sequence[str] = ()) -> list[str]:
    """The options that the address names, in its order. `?name=` (an empty value) means: none of them, on purpose."""
    values = params(name)
    return [value for value in dict.fromkeys(values) if value in options] if values else [value for value in default if value in options]


def ticket(name: str) -> Any:
    """A value that a page keeps for this reader between two runs and no link should carry."""
    return st.session_state.get(f"keep:{name}")


def set_ticket(name: str, value: Any) -> None:
    st.session_state[f"keep:{name}"] = value


def carried(name: str, options: Sequence[str]) -> str:
    """A choice that goes along from page to page: what the address says, else what it was, else the first option."""
    if (asked := param(name)) in options:
        set_ticket(name, asked)
    return ticket(name) or options[0]


def uploaded(key: str) -> Any:
    """The file in the uploader of that key, None while there is none."""
    return st.session_state.get(key)


# --- widgets bound to the address ----------------------------------------------------------------------------------------------------


def select(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, format_func: Callable[[str], str] = str, **look: Any
) -> str:
    """A select box bound to URL parameter `name`. Returns "" when there are no options."""
    if not options:
        st.selectbox(label, ["–"], disabled=True, **look)
        return ""
    first = _first(options, default)
    key = _follow(name, choice(name, options, first), valid=lambda value: value in options)
    value = st.selectbox(label, options, key=key, format_func=format_func, **look)
    _write(name, [value], [first])
    return value


def select_into(label: str, name: str, options: Mapping[str, str], **look: Any) -> None:
    """A select box that writes one of `options` (titles by value) to URL parameter `name`, which another widget shows as well; it is empty
    while the address says anything else."""
    key = f"{_WIDGET}{name}:into"
    st.session_state[key] = param(name) if param(name) in options else None

    def fill() -> None:
        set_param(name, st.session_state[key])

    st.selectbox(label, list(options), index=None, key=key, format_func=options.__getitem__, on_change=fill, **look)


def multiselect(
    label: str,
    name: str,
    options: Sequence[str],
    *,
    default: Sequence[str] = (),
    format_func: Callable[[str], str] = str,
    pills: bool = False,
    **look: Any,
) -> list[str]:
    """A multiple choice bound to URL parameter `name`, drawn as pills where there are few options."""
    first = [value for value in default if value in options]
    if not params(name) and st.session_state.get(f"{_SEEN}{name}:default", first) != first:
        st.session_state.pop(_WIDGET + name, None)  # nobody chose: what there is to choose from changed, and so did the default
    st.session_state[f"{_SEEN}{name}:default"] = first
    key = _follow(name, choices(name, options, first), valid=lambda values: set(values) <= set(options))
    if pills:
        values = list(st.pills(label, options, selection_mode="multi", key=key, format_func=format_func, wrap=True, **look) or [])
    else:
        values = st.multiselect(label, options, key=key, format_func=format_func, **look)
    _write(name, values or [""], first or [""])
    return values


def segmented(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, format_func: Callable[[str], str] = str, **look: Any
) -> str:
    """A row of exclusive buttons bound to URL parameter `name`; one of them is always on."""
    first = _first(options, default)
    key = _follow(name, choice(name, options, first), valid=lambda value: value in options)
    value = st.segmented_control(label, options, key=key, format_func=format_func, required=True, **look) or first
    _write(name, [value], [first])
    return value


def carried_segmented(label: str, name: str, options: Sequence[str], *, format_func: Callable[[str], str] = str, **look: Any) -> None:
    """Buttons for a choice that is read with `carried`; the address says it on every page, unless it is the first option."""
    key = f"carry:{name}"

    def keep() -> None:
        value = st.session_state[key]
        set_ticket(name, value)
        set_param(name, None if value == options[0] else value)

    st.session_state[key] = carried(name, options)
    keep()
    st.segmented_control(label, options, key=key, format_func=format_func, required=True, on_change=keep, **look)


def slider(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, format_func: Callable[[str], str] = str, **look: Any
) -> str:
    """A slider over named stops, bound to URL parameter `name`."""
    first = _first(options, default)
    key = _follow(name, choice(name, options, first), valid=lambda value: value in options)
    value = st.select_slider(label, options, key=key, format_func=format_func, **look)
    _write(name, [value], [first])
    return value


def span(label: str, low: str, high: str, options: Sequence[str], **look: Any) -> tuple[str, str]:
    """A slider with two ends over named stops, bound to URL parameters `low` and `high`; it spans all stops at first."""
    first, last = options[0], options[-1]
    ends = choice(low, options, first), choice(high, options, last)
    if options.index(ends[0]) > options.index(ends[1]):
        ends = first, last
    # Two ends must be the widget's start value, which Streamlit reads once: where the address moved, another widget takes its place.
    key = f"{_SEEN}{low}:{high}"
    number, start, stops = st.session_state.get(key, (0, ends, tuple(options)))
    if stops != tuple(options) or any(st.session_state.get(_SEEN + name, params(name)) != params(name) for name in (low, high)):
        number, start = number + 1, ends
    st.session_state[key] = number, start, tuple(options)
    least, most = st.select_slider(label, options, value=start, key=f"{_WIDGET}{low}:{high}:{number}", **look)
    _write(low, [least], [first])
    _write(high, [most], [last])
    return least, most


def text(label: str, name: str, *, default: str = "", **look: Any) -> str:
    """A line of text bound to URL parameter `name`."""
    key = _follow(name, param(name, default))
    value = st.text_input(label, key=key, **look) or ""
    _write(name, [value], [default])
    return value


def number(label: str, name: str, *, default: float | int, **look: Any) -> float | int:
    """A number field bound to URL parameter `name`; whole numbers where `default` is one."""
    kind = type(default)
    try:
        start = kind(param(name, str(default)))
    except ValueError:
        start = default
    low, high = look.get("min_value"), look.get("max_value")
    if (low is not None and start < low) or (high is not None and start > high):
        start = default
    key = _follow(name, start)
    value = st.number_input(label, key=key, **look)
    value = default if value is None else value
    _write(name, [repr(value)], [repr(default)])
    return value


def toggle(label: str, name: str, *, default: bool = False, **look: Any) -> bool:
    """A switch bound to URL parameter `name` (1 or 0)."""
    key = _follow(name, param(name, str(int(default))) == "1")
    value = st.toggle(label, key=key, **look)
    _write(name, [str(int(value))], [str(int(default))])
    return value


def tick(label: str, name: str, option: str, chosen: bool, **look: Any) -> bool:
    """One check box of a group that shares URL parameter `name`; `chosen` is what the address says. End the group with `set_ticked`."""
    key = f"{_WIDGET}{name}:{option}"
    if key not in st.session_state or st.session_state.get(_SEEN + name) != params(name):
        st.session_state[key] = chosen
    return st.checkbox(label, key=key, **look)


def set_ticked(name: str, options: Sequence[str], default: Sequence[str] | None = None) -> None:
    """Write the options of a group of check boxes to the address, nothing for `default`; none of them is written as an empty value."""
    set_param(name, None if default is not None and list(options) == list(default) else list(options) or [""])
    st.session_state[_SEEN + name] = params(name)


def _first(options: Sequence[str], default: str | None) -> str:
    return default if default is not None and default in options else options[0] if options else ""


def _follow(name: str, value: Any, valid: Callable[[Any], bool] = lambda value: True) -> str:
    """Bring the widget in line with the address where that has moved since; its session key."""
    key, seen = _WIDGET + name, _SEEN + name
    if key not in st.session_state or st.session_state.get(seen) != params(name) or not valid(st.session_state[key]):
        st.session_state[key] = value
    return key


def _write(name: str, values: Sequence[str], default: Sequence[str]) -> None:
    set_param(name, None if list(values) == list(default) else list(values))
    st.session_state[_SEEN + name] = params(name)
