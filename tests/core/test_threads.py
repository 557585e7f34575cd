"""Threads of parallel loops: how many are asked, each call is made once, and closed helpers make none."""

import os
import threading
from typing import Any

import pytest

from tapeengine._core.programs.threads import Helpers, Pool, Threads, run


class Steps:
    """A loop whose steps are numbers; `help` notes that a thread came."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.left, self.done = list(range(count)), list[int]()

    def work(self) -> None:
        while self.left:
            self.done.append(self.left.pop())

    help = work

    def stop(self) -> None:
        self.left.clear()


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_pool_makes_each_call_once_on_no_more_threads_than_it_may_have(most: int) -> None:
    pool, ended, seen = Pool(most), threading.Semaphore(0), list[tuple[int, int]]()

    def call(k: int) -> None:
        seen.append((k, threading.get_ident()))
        ended.release()

    for k in range(20):
        pool.submit(lambda k=k: call(k))  # type: ignore[misc]
    assert all(ended.acquire(timeout=20.0) for _ in range(20))
    assert sorted(k for k, _ in seen) == list(range(20))
    assert threading.get_ident() not in (idents := {ident for _, ident in seen}) and len(idents) <= most


@pytest.mark.parametrize("threads", [1, 2, 3, 9])
@pytest.mark.parametrize("count", range(6))
def test_a_loop_asks_a_helper_for_each_further_step_but_keeps_its_own_thread(
    threads: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first step ran before; the program's thread takes one of the others."""
    asked: list[Any] = []
    own = Threads()
    own.use(threads)
    assert own.pool.most == max(threads - 1, 1)
    monkeypatch.setattr(own.pool, "submit", asked.append)
    own.ask(Steps(count), Helpers(lambda: None))
    assert len(asked) == max(min(count - 2, threads - 1), 0)


def test_a_loop_runs_each_step_once_with_helpers_that_come_in_time_and_too_late() -> None:
    steps, late = Steps(50), list[Helpers]()

    def ask(work: Steps, helpers: Helpers) -> None:
        helpers()
        late.append(helpers)

    run(steps, ask)  # type: ignore[arg-type]
    assert sorted(steps.done) == list(range(50))
    assert late[0].ends.qsize() == 1  # who waits is told
    steps.left = [0]
    late[0]()
    assert steps.left == [0]


def test_an_interrupt_stops_the_helpers_and_is_raised() -> None:
    steps = Steps(3)

    def ask(work: Steps, helpers: Helpers) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(steps, ask)  # type: ignore[arg-type]
    assert not steps.left and not steps.done


def test_a_forked_process_has_the_processors_of_the_machine() -> None:
    own = Threads()
    own.use(3)
    before = own.pool
    own.forget()
    assert own.count == (os.cpu_count() or 1) and own.pool is not before
