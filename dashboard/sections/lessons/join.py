"""How a room gets here: the address as a QR code and as text, large enough for the last row."""

from __future__ import annotations

from io import BytesIO
from typing import Final

import segno
import streamlit as st

from dashboard import access, assets, state
from dashboard.sections.lessons import talks
from dashboard.widgets import header, presenting
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import hosting

ROOM: Final = assets.style("join.css")
SCALE: Final = 12  # pixels of a module: sharp on a projector
WIDTH: Final = 480
ALONE: Final = (
    "The room cannot reach the address in your browser, because it leads only to this machine. "
    "Open this page under the address that the others use: the proxy's, or this machine's number, "
    "which was printed at the start."
)


def wanted() -> bool:
    """Whether the address asks for this screen, and it is the presenter who does."""
    return state.param("join") == "1" and access.has_room() and access.presents()


def show() -> None:
    header.header("Read along on your own screen", "Scan the code, or type the address.")
    found = hosting.room_addresses(
        str(st.context.url or ""),
        str(st.get_option("server.address") or ""),
        int(st.get_option("server.port")),
        own_numbers(),
    )
    if presenting.on():
        st.html(ROOM)
    with presenting.slide("join"):
        place = st.container()
        if not found:
            place.warning(ALONE, icon=":material/warning:")
        else:
            base = state.segmented("Address", "address", found) if len(found) > 1 else found[0]
            with place:
                show_address(base)
        with st.container(horizontal=True, vertical_alignment="center"):
            talks.show_count()
            with st.container(key="room_joins", width="content"):
                link("lessons", "Back", icon=":material/arrow_back:", **lesson_left())


def show_address(base: str) -> None:
    address = base + hosting.JOIN
    code, text = st.columns([2, 3], gap="large", vertical_alignment="center")
    width = "stretch" if presenting.on() else WIDTH
    code.image(picture(address), width=width, alt=f"QR code of {address}")
    with text:
        st.title(escape(address.partition("://")[2]), anchor=False)
        st.caption(
            "Anyone who opens it can read along and vote, but not start or change anything. "
            "Phones must be on a network that reaches this machine."
        )


def picture(address: str) -> bytes:
    """A PNG, black on white on every ground: many cameras read no other."""
    made = BytesIO()
    segno.make_qr(address, error="m").save(made, kind="png", scale=SCALE, border=4)
    return made.getvalue()


def lesson_left() -> dict[str, str]:
    """Back to the lesson that this screen was opened from."""
    return {name: state.param(name) for name in ("lesson", "step") if state.param(name)} or {
        "lesson": ""
    }


def own_numbers() -> list[str]:
    """This machine's numbers in its networks, the one on which it reaches others first."""
    import psutil

    listening = str(st.get_option("server.address") or "")
    first = hosting.reached_at(listening) if listening else ""
    every = [one.address for each in psutil.net_if_addrs().values() for one in each]
    return list(dict.fromkeys([first, *every]))
