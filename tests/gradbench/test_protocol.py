"""The adapter as GradBench's intermediary uses it: a process that answers each JSON line with another."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tapeengine.gradbench.protocol import EVALUATIONS, respond


def conversation(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    command = [sys.executable, "-m", "tapeengine.gradbench"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_session_of_the_first_evaluation() -> None:
    # square and double alternately, as GradBench's hello requests them
    x = 1.0
    messages: list[dict[str, Any]] = [
        {"id": 0, "kind": "start", "eval": "hello"},
        {"id": 1, "kind": "define", "module": "hello"},
    ]
    expected = []
    for _ in range(4):
        for function, value in (("square", x * x), ("double", 2.0 * x * x)):
            given = x if function == "square" else x * x
            of = len(messages)
            messages.append({"id": of, "kind": "evaluate", "module": "hello", "function": function, "input": given})
            messages.append({"id": of + 1, "kind": "analysis", "of": of, "valid": True})
            expected.append((of, value))
        x = 2.0 * x * x
    answers = conversation(messages)
    assert [answer["id"] for answer in answers] == [message["id"] for message in messages]
    assert answers[0]["tool"] == "tapeengine" and answers[1]["success"]
    assert [(of, answers[of]["output"]) for of, _ in expected] == expected
    assert all(len(answers[of]["timings"]) == 1 for of, _ in expected)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_every_evaluation_is_defined(evaluation: str) -> None:
    assert respond({"id": 3, "kind": "define", "module": evaluation}) == {"id": 3, "success": True}


def test_what_is_not_there_is_named() -> None:
    answer = respond({"id": 4, "kind": "define", "module": "fft"})
    assert not answer["success"] and "'fft'" in answer["error"] and "kmeans" in answer["error"]
    answer = respond({"id": 5, "kind": "evaluate", "module": "lse", "function": "hessian", "input": {}})
    assert not answer["success"] and answer["error"] == "no function 'hessian' in 'lse'"


def test_an_error_is_reported_and_the_next_message_answered() -> None:
    bad = {"id": 0, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": "text"}}
    good = {"id": 1, "kind": "evaluate", "module": "hello", "function": "square", "input": 3.0}
    first, second = conversation([bad, good])
    assert not first["success"] and "ValueError" in first["error"]
    assert second["success"] and second["output"] == 9.0


@pytest.mark.parametrize(("runs", "seconds"), [(1, 0.0), (7, 0.0), (1, 0.01)])
def test_runs_and_seconds_are_both_reached(runs: int, seconds: float) -> None:
    given = {"x": [1.0, 2.0], "min_runs": runs, "min_seconds": seconds}
    answer = respond({"id": 0, "kind": "evaluate", "module": "lse", "function": "gradient", "input": given})
    times = [timing["nanoseconds"] for timing in answer["timings"]]
    assert {timing["name"] for timing in answer["timings"]} == {"evaluate"}
    assert len(times) >= runs and sum(times) >= 1e9 * seconds
    assert len(times) == runs or sum(times[:-1]) < 1e9 * seconds
