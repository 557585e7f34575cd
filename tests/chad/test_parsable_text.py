"""Parse of pretty-print is the identity, up to names."""

import importlib.util
import itertools

import chad.examples_language
import chad.examples_syntax  # noqa: F401  (registers its programs)
import pytest
from chad.examples import EXAMPLES
from chad.parsable_text import pretty
from chad.terms_of_language import programs
from hypothesis import HealthCheck, Phase, given, settings

from tapeengine.chad.specification import Evaluator
from tapeengine.chad.terms import Definition, Module, Var
from tapeengine.chad.traverse import canonical
from tapeengine.chad.types import FLOAT

HEAD = """\
from collections.abc import Callable

from chad.examples import *
from chad.examples_language import *
from tapeengine import chad as te
from tapeengine.chad import annotations, forms
import tapeengine.math as math


class chad:
    pass


for module in (annotations, forms):
    for name in module.__all__:
        setattr(chad, name, staticmethod(getattr(module, name)) if module is forms else getattr(module, name))


"""
COUNT = itertools.count()


def reparsed(module, folder):
    """Write a module's text to a file, import it, and give its terms again."""
    text = HEAD + "\n\n".join("@te.program\n" + part for part in pretty(module).split("\n\n\n"))
    path = folder / f"written_{next(COUNT)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    python = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(python)
    return getattr(python, module.main), python


def same(module, again):
    assert set(module.definitions) == set(again.definitions)
    for name, d in module.definitions.items():
        e = again.definitions[name]
        assert canonical(d.body, d.params) == canonical(e.body, e.params), name
        assert [p.of for p in d.params] == [p.of for p in e.params]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(program=programs())
def test_random_programs(folder, program):
    env, args, term = program
    module = Module("f", {"f": Definition("f", env, term.type, term)})
    again, _ = reparsed(module, folder)
    same(module, again.module)
    assert Evaluator(again.module).run("f", args) == Evaluator(module).run("f", args)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples(folder, name):
    module = EXAMPLES[name][0].module
    again, _ = reparsed(module, folder)
    same(module, again.module)


def test_the_text_means_the_same_as_python(folder):
    program, args = EXAMPLES["convolution"]
    again, _ = reparsed(program.module, folder)
    assert again(*args) == pytest.approx(program(*args), rel=1e-13)


@pytest.mark.parametrize("name", ["x; import os", "lambda", "a b", "1x", ""])
def test_names_cannot_carry_code(name):
    x = Var(name, FLOAT)
    with pytest.raises(ValueError, match="not a name"):
        pretty(Module("f", {"f": Definition("f", (x,), FLOAT, x)}))
