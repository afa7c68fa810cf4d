"""Who reaches the dashboard on which address, and what they may do there."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Any

import pytest

from mucore import hosting
from mucore.errors import BadValue

ALONE = ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost", "::ffff:127.0.0.1", "127.1", None]
REACHED = ["0.0.0.0", "0", "::", "[::]", "192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7"]
NAMES = {"ada-laptop": ["192.0.2.7"], "both": ["127.0.1.1", "192.0.2.7"], "alias": ["127.0.1.1"]}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of machines that need no name server."""
    real = socket.getaddrinfo

    def getaddrinfo(host: str, *arguments: Any, **options: Any) -> list[Any]:
        numbers = NAMES.get(host, [host])
        return [entry for one in numbers for entry in real(one, *arguments, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize("host", [*ALONE, "alias"])
def test_who_sits_at_this_machine_may_do_everything(host):
    served = hosting.decide(host)
    assert (served.terms, served.key) == ("own", "")
    assert hosting.is_loopback(served.address)
    assert served.told("http://here") == []


@pytest.mark.parametrize("host", [*REACHED, "ada-laptop", "both"])
def test_an_address_that_others_reach_needs_a_word_on_what_they_may_do(host):
    with pytest.raises(BadValue) as refusal:
        hosting.decide(host)
    said = str(refusal.value)
    assert host in said
    assert all(way in said for way in ("--audience", "[auth]", "--open", "docs/hosting.md"))
    ways: dict[str, dict[str, Any]] = {
        "audience": {"audience": True},
        "open": {"opened": True},
        "login": {"login": "ready"},
    }
    for terms, given in ways.items():
        served = hosting.decide(host, **given)
        assert served.terms == terms and not hosting.is_loopback(served.address)
        assert bool(served.key) == (terms == "audience")


def test_a_name_of_several_addresses_is_the_one_that_others_reach():
    assert hosting.decide("both", audience=True).address == "192.0.2.7"


@pytest.mark.parametrize("host", ["", " ", "a b", "\0", "-1", "%", "1.2.3.4.5", "[", "x" * 300])
def test_what_is_no_address_is_refused(host):
    with pytest.raises(BadValue, match=r"127\.0\.0\.1"):
        hosting.decide(host, opened=True)


@pytest.mark.parametrize("given", [{"audience": True}, {"opened": True}])
def test_others_are_let_in_only_where_an_address_is_named(given):
    with pytest.raises(BadValue, match="needs --host"):
        hosting.decide(None, **given)
    # behind a proxy on this machine
    assert hosting.decide("127.0.0.1", **given).terms != "own"


def test_reading_and_doing_everything_exclude_each_other():
    with pytest.raises(BadValue, match="Choose one"):
        hosting.decide("0.0.0.0", audience=True, opened=True)


def test_a_login_that_is_set_up_counts_on_this_machine_too():
    assert hosting.decide(None, login="ready").terms == "login"


def test_a_login_that_lacks_something_lets_nobody_in_and_says_what():
    assert hosting.decide(None, login="no package").terms == "own"
    with pytest.raises(BadValue, match="no package"):
        hosting.decide("0.0.0.0", login="no package")


def test_each_start_has_a_key_of_its_own_that_nobody_guesses():
    keys = {hosting.decide("0.0.0.0", audience=True).key for _ in range(20)}
    assert len(keys) == 20 and min(map(len, keys)) >= 43  # 32 bytes in base 64


def test_the_key_is_told_once_and_stays_out_of_what_is_printed_by_accident():
    served = hosting.decide("0.0.0.0", audience=True)
    assert served.key not in repr(served)
    room, yours = served.told("http://192.0.2.7:8501")
    assert served.key not in room and yours.endswith(
        f"http://192.0.2.7:8501/?presenter={served.key}"
    )


def test_the_key_goes_to_the_pages_process_and_to_none_that_it_starts():
    served = hosting.decide("0.0.0.0", audience=True)
    environment = served.environment()
    assert hosting.taken_over(environment) == ("audience", served.key)
    assert served.key not in environment.values()


def test_a_key_that_was_left_in_the_environment_is_not_taken_for_one():
    environment = {hosting.KEY: "left"} | hosting.decide("0.0.0.0", opened=True).environment()
    assert hosting.taken_over(environment) == ("open", "")


@pytest.mark.parametrize(
    ("content", "authlib", "found"),
    [
        ({}, True, ""),
        ({"auth": {"client_id": "x"}, "roles": {"presenters": ["Ada@Example.org"]}}, True, "ready"),
        ({"auth": {"client_id": "x"}, "roles": {"presenters": "a@example.org"}}, True, "ready"),
        ({"auth": {"client_id": "x"}, "roles": {"presenters": ["a@b"]}}, False, "Authlib"),
        ({"auth": {"client_id": "x"}}, True, "[roles]"),
        ({"auth": {"client_id": "x"}, "roles": {"presenters": [" "]}}, True, "[roles]"),
    ],
)
def test_a_login_needs_its_roles_and_its_package(content, authlib, found):
    said = hosting.login_problem(content, authlib=authlib)
    assert said == found or (found in said and found not in ("", "ready"))


def test_presenters_are_known_whatever_the_case_of_their_address():
    content = {"roles": {"presenters": ["Ada@Example.org", "  bob@example.org "]}}
    assert hosting.presenters(content) == {"ada@example.org", "bob@example.org"}


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_all_networks_are_written_as_one_of_this_machines_numbers(address):
    found = hosting.reached_at(address)
    family = socket.AF_INET6 if ":" in found else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((found, 0))  # it is this machine's


NUMBERS = ["192.0.2.7", "10.0.0.7", "127.0.0.1", "::1", "fe80::1%eth0", "2001:db8::7", "02:42:ac"]


@pytest.mark.parametrize(
    ("asked", "listening", "found"),
    [
        ("http://192.0.2.7:8501/lessons", "192.0.2.7", ["http://192.0.2.7:8501"]),
        (
            "http://localhost:8501/lessons",
            "0.0.0.0",
            ["http://192.0.2.7:8501", "http://10.0.0.7:8501"],
        ),
        # behind a proxy
        ("https://a.example/lessons", "127.0.0.1", ["https://a.example"]),
        ("https://a.example/b/lessons", "127.0.0.1", ["https://a.example/b"]),
        ("http://[2001:db8::7]:8501/lessons", "2001:db8::7", ["http://[2001:db8::7]:8501"]),
        # this machine alone
        ("http://localhost:8501/lessons", "127.0.0.1", []),
        ("file:///home/ada", "", []),
        ("javascript:alert(1)", "", []),
    ],
)
def test_a_room_gets_the_address_that_leads_here(asked, listening, found):
    assert hosting.room_addresses(asked, listening, 8501, NUMBERS) == found


def test_the_rules_are_there_before_any_package_is():
    packages = ("numpy", "psutil", "sqlalchemy", "streamlit")
    code = f"import sys, mucore.launcher; print([n for n in {packages} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
