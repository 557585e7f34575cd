"""The page of results by commit: in the order of commits, complete, and without a network."""

import json
import re

from asv_bench import history

COLUMNS = {"result_columns": ["result", "samples"]}


def written(folder, commit, date, results, name="env"):
    folder.mkdir(exist_ok=True)
    rows = {key: [value] for key, value in results.items()}
    content = {**COLUMNS, "results": rows, "commit_hash": commit, "date": date}
    (folder / f"{commit[:8]}-{name}.json").write_text(json.dumps(content))


def test_commits_stand_in_their_order_with_all_their_benchmarks(tmp_path):
    written(tmp_path / "machine", "b" * 40, 2, {"core.time_a": [2.0, 4.0]})
    written(tmp_path / "machine", "a" * 40, 1, {"core.time_a": [1.0, 4.0]})
    written(tmp_path / "machine", "b" * 40, 2, {"core.track_b": [7]}, name="existing")
    (tmp_path / "machine" / "machine.json").write_text("{}")
    found = history.runs(tmp_path)
    assert [commit for commit, _ in found] == ["a" * 8, "b" * 8]
    assert history.courses(found, "") == {
        "core.time_a[0]": [1.0, 2.0],
        "core.time_a[1]": [4.0, 4.0],
        "core.track_b[0]": [None, 7],
    }
    assert list(history.courses(found, "track")) == ["core.track_b[0]"]
    text = history.page(found)
    assert text.count("<polyline") == 3 and ">2.00<" in text and "aaaaaaaa, bbbbbbbb" in text


def test_the_page_asks_nobody(tmp_path):
    written(tmp_path / "machine", "a" * 40, 1, {"core.time_<odd>": [1.0]})
    text = history.page(history.runs(tmp_path))
    assert not re.search(r"https?:|<script|<link|@import|url\(", text)
    assert "time_&lt;odd&gt;" in text


def test_without_results_it_says_what_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(history, "BUILD", tmp_path)
    assert history.main() == 1 and "make bench" in capsys.readouterr().out
