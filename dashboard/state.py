"""What a reader has selected. The only file that knows session keys and URL parameters.

Everything selected lives in the URL, by id and not by label, so a copied address shows the same
view. The address is the truth: a widget follows it when a link or the back button changes it, and
writes to it when a person moves the widget. A value that a person moves to its default leaves the
address. Unknown values in an address fall back to the default instead of failing. Arriving
somewhere writes nothing, or the back button would lead to where it came from.

A default may depend on another widget. A widget that nobody touched, which the address then does
not name, follows its default; what a person chose stays, also where it happens to be the new
default.

What pages share, `FILTERS`, goes along from page to page: a link that says nothing else gets it
(`going`). A chosen filter stays in the address even where it is the page's default, and so does one
that the page cannot show, for the next page that can.

Pages read with `param`, `params`, `choice`, `choices`, `upcoming` or draw a bound widget with
`select`, `multiselect`, `segmented`, `text`, `number`, `toggle`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.pages import PAGES

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

_WIDGET = "url:"  # session key of the widget bound to a parameter
_SEEN = "seen:"  # what the address held when the widget was last drawn
_DRAWN = "drawn:"  # and the widget
_DEFAULT = "default:"  # the widget's default then
_KIND = "kind:"  # and what it was: a class is a menu where names are known, and a number elsewhere
_PAGE = "page"

FILTERS: Final = (
    "comparison",
    "dataset",
    "model",
    "recipe",
    "scenario",
    "set",
    "hashes",
    "methods",
    "settings",
    "tag",
    "hide",
    "pin",
)
# The pages that keep parameters when a reader comes back without any, and which; pages with the
# same ones share them.
KEPT: Final = {
    **{page.id: FILTERS for page in PAGES if page.group in ("Compare", "Look inside")},
    "start": FILTERS,
    "draw": FILTERS,
    "playground": ("preset", "points", "noise", "seed", "own", "forget", "methods", "played"),
    "lessons": ("lesson", "step", "follow"),
}
# What a page opens on that the address has to say, since without it the address means what it does
# on the command line.
OPENS: Final = {"launch": {"settings": ["tuned"]}}
_SOURCE = "source"
_PRESENT = "present"
FIGURE: Final = "figure"  # which of a page's figures is seen while presenting; the browser's own
# what goes along from page to page, and says nothing about what a page shows
_ALONG: Final = (_SOURCE, _PRESENT)


def enter(page: str) -> None:
    """Called by app.py before the page: the widgets of another page, which may share parameter
    names, are forgotten, and an address that says nothing gets what the reader chose before.
    """
    if st.session_state.get(_PAGE) == page:
        # a link of a page to itself leaves the browser's address as it was
        st.query_params.from_dict(address())
    else:
        for key in [
            key
            for key in st.session_state
            if str(key).startswith((_WIDGET, _SEEN, _DRAWN, _DEFAULT, _KIND))
        ]:
            del st.session_state[key]
        st.session_state[_PAGE] = page
        if param("teacher") == "1":  # what presenting a lesson was called in older addresses
            forget(("teacher",))
            present(True)
        if not set(st.query_params) - {*_ALONG, FIGURE}:
            for name, values in going(page).items():
                set_param(name, values)


def page() -> str:
    """The id of the page that is drawn, "" before any is."""
    return st.session_state.get(_PAGE, "")


def leave(page: str) -> None:
    """Called by app.py after the page: what its address says of the parameters that are kept, and
    of those of methods, which are METHOD.PARAMETER.
    """
    if names := KEPT.get(page):
        kept = [name for name in st.query_params if name in names or "." in name]
        set_ticket(f"kept:{names}", {name: params(name) for name in kept})


def going(page: str) -> dict[str, list[str]]:
    """The parameters with which a reader goes to `page` who asks for nothing else: whose results
    and whether in a talk, what it opens on, and what was chosen before.
    """
    return {**along(), **OPENS.get(page, {}), **(ticket(f"kept:{KEPT.get(page)}") or {})}


def along() -> dict[str, list[str]]:
    """The parameters of every link: whose results a reader chose to see, and whether this is a
    talk.
    """
    return {name: params(name) for name in _ALONG if params(name)}


def link_back() -> str:
    """The whole address that shows this page as it is, without what a talk adds to it."""
    query = {name: params(name) for name in st.query_params if name not in (_PRESENT, FIGURE)}
    bare = str(st.context.url or "").partition("?")[0]
    return f"{bare}?{urlencode(query, doseq=True)}" if query else bare


def presenting() -> bool:
    """Whether the page is shown to a room."""
    return param(_PRESENT) == "1"


def present(on: bool) -> None:
    """Begin or end it. A room is asked anew: what was answered in lessons before is gone."""
    set_param(_PRESENT, "1" if on else None)
    if not on:
        set_param(FIGURE, None)
        return
    for key in [key for key in st.session_state if str(key).startswith("keep:lesson:")]:
        del st.session_state[key]


def reset_filters() -> None:
    """Take every filter out of the address."""
    for name in FILTERS:
        set_param(name, None)


def session() -> str:
    """The id of the browser tab that is served here, "" outside of any. The server gave it, so no
    message from a browser changes it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def dark() -> bool:
    """Whether this reader sees the dark theme."""
    return st.context.theme.type == "dark"


# --- reading and writing the address
# -------------------------------------------------------------------------------------------------


def param(name: str, default: str = "") -> str:
    """The text of a URL parameter."""
    return st.query_params.get(name, default)


def params(name: str) -> list[str]:
    """All values of a repeated URL parameter, in order; an empty list where it is missing."""
    return st.query_params.get_all(name)


def address() -> dict[str, list[str]]:
    """All URL parameters with their values."""
    return {name: params(name) for name in st.query_params}


def set_param(name: str, value: str | Sequence[str] | None) -> None:
    """Write a URL parameter; None or an empty list removes it. Writing what is there already does
    nothing.
    """
    values = [] if value is None else [value] if isinstance(value, str) else list(value)
    if values == params(name):
        return
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]


def forget(names: Sequence[str]) -> None:
    """Remove URL parameters, so that their widgets go back to their defaults; for buttons."""
    for name in names:
        set_param(name, None)
        # a part of a page that is drawn by itself takes an old address for none
        st.session_state.pop(_WIDGET + name, None)


def choice(name: str, options: Sequence[str], default: str | None = None) -> str:
    """The option that the address names; `default`, or else the first option, where it names none
    of them. "" without options.
    """
    value = param(name)
    if value in options:
        return value
    return _first(options, default)


def upcoming(name: str, options: Sequence[str], default: str | None = None) -> str:
    """What `select` or `segmented` will return when it is drawn further down with the same
    arguments.
    """
    first = _first(options, default)
    moved = _moved(name, first, lambda value: value in options)
    return choice(name, options, first) if moved else st.session_state[_WIDGET + name]


def upcoming_choices(name: str, options: Sequence[str], default: Sequence[str] = ()) -> list[str]:
    """What `multiselect` will return when it is drawn further down with the same arguments."""
    first = [value for value in default if value in options]
    moved = _moved(name, first, lambda values: set(values) <= set(options))
    return choices(name, options, first) if moved else list(st.session_state[_WIDGET + name])


def choices(name: str, options: Sequence[str], default: Sequence[str] = ()) -> list[str]:
    """The options that the address names, in its order; `default` where it names none of them.
    `?name=` (an empty value) means: none, on purpose.
    """
    values = params(name)
    known = [value for value in dict.fromkeys(values) if value in options]
    return known if known or values == [""] else [value for value in default if value in options]


def ticket(name: str) -> Any:
    """A value that a page keeps for this reader between two runs and no link should carry."""
    return st.session_state.get(f"keep:{name}")


def ticket_of(page: AppTest, name: str) -> Any:
    """`ticket` of a page that was drawn without a browser."""
    key = f"keep:{name}"
    return page.session_state[key] if key in page.session_state else None


def set_ticket(name: str, value: Any) -> None:
    st.session_state[f"keep:{name}"] = value


def carried(name: str, options: Sequence[str]) -> str:
    """A choice that goes along from page to page: what the address says, else what it was, else the
    first option.
    """
    if (asked := param(name)) in options:
        set_ticket(name, asked)
    return ticket(name) or options[0]


def carry(name: str, value: str) -> None:
    """Choose what `carried` reads from now on, on every page."""
    set_ticket(name, value)
    set_param(name, None)


def told(key: str, name: str) -> Any:
    """What the component of that key has just said under `name`; for its callbacks."""
    return getattr(st.session_state.get(key), name, None)


def uploaded(key: str) -> Any:
    """The file in the uploader of that key, None while there is none."""
    return st.session_state.get(key)


# --- widgets bound to the address
# --------------------------------------------------------------------------------------------------


def select(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, **look: Any
) -> str:
    """A select box bound to URL parameter `name`. Returns "" when there are no options."""
    if not options:
        look["format_func"] = str
        st.selectbox(label, ["–"], disabled=True, **look)
        return ""
    return _one_of(st.selectbox, label, name, options, default, look)


def select_into(label: str, name: str, options: Mapping[str, str], **look: Any) -> None:
    """A select box that writes one of `options` (titles by value) to URL parameter `name`, which
    another widget shows as well; it is empty while the address says anything else.
    """
    key = f"{_WIDGET}{name}:into"
    st.session_state[key] = param(name) if param(name) in options else None

    def fill() -> None:
        set_param(name, st.session_state[key])

    st.selectbox(
        label,
        list(options),
        index=None,
        key=key,
        format_func=options.__getitem__,
        on_change=fill,
        **look,
    )


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
    """A multiple choice bound to URL parameter `name`, drawn as pills where there are few
    options.
    """
    first = [value for value in default if value in options]
    meant = choices(name, options, first)
    kind = "pills" if pills else "multiselect"
    key = _follow(kind, name, meant, first, valid=lambda values: set(values) <= set(options))
    if pills:
        values = list(
            st.pills(
                label,
                options,
                selection_mode="multi",
                key=key,
                format_func=format_func,
                wrap=True,
                **look,
            )
            or []
        )
    else:
        values = st.multiselect(label, options, key=key, format_func=format_func, **look)
    _write(name, values, first, lambda chosen: list(chosen) or [""], meant=meant)
    return values


def segmented(
    label: str, name: str, options: Sequence[str], *, default: str | None = None, **look: Any
) -> str:
    """A row of exclusive buttons bound to URL parameter `name`; one of them is always on."""
    look["required"] = True
    return _one_of(st.segmented_control, label, name, options, default, look)


def carried_segmented(
    label: str,
    name: str,
    options: Sequence[str],
    *,
    format_func: Callable[[str], str] = str,
    within: Sequence[str] = (),
    **look: Any,
) -> None:
    """Buttons for a choice that is read with `carried`; the address says it on every page, unless
    it is the first option. Another choice drops the parameters `within`, which have a meaning
    within one choice alone, from this page and from those that keep them.
    """
    key = f"carry:{name}"

    def keep() -> None:
        value = st.session_state[key]
        set_ticket(name, value)
        set_param(name, None if value == options[0] else value)

    def change() -> None:
        keep()
        forget(within)
        for pages in set(KEPT.values()):
            kept = ticket(f"kept:{pages}") or {}
            set_ticket(f"kept:{pages}", {k: v for k, v in kept.items() if k not in within})

    st.session_state[key] = carried(name, options)
    keep()
    st.segmented_control(
        label, options, key=key, format_func=format_func, required=True, on_change=change, **look
    )


def _one_of(
    draw: Any,
    label: str,
    name: str,
    options: Sequence[str],
    default: str | None,
    look: dict[str, Any],
) -> str:
    """The option chosen in the widget that `draw` makes."""
    first = _first(options, default)
    meant = choice(name, options, first)
    key = _follow(draw.__name__, name, meant, first, valid=lambda value: value in options)
    value = draw(label, options, key=key, **look) or first
    _write(name, value, first, meant=meant)
    return value


def text(label: str, name: str, *, default: str = "", **look: Any) -> str:
    """A line of text bound to URL parameter `name`."""
    key = _follow("text", name, param(name, default), default)
    value = st.text_input(label, key=key, **look) or ""
    _write(name, value, default)
    return value


def number(label: str, name: str, *, default: float | int, **look: Any) -> float | int:
    """A number field bound to URL parameter `name`; whole numbers where `default` is one."""
    kind = type(default)
    try:
        start = kind(param(name, str(default)))
    except ValueError:
        start = default
    low, high = look.get("min_value"), look.get("max_value")

    def fits(value: float | int | None) -> bool:
        return value is None or ((low is None or value >= low) and (high is None or value <= high))

    key = _follow("number", name, start if fits(start) else default, default, valid=fits)
    value = st.number_input(label, key=key, **look)
    value = default if value is None else kind(value)
    _write(name, value, default, lambda number: [repr(number)])
    return value


def toggle(label: str, name: str, *, default: bool = False, **look: Any) -> bool:
    """A switch bound to URL parameter `name` (1 or 0)."""
    key = _follow("toggle", name, param(name, str(int(default))) == "1", default)
    value = st.toggle(label, key=key, **look)
    _write(name, value, default, lambda on: [str(int(on))])
    return value


def _first(options: Sequence[str], default: str | None) -> str:
    return default if default is not None and default in options else options[0] if options else ""


def _moved(name: str, default: Any, valid: Callable[[Any], bool]) -> bool:
    """Whether the widget has to be set: it is new, the address changed, its value is none any more,
    or nobody touched it and its default changed. A value that came in with this very run is a
    person's, whatever the address says yet: with a click a browser sends the address that it knows,
    and may not know yet what the click before wrote there.
    """
    key = _WIDGET + name
    if key not in st.session_state or not valid(st.session_state[key]):
        return True
    if st.session_state.get(_SEEN + name) != params(name):
        clicked = st.session_state.get(_DRAWN + name, [st.session_state[key]]) != [
            st.session_state[key]
        ]
        if not clicked and not _is_redrawn():
            return True
    before = st.session_state.get(_DEFAULT + name, default)
    return not params(name) and before != default and st.session_state[key] == before


def _is_redrawn() -> bool:
    """Whether a part of the page is drawn anew by itself. Then nobody followed a link, and another
    address is an old one.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(context.fragment_ids_this_run)


def _follow(
    kind: str,
    name: str,
    value: Any,
    default: Any,
    valid: Callable[[Any], bool] = lambda value: True,
) -> str:
    """Bring the widget in line with the address, or with its default where the address says
    nothing; its session key.

    A widget of another kind with the same name knows nothing of what the one before it held.
    """
    if _moved(name, default, valid) or st.session_state.get(_KIND + name, kind) != kind:
        st.session_state[_WIDGET + name] = value
    st.session_state[_KIND + name] = kind
    if not params(name):
        st.session_state[_DEFAULT + name] = default
    else:
        st.session_state.setdefault(_DEFAULT + name, default)
    return _WIDGET + name


def _write(
    name: str,
    value: Any,
    default: Any,
    told: Callable[[Any], Sequence[str]] = lambda value: [value],
    *,
    meant: Any = None,
) -> None:
    """Bring the address in line with the widget; `told` are the values that say it there, `meant`
    what the address comes to here.

    The default is not written, unless a person chose it while another value was the default, or
    chose it for all pages.
    """
    values, shared = list(told(value)), name in FILTERS
    stays = params(name) == values and st.session_state.get(_DEFAULT + name, default) != default
    if shared and meant is not None and values == list(told(meant)):
        pass  # nobody moved it: the address may be silent, or say what another page can show
    elif values == list(told(default)) and not stays and not shared:
        st.session_state[_DEFAULT + name] = default
        set_param(name, None)
    else:
        set_param(name, values)
    st.session_state[_SEEN + name] = params(name)
    if _WIDGET + name in st.session_state:
        st.session_state[_DRAWN + name] = [st.session_state[_WIDGET + name]]
