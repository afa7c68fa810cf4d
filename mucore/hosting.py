"""Who reaches the dashboard, and on what terms: decided before anything listens.

Four terms. `own`: this machine alone, and who sits at it may do everything. `audience`: whoever has
the presenter's key may do everything, all others read. `login`: people log in (Streamlit's OIDC),
and those named in the secrets may do everything. `open`: whoever reaches the address may do
everything. docs/hosting.md says what each promises.

Imports nothing but the standard library and the errors, for the launcher runs before packages are
known to be there.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit

from mucore.errors import BadValue

Terms = Literal["own", "audience", "login", "open"]
TERMS: Final = "MUCORE_TERMS"  # what the launcher tells the dashboard's process, and only it
KEY: Final = "MUCORE_PRESENTER_KEY"
PARAMETER: Final = "presenter"  # of an address, with the key
COOKIE: Final = "mucore_presenter"  # that the presenter's browser keeps in its place
READER: Final = "mucore_reader"  # the cookie that tells readers' browsers apart
JOIN: Final = "/j"  # the address that a room types: to the lesson that is held
OPEN: Final = (
    "Anyone who reaches this address can launch runs, upload files, delete results and name paths "
    "of this machine."
)


@dataclass(frozen=True)
class Hosting:
    """`address` is numeric; `key` is the presenter's, "" where there is none."""

    address: str
    terms: Terms
    key: str = field(default="", repr=False)

    def environment(self) -> dict[str, str]:
        """How the dashboard's process gets to know: not from its command line, which every user of
        the machine can read.
        """
        return {TERMS: self.terms, KEY: self.key}

    def told(self, address: str) -> list[str]:
        """What else there is to say of `address`, a line each."""
        if self.terms == "audience":
            return [
                "That address is for the room, which reads. Yours, to present (keep it to "
                "yourself):",
                f"  {address}/?{PARAMETER}={self.key}",
            ]
        more = {"login": "People log in; those in [roles] presenters may do everything."}
        return [text] if (text := (more | {"open": OPEN}).get(self.terms)) else []


def decide(
    host: str | None, *, audience: bool = False, opened: bool = False, login: str = ""
) -> Hosting:
    """What serving on `host` comes to; None is this machine alone. `login` is what
    `login_problem` says of the secrets: "ready", "" where there is none, or what is missing.

    Raises `BadValue` with a sentence for an address that is none or another machine's name, and for
    one that others reach while nothing says what they may do.
    """
    if audience and opened:
        raise BadValue(
            "--audience lets others read, --open lets them do everything. Choose one of the two."
        )
    if host is None and (audience or opened):
        raise BadValue(
            f"{'--audience' if audience else '--open'} needs --host, the address on which others "
            "reach this machine, such as --host 0.0.0.0 for all of its networks."
        )
    address = numeric("127.0.0.1" if host is None else host)
    if audience:
        return Hosting(address, "audience", secrets.token_urlsafe(32))
    if opened:
        return Hosting(address, "open")
    if login == "ready":
        return Hosting(address, "login")
    if is_loopback(address):
        return Hosting(address, "own")
    raise BadValue(
        f"Others reach this machine on {host}, and nothing says what they may do. Start with "
        "--audience: they only read, and whoever has the presenter's key can do the rest. Or let "
        "people log in, with [auth] and [roles] in "
        f".streamlit/secrets.toml{f' ({login})' if login else ''}. Or start with --open: anyone "
        "who reaches the address can then launch runs, upload files, delete results and name "
        "paths of this machine. docs/hosting.md has the details."
    )


def numeric(host: str) -> str:
    """The number of a host, to listen on exactly that: of several the first that others reach,
    else the first of IPv4.

    Raises `BadValue`.
    """
    name = host.strip().removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM) if name else []
    except (OSError, UnicodeError, ValueError):
        found = []
    numbers = [str(entry[4][0]) for entry in found]
    reached = [number for number in numbers if not is_loopback(number)]
    if not numbers:
        raise BadValue(
            f"This machine has no address {host!r}. Use --host 127.0.0.1 for itself alone or "
            "--host 0.0.0.0 for the network."
        )
    return min(reached or numbers, key=lambda number: ":" in number)


def is_loopback(address: str) -> bool:
    """Whether a numeric address is reached from this machine alone."""
    try:
        number = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = number.ipv4_mapped if isinstance(number, ipaddress.IPv6Address) else None
    return (mapped or number).is_loopback


def reached_at(address: str) -> str:
    """The host to write into a browser for a server that listens on `address`: for all networks,
    this machine's number in that on which it reaches others.
    """
    if not ipaddress.ip_address(address.partition("%")[0]).is_unspecified:
        return address
    # Asks the routing table and sends nothing; the address is nobody's (RFC 5737).
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"


def web_address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def room_addresses(asked: str, listening: str, port: int, numbers: Iterable[str]) -> list[str]:
    """Where a room may reach a server that listens on the numeric address `listening`, without a
    slash at the end, the likeliest first; none where all lead to this machine alone.

    `asked` is the address of a page in the presenter's browser, which is right behind a proxy, too;
    `numbers` are those of this machine in its networks.
    """
    found = []
    try:
        parts = urlsplit(asked)
        host, other = parts.hostname or "", parts.port
    except ValueError:
        host, other = "", None
    if host and host != "localhost" and not is_loopback(host) and parts.scheme in ("http", "https"):
        name = f"[{host}]" if ":" in host else host
        place = f"{name}:{other}" if other else name
        found.append(f"{parts.scheme}://{place}{parts.path.rpartition('/')[0]}")
    if listening in ("0.0.0.0", "::"):
        for number in numbers:
            usable = _is_outward(number) and (":" in listening or ":" not in number)
            found += [web_address(number, port)] if usable else []
    elif _is_outward(listening):
        found.append(web_address(listening, port))
    return list(dict.fromkeys(found))


def _is_outward(number: str) -> bool:
    """Whether a number leads here from other machines; those of one cable alone (link-local) need
    more than an address to be reached.
    """
    try:
        known = ipaddress.ip_address(number)
    except ValueError:
        return False
    return not (known.is_loopback or known.is_link_local or known.is_unspecified)


def login_problem(content: Mapping[str, Any], *, authlib: bool) -> str:
    """Whether Streamlit's secrets let people log in: "ready", "" where they do not speak of it, or
    what is missing, in words. `authlib`: whether that package is there.
    """
    if not content.get("auth"):
        return ""
    if not presenters(content):
        return 'there is [auth], but no [roles] with presenters = ["you@example.org"]'
    if not authlib:
        return "there is [auth], but not the package Authlib: pip install 'streamlit[auth]'"
    return "ready"


def presenters(content: Mapping[str, Any]) -> frozenset[str]:
    """The mail addresses in the secrets of who may do everything, in small letters."""
    roles = content.get("roles")
    named = roles.get("presenters") if isinstance(roles, Mapping) else None
    named = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return frozenset(str(one).strip().lower() for one in named) - {""}


def taken_over(environment: MutableMapping[str, str]) -> tuple[Terms, str]:
    """The terms and the key that the launcher handed over. The key leaves the environment, so that
    no process that is started later inherits it.
    """
    key, said = environment.pop(KEY, ""), environment.get(TERMS, "own")
    # a word that is none: nobody but who has a key
    terms: Terms = next((one for one in get_args(Terms) if one == said), "audience")
    return terms, key
