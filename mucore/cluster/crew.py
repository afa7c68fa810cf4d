"""The workers of a Ray cluster: start, ask, change in number, end. Only this module imports Ray.

They are detached actors with names in one namespace, so whoever reaches the cluster finds them, and
they outlive the program that started them. A name says what the worker takes, "worker-3:4:0.5" four
CPUs and half a GPU, so that `scale` starts others like it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from mucore.cluster.member import HAND_BACK_SECONDS, Member, Order, Report
from mucore.errors import BadValue, MucoreError, install

NAMESPACE = "mucore"
MOST = 10_000
ANSWER_SECONDS = 5.0
# One thread for `end`, which waits, the rest for questions meanwhile.
THREADS = 4
SILENT = "is being started, moved from a machine that is gone, or waits for one with room"


class ClusterError(MucoreError):
    """Ray is not installed, or its cluster does not answer."""


@dataclass(frozen=True)
class Named:
    """A worker of the cluster as Ray knows it."""

    name: str
    number: int
    cpus: int
    gpus: float

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        return f"{self.cpus} CPUs and {self.gpus:g} GPUs"


class Crew:
    """The workers of one cluster. Made by `connected`."""

    def __init__(self, ray: ModuleType):
        self._ray = ray

    def names(self) -> list[Named]:
        """The workers that were asked for, in order of their numbers."""
        found = (_named(name) for name in self._ray.util.list_named_actors())
        return sorted((one for one in found if one is not None), key=lambda one: one.number)

    def start(self, order: Order, count: int) -> None:
        """`count` more workers; those that find no place wait for one. Raises `BadValue`."""
        check(order, count)
        taken = {one.number for one in self.names()}
        for number in [n for n in range(len(taken) + count) if n not in taken][:count]:
            self._start(order, number)

    def scale(self, order: Order, count: int) -> None:
        """Have `count` workers that take what those that are there take: start some, or end those
        with the highest numbers. Raises `BadValue`.
        """
        there = self.names()
        if not there:
            raise BadValue("There are no workers to scale. Start some with `mucore cluster up`.")
        order = replace(order, cpus=there[0].cpus, gpus=there[0].gpus)
        check(order, count)
        if count > len(there):
            self.start(order, count - len(there))
        self.end(there[count:])

    def reports(self) -> list[tuple[Named, Report | str]]:
        """How each worker is, as it says itself; why it says nothing where it does not."""
        there = self.names()
        answers = self._answers(there, "report", ANSWER_SECONDS)
        return [(one, answers.get(one.name, SILENT)) for one in there]

    def end(self, which: Sequence[Named]) -> list[Named]:
        """End workers once they have handed back what they had in hand; a busy one may take its
        time to answer. Returns those whose process had to be ended, perhaps with a run in hand.
        """
        # one that has no process yet, or none any more, has nothing in hand and answers nothing
        alive = self._with_process()
        polite = [one for one in which if one.name in alive]
        ended = self._answers(polite, "end", HAND_BACK_SECONDS + ANSWER_SECONDS)
        self.kill(which)
        return [one for one in polite if ended.get(one.name) is not True]

    def kill(self, which: Sequence[Named]) -> None:
        """End the processes of workers at once, for good."""
        for one in which:
            with contextlib.suppress(ValueError):
                self._ray.kill(self._ray.get_actor(one.name), no_restart=True)
        gone = {one.name for one in which}
        deadline = time.monotonic() + HAND_BACK_SECONDS
        while gone & {one.name for one in self.names()} and time.monotonic() < deadline:
            time.sleep(0.1)

    def addresses(self) -> set[str]:
        """Of the machines of the cluster."""
        return {node["NodeManagerAddress"] for node in self._ray.nodes() if node["Alive"]}

    # -- inside

    def _start(self, order: Order, number: int) -> None:
        self._ray.remote(Member).options(
            name=f"worker-{number}:{order.cpus}:{order.gpus:g}",
            namespace=NAMESPACE,
            lifetime="detached",
            num_cpus=order.cpus,
            num_gpus=order.gpus,
            max_restarts=-1,
            max_concurrency=THREADS,
            scheduling_strategy="SPREAD",
        ).remote(order)

    def _answers(self, which: Sequence[Named], question: str, seconds: float) -> dict[str, Any]:
        """The answers that come within `seconds`. Of a worker that could not be made, and is not
        tried again, it is a sentence; one that dies meanwhile gives none.
        """
        asked: dict[Any, str] = {}
        for one in which:
            with contextlib.suppress(ValueError):  # it has ended meanwhile
                actor = self._ray.get_actor(one.name)
                asked[getattr(actor, question).remote()] = one.name
        refs = list(asked)
        ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=seconds) if refs else ([], 0)
        answers = {}
        for ref in ready:
            try:
                answers[asked[ref]] = self._ray.get(ref)
            except self._ray.exceptions.ActorDiedError as error:
                why = str(error).strip().splitlines()[-1].strip()
                answers[asked[ref]] = f"cannot be started: {why}"
            except self._ray.exceptions.RayError:
                continue
        return answers

    def _with_process(self) -> set[str]:
        """The names of the actors that have a process, whether it answers or not."""
        actors = self._ray._private.state.actors(actor_state_name="ALIVE")
        return {actor["Name"] for actor in actors.values()}


def check(order: Order, count: int) -> None:
    """Raise `BadValue` for numbers that no cluster can have."""
    gpus = 0 <= order.gpus < 1 or order.gpus == 1
    if not (1 <= count <= MOST and 1 <= order.cpus <= 4096 and gpus):
        raise BadValue(
            f"There are 1 to {MOST:,} workers of 1 to 4096 CPUs and 1 GPU, a part such as 0.5, or "
            f"0, but got {count} of {order.cpus} CPUs and {order.gpus:g} GPUs."
        )


@contextlib.contextmanager
def connected(address: str = "auto") -> Generator[Crew]:
    """The crew of the Ray cluster at `address`: "host:port" of its head, or "auto" for that which
    this machine is part of. Raises `ClusterError`.
    """
    # Ray lets everybody in by default. Who wants that says so by RAY_AUTH_MODE=disabled.
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's next default: workers on the CPU need no change of what GPUs they see
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError:
        raise ClusterError(
            "Workers on a cluster need Ray, which is not installed. Install it with "
            f"{install('cluster')}."
        ) from None
    _check_answers(address)
    try:
        ray.init(
            address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR
        )
    except (ConnectionError, RuntimeError, ValueError, RayError) as error:
        raise ClusterError(_sentence(error, address)) from error
    try:
        yield Crew(ray)
    except RayError as error:
        raise ClusterError(_sentence(error, address)) from error
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise `ClusterError` where nobody listens: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ClusterError(_sentence(error, address)) from error


def _sentence(error: Exception, address: str) -> str:
    if type(error).__name__ == "AuthenticationError":
        return (
            "Ray lets in only those who know its token. Make one on the head with `ray "
            "get-auth-token --generate` and copy ~/.ray/auth_token to each machine, readable by "
            "its user alone."
        )
    first = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    where = "on this machine" if address == "auto" else f"at {address}"
    return (
        f"No Ray cluster answers {where} ({first}). Start it on its head with `RAY_AUTH_MODE=token "
        "ray start --head --node-ip-address=ADDRESS`, where ADDRESS is the head's private one."
    )


def _named(name: str) -> Named | None:
    head, _, rest = name.partition(":")
    cpus, _, gpus = rest.partition(":")
    number = head.removeprefix("worker-")
    try:
        return Named(name, int(number), int(cpus), float(gpus))
    except ValueError:  # an actor of another program in our namespace
        return None
