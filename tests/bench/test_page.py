"""The performance page states the measurements, also where another tool is faster."""

from asv_bench import page


def row(tool, ratio, size=10, slope=1.0, program="dot"):
    times = {"ratio": ratio, "steady": ratio, "first": ratio, "slope": slope, "value": 1.0}
    return {"tool": tool, "program": program, "size": size, "operations": 1} | times


def test_figures_of_faster_tools_are_bold():
    rows = [row("tapeengine", 3.0), row("JAX scan", 1.5), row("torch", 30.0), row("numba by hand", 1.0)]
    rows += [row("tapeengine", 2.0, 100_000), row("JAX scan", 9.0, 1), row("torch", 1.0, 100_000)]
    tools = ["tapeengine", "JAX scan", "torch", "numba by hand"]
    line = "| dot 100000 | 2 | **1.5** (n=10) | **1** | **1** (n=10) |"
    assert page.cost(rows, tools).splitlines()[-1] == line


def test_programs_without_the_lowest_figure_are_counted_and_named():
    rows = [row("tapeengine", 3.0), row("torch", 30.0), row("JAX jit", 1.5)]
    rows += [row("tapeengine", 3.0, program="tree"), row("torch", 30.0, program="tree")]
    names = ("dot", "tree")
    assert page.lowest(rows, names, ["torch"], "ratio") == (2, 2, "")
    assert page.lowest(rows, names, ["torch", "JAX jit"], "ratio") == (1, 2, "dot 10 (JAX jit, 2 times)")
    assert page.lowest(rows, names, ["torch", "JAX jit"], "first") == (1, 2, "dot 10 (JAX jit, 2 times)")
    assert "on 1 of 2 programs" in page.earliest(rows, ["torch", "JAX jit"])
    assert page.fastest(rows, ["torch"]).endswith("on 2 of 2 programs of scalars and loops.")


def test_a_tool_that_is_as_fast_is_not_faster():
    rows = [row("tapeengine", 3.0), row("torch", 2.99), row("JAX jit", 2.5)]
    assert page.cost(rows, ["tapeengine", "torch", "JAX jit"]).endswith("| dot 10 | 3 | 2.99 | **2.5** |")
    assert page.lowest(rows, ("dot",), ["torch"], "ratio") == (1, 1, "")


def test_calls_that_repay_compiling_are_counted():
    rows = [row("tapeengine", 3.0) | {"first": 4.0}, row("JAX jit", 2.0) | {"first": 13.5}, row("torch", 1.0)]
    rows += [row("tapeengine", 1.0, program="tree"), row("JAX jit", 2.0, program="tree")]
    assert page.repaid(rows, "JAX jit") == "dot 10 after 10"
    assert page.repaid(rows, "XAD") == ""


def test_first_derivatives_before_the_plain_program_are_named():
    rows = [row("tapeengine", 3.0) | {"plain": 2.0}, row("JAX scan", 1.0), row("numba by hand", 2.5)]
    text = page.slow_in_python(rows, ["JAX scan", "numba by hand"])
    assert text.endswith("has run once in Python: dot 10 (JAX scan 1 s, plain program 2 s).\n")
    assert page.slow_in_python(rows, ["numba by hand"]) == ""


def test_first_derivatives_of_smaller_sizes_are_marked():
    found = page.best([row("tapeengine", 3.0, 1000), row("CasADi SX", 30.0, 10), row("JAX jit", 4.0, 1000)])
    assert "| dot 1000 | 3 |  | 4 |  | 30 (n=10) |  |" in page.compiled_first(found)


def test_ratios_of_smaller_sizes_are_marked():
    rows = [row("tapeengine", 3.0, 1000), row("torch", 30.0, 10)]
    assert "| dot 1000 | 3 | 30 (n=10) |" in page.cost(rows, ["tapeengine", "torch"])


def test_long_lists_keep_their_largest_figures():
    assert (
        page.shortened("; ".join(f"p{n} {n}.5" for n in range(20)))
        == "p19 19.5; p18 18.5; p17 17.5; 17 others at most 16.5"
    )
    assert page.shortened("plain 1 us; derivative 2 us") == "plain 1 us; derivative 2 us"


def test_adbench_times_are_in_milliseconds():
    rows = [row("tapeengine", 1.0, 8) | {"adbench": 0.002}, row("torch", 1.0, 8) | {"adbench": 0.0415}, row("XAD", 1.0)]
    assert page.adbench(rows, ["tapeengine", "XAD", "torch"]).endswith("\n| dot 8 | 2 | 41.5 |")


def test_missed_limits_are_shown_with_their_reasons():
    what = next(iter(page.REASONS))
    assert page.reasons([{"what": what, "met": False}]) == f"* {what}: {page.REASONS[what]}"
    assert page.reasons([{"what": what, "met": True}, {"what": "loop", "met": False}]) == ""


def test_missed_limits_are_shown_with_the_distance():
    limits = [
        {"what": "loop", "limit": 3.0, "unit": "x", "value": 4.0, "met": False, "detail": "", "runs": 2, "spread": 1.1},
        {
            "what": "dot",
            "limit": 3.0,
            "unit": "x",
            "value": 2.0,
            "met": True,
            "detail": "",
            "runs": 2,
            "spread": 1.0,
        },
    ]
    text = page.targets(limits)
    assert "1 of 2 are met" in text
    assert "| loop | 3 x | 4 | **missed** |  |" in text
    assert "up to\n10 %" in text
    assert page.plain_numbers("plain 1.387e+04 us, 46.2 ns") == "plain 13,870 us, 46.2 ns"


def test_a_limit_met_by_its_second_form_says_so():
    assert page.verdict_of({"limit": 4.5, "value": 7.0, "met": True}) == "met by its second limit"
    assert page.verdict_of({"limit": 4.5, "value": 4.0, "met": True}) == "met"
    assert page.verdict_of({"limit": 4.5}) == "**missed**"


def test_limits_of_the_measurement_are_told_from_errors():
    rows = [{"tool": "torch", "program": "dot", "size": 10, "error": "would take some 20 s, more than 15 s"}]
    rows += [{"tool": "JAX jit", "program": "dot", "size": 10, "error": "TypeError: no list"}]
    assert "| dot 10 (20 s) | would take more than 15 s of CPU time |" in page.refusals(rows)
    assert "| `TypeError: no list` |" in page.refusals(rows)
