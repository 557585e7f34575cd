"""The parser's state: source text, scopes, errors, definitions, and the rules that modules below call."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import dataclasses
import functools
import inspect
import os
import threading
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NoReturn, ParamSpec, TypeVar

from numpy import ndarray

from ...._core.programs.replay import Checks
from ....errors import pass_on
from ....naming import attribute_of
from ...language.errors import OnDuals, ProgramError
from ...language.in_language import FUNCTIONS, WRITTEN
from ...language.kinds import ARRAY, COMPUTED, MIXED, NUMBER, SOME, Given, Kind, ListOf, TupleOf
from ...language.nodes import every_node
from ...language.signatures import defaults_of, names_of, source_of, stars_of, tree_of
from ...language.strangers import is_strange
from ...language.terms import (
    Branch,
    Case,
    Definition,
    Elements,
    If,
    Inject,
    Lambda,
    Let,
    Literal,
    Map,
    Op,
    Proj,
    Resize,
    Term,
    Tuple,
    Update,
    Var,
    lit,
    parts,
    unit,
)
from ...language.traverse import Lets, Name, Names
from ...language.types import (
    BOOL,
    FLOAT,
    INT,
    MANY,
    NEVER,
    UNIT,
    Array,
    Closure,
    Empty,
    Fixed,
    Function,
    Named,
    Product,
    Sum,
    Type,
    are_distinct,
    has_arrays,
    is_choice,
    is_known,
    name_of,
    numbers_of,
    parts_of,
    show,
    widens,
)
from ..analyses.aliases import aliases
from ..analyses.iterators import VIEWS, consumed, place_of
from ..analyses.lists import Kinds
from ..analyses.liveness import live_after
from ..analyses.ownership import Facts, gives_new, shared
from ..analyses.rectangles import Changes, grids, views
from ..analyses.single_axes import SingleAxes
from ..analyses.whole_arrays import Passed, Wanted
from ..names.callees import is_plain, library_name
from ..names.constants import Constants, path_of
from ..names.outside import attribute, is_numpy, named_outside, names_outside, only_of_arrays, root
from ..names.scopes import original, separated
from ..names.stars import Stars
from ..names.texts import MISSING, known_text
from ..names.types import (
    ITEMS,
    ORDER,
    Known,
    OfValues,
    TypeTable,
    UnknownType,
    Unresolved,
    annotation_object,
    class_fields,
    has_free_fields,
    is_open,
    is_vague,
    redefines,
)
from ..names.uses import defined_once, parameters, renamed_once
from ..rewrites.classes import maker_of, record_of
from ..rewrites.desugar import BoundInside, OutOfOrder, Plain
from ..rewrites.elements import with_places
from ..rewrites.empty_calls import EmptyCalls
from ..rewrites.function_arguments import FunctionArguments
from ..rewrites.generators import Generators
from ..rewrites.matching import Matches
from ..rewrites.own_fields import own_fields
from ..rewrites.own_functions import OwnFunctions
from ..rewrites.procedures import MARK, hand_back, hands_back, original_name, text_of
from ..rewrites.queues import with_starts
from ..rewrites.raising import without_tails
from ..rewrites.results import Outside
from .functions import Env, Held, Parameters
from .raising import failing, is_read, may_be_none, unguarded


@dataclass(frozen=True)
class Parsed:
    """The result of `parse_function`.

    * `definitions`: the function itself, under its own name, and the definitions lifted out of it.
    * `programs`, `primitives`: what it calls, by the names in terms.
    * `arrays`, `passed`: where it uses arguments as whole arrays, and its calls of other programs.
    * `by_numpy`: whether it calls numpy's operations on whole arrays, which have an order and functions of their own.
    * `copies`: whether a function that calls itself changes arrays that it is given.
    * `mixes`, `chooses`: whether integers become floats where they are elements, or where floats are chosen as well:
      `ZERO` and `ONE` for what loops start with, which the steps make floats, else `MANY`.
    * `multiplies`: whether it computes products of matrices, which BLAS may.
    * `constants`: compares what the program has read from outside with what is there now; None if it has read nothing.
    """

    definitions: dict[str, Definition]
    types: dict[str, Sum]
    classes: dict[str, type]
    programs: dict[str, Any]
    primitives: dict[str, Any]
    arrays: tuple[Wanted, ...]
    passed: tuple[Passed, ...]
    by_numpy: bool
    copies: bool
    mixes: bool
    chooses: int
    multiplies: bool
    constants: Checks


#: How many times a text may stand in a program: one that follows the arms of a statement, or is an arm of a case.
COPIES = 4


class Decided(Exception):
    """Raised when a use of an empty list determines the type of its elements."""

    def __init__(self, name: str, of: Type) -> None:
        super().__init__(name)
        self.name = name
        self.of = of


P = ParamSpec("P")
R = TypeVar("R", Term, Term | None)


def with_lets(make: Callable[P, R]) -> Callable[P, R]:
    """Put the variables that a function binds by `Parser.bound` around the term that it makes."""

    @functools.wraps(make)
    def made(*args: P.args, **named: P.kwargs) -> R:
        p: Any = args[0]
        return p.scoped(make, *args, **named)  # type: ignore[no-any-return]

    return made


class Undecided(threading.local):
    """The names of the types of elements of lists that begin empty, while functions are read to determine them."""

    def __init__(self) -> None:
        self.names: set[str] = set()


UNDECIDED = Undecided()


@dataclass(frozen=True)
class Grammar:
    """The rules that lower modules call, because the rules that read a program call one another.

    `sum_in_order` reads a sum over several for; `special` applies a method that Python calls for ``len`` and so on,
    `applied` a function that the parser knows.
    """

    expression: Callable[..., Term]
    call: Callable[..., Term]
    call_method: Callable[..., Term]
    subscript: Callable[..., Term]
    grid_part: Callable[..., Term | None]
    comprehension: Callable[..., Term]
    dict_comprehension: Callable[..., Term]
    sum_in_order: Callable[..., Term | None]
    iteration: Callable[..., Any]
    for_: Callable[..., Term]
    while_: Callable[..., Term]
    apply: Callable[..., Term]
    apply_written: Callable[..., Term]
    parameter_types: Callable[..., Any]
    as_function: Callable[..., Term]
    check_use: Callable[..., None]
    value_at: Callable[..., Term]
    bind: Callable[..., Term]
    refuse: Callable[..., NoReturn]
    body: Callable[..., Term]
    recursive: Callable[..., Term]
    matmul: Callable[..., Term]
    property_of: Callable[..., Term | None]
    of_super: Callable[..., Term | None]
    operator_of: Callable[..., Term | None]
    special: Callable[..., Term | None]
    comparison_of: Callable[..., Term | None]
    applied: Callable[..., Term]


#: Classes of values outside the program whose methods are those of the language.
TERMS = (list, tuple, dict, ndarray)
#: The attributes of a parser for what it has read, and for what it requires of its function's arguments.
OF_TEXT = (
    *("function", "symbol", "given", "tree", "lines", "first", "indent", "filename", "outer", "own", "local_names"),
    *("live_after", "aliases", "kinds", "shared", "grids", "views", "consumed", "renamed", "operands", "passed"),
    *("changes", "declared"),
)


class Parser(Lets):
    """Parses one function.

    * `function`: a Python function with annotated parameters.
    * `symbol`: the name of its definition.
    * `given`: annotations, or types, of parameters that have none.
    * `program_of`: makes a program of a function that this one calls.
    * `only_header`: only the annotations are read.
    """

    grammar: Grammar

    def __init__(
        self,
        function: Callable[..., Any],
        symbol: str,
        given: Mapping[str, Any] | None = None,
        program_of: Callable[[Any], Any] = lambda function: function,
        only_header: bool = False,
    ) -> None:
        self.function = function
        self.program_of = program_of
        self.given = given or {}
        self.symbol = symbol
        super().__init__(Names())
        self.definitions: dict[str, Definition] = {}
        self.programs: dict[str, Any] = {}
        self.primitives: dict[str, Any] = {}
        self.results: list[Type | None] = []
        self.returned: dict[ast.AST, list[Type]] = {}
        self.held: dict[str, Held] = {}
        self.ahead: dict[tuple[int, int], tuple[ast.expr, Env, Term]] = {}
        self.narrowed: dict[str, Term] = {}
        self.left: dict[str, Mapping[int, Type]] = {}  # the options of unions, where not all are possible
        self.made: dict[str, tuple[Term, ...]] = {}
        self.declared: dict[str, Type] = {}
        self.open: list[tuple[Any, ...]] = []
        self.single_axes = SingleAxes()
        self.operands: list[tuple[ast.AST, frozenset[Given], bool | str | None]] = []
        self.passed: list[Passed] = []
        self.by_numpy = self.copies = self.mixes = self.by_blas = False
        self.chooses = 0
        self.products: list[ast.AST] = []  # of matrices
        self.unions: set[Type] = set()  # of records, which no annotation names
        self.repeated = 1.0  # how often the text that is being read stands in the arms of statements before it
        self.of_empty: Type = NEVER
        self.place: tuple[str, int] | tuple[()] = ()
        self.constants = Constants(function)
        self.own = Parameters((), (), ())
        self.table = TypeTable(self.named_object)
        self.filename = function.__code__.co_filename
        self.tree = self._read()
        self.outer = names_outside(function)
        if not only_header:
            self.analyse()

    def analyse(self) -> None:
        """Rewrite the text by simpler statements, and find what the reading of each needs to know of others."""
        self.tree, self.local_names = separated(self.plain(self.tree))
        self.live_after = live_after(self.tree)
        self.aliases = aliases(self.tree, self.live_after)
        self.kinds = Kinds(self.tree, Outside(self.outer, (self.function,), self.known_types(), self.table.classes))
        of_arrays = only_of_arrays((*self.outer.values(), *self.table.classes.values()))
        of_kinds = self.is_fresh, of_arrays, self.kinds.is_of_record
        facts = Facts(self.is_copy, is_numpy(self.outer), self.makes_record, *of_kinds)
        self.inner = defined_once(self.tree)
        self.shared = shared(self.tree, facts)
        self.changes = Changes(self.tree)
        self.grids = grids(self.changes, self.is_copy, self.is_list, self.is_array)
        self.views = views(self.changes)
        self.renamed = renamed_once(self.tree)
        self.consumed = consumed(self.tree, self.consumes)

    def plain(self, tree: ast.FunctionDef) -> Any:
        """Rewrite statements by simpler ones."""
        if changed := getattr(self.function, "changed", None):
            hand_back(tree, changed)
            tree.name = f"{MARK}{tree.name}"  # under which it calls itself
        if rewritten := getattr(self.function, "rewritten", None):
            rewritten(tree)
        try:
            tree = OwnFunctions(self.function, self.outer).visit(EmptyCalls(self.outer).visit(tree))
            tree = Generators(Matches(without_tails(tree), self.outer).visit(tree), self.outer).visit(tree)
            tree = with_places(Stars(tree, self.outside, is_numpy(self.outer)).visit(tree), self.outer)
            classes = {n: self.table.classes.get(getattr(of, "name", "")) for n, of in self.known_types().items()}
            if not changed:
                tree = own_fields(tree, self.outer, classes)
            plain = Plain(tree, self.outer, classes)
            tree = FunctionArguments(tree, self.outer, plain.names).visit(tree)
            tree = plain.plain(BoundInside(tree, plain.names).visit(tree))
            return with_starts(tree, plain.names, lambda name: isinstance(self.known_types().get(name), Array))
        except OutOfOrder as error:
            is_filled = any(isinstance(n, ast.Dict) and not n.keys for n in every_node(tree))
            self.error(error.node, str(error), error.advice, OnDuals if is_filled else ProgramError)

    def outside(self, node: ast.expr) -> ast.arguments | None:
        """Give the parameters of the function outside the program that an expression denotes, if it has stars."""
        found = named_outside(node, self.outer)
        found = attribute_of(found, "__tapeengine_function__", found)
        if not is_plain(found) or not any(stars := stars_of(found)):
            return None
        rest, more = stars
        code, given = found.__code__, list(map(ast.arg, names_of(found)))
        places = code.co_argcount
        by_name = given[places + len(rest) : places + len(rest) + code.co_kwonlyargcount]
        one, two = (ast.arg(names[0]) if names else None for names in (rest, more))
        return ast.arguments([], given[:places], one, by_name, [None] * len(by_name), two, [])

    def known_types(self) -> dict[str, Type]:
        """Give the types of the parameters that are given, or annotated."""
        found = {}
        for arg in parameters(self.tree.args):
            with contextlib.suppress(ProgramError, Unresolved):
                found[arg.arg] = self.parameter_type(self.tree, arg)
        return found

    def makes_record(self, function: ast.expr) -> bool:
        """Tell whether a function makes a new record of a class whose fields can be assigned."""
        found = None if root(function) in self.local_names else named_outside(function, self.outer)
        return found is dataclasses.replace or has_free_fields(record_of(found))

    def is_fresh(self, call: ast.Call) -> bool | None:
        """Do the same as `Kinds.is_fresh`, also by the text of a function that gives arrays of numpy."""
        found = None if root(call.func) in self.local_names else named_outside(call.func, self.outer)
        tree = text_of(found) if is_plain(found) else self.inner.get(root(call.func))
        outer = names_outside(found) if is_plain(found) else self.outer
        known = self.kinds.is_fresh(call)
        return (known is None and tree is not None and gives_new(tree, Facts(is_numpy=is_numpy(outer)))) or known

    def consumes(self, call: ast.Call) -> bool:
        """Tell whether a call is of a function of Python's that takes the elements of its arguments."""
        function = self.renamed.get(root(call.func), call.func)
        found = None if root(function) in self.local_names else named_outside(function, self.outer)
        name = library_name(found)
        if name == "builtins.len":  # which views have, and iterators have not
            return all(isinstance(a, ast.Call) and getattr(a.func, "attr", "") in VIEWS for a in call.args)
        is_numpy = name.startswith("numpy.") and name != "numpy.fromiter"
        return bool(name) and not is_numpy and name not in ("functools.partial", "builtins.bool")

    def at_once(self, node: ast.AST, what: str, refusal: type[ProgramError] = ProgramError) -> None:
        """Refuse an iterator that is not used up where it stands, which may have no end."""
        if place_of(node) not in self.consumed | {None}:
            message = f"{what} is kept for later, when its variables may have changed, and gives its elements once"
            self.error(node, message, "make it a list: list(...)", refusal)

    def note_copies(self, function: ast.FunctionDef, result: Type) -> None:
        """Record whether a function that calls itself returns arrays that it changes."""
        of = result.items[1:] if isinstance(result, Product) else ()
        self.copies = self.copies or (hands_back(function) and any(map(has_arrays, of)))

    def reading(self, other: Parser) -> Parser:
        """Give a parser of another function's text, whose terms become part of this one's function."""
        if other.tree is self.tree:
            return self
        found = copy.copy(self)
        for name in OF_TEXT:
            setattr(found, name, getattr(other, name))
        return found

    def _read(self) -> ast.FunctionDef:
        try:
            lines, first = source_of(self.function)
        except (OSError, TypeError) as error:
            message = f"the source text of {self.function.__name__} is not available: a plain Python session keeps none"
            raise ProgramError(message, "define it in a file or a notebook", self.filename, 0, "", 0) from error
        self.lines = lines
        self.first = first
        tree, self.indent = tree_of(self.function)
        if tree is None:
            raise ProgramError("a program is a def", "write def name(...): ...", self.filename, first, lines[0], 0)
        return tree

    def place_of(self, node: ast.AST) -> tuple[str, int]:
        """Give the file and the line of a node."""
        return os.path.basename(self.filename), self.first + getattr(node, "lineno", 1) - 1

    def on_duals(self, node: ast.AST, message: str, advice: str) -> NoReturn:
        """Leave a program to dual numbers because of a piece of it."""
        self.error(node, message, advice, OnDuals)

    def beyond(self, node: ast.AST, found: Any, message: str, advice: str) -> NoReturn:
        """Refuse a function; one of a library but `math`, which takes numbers, is left to dual numbers."""
        is_own = not callable(found) or is_plain(found) or library_name(found).startswith("math.")
        self.error(node, message, advice, ProgramError if is_own and not isinstance(found, type) else OnDuals)

    def unfit(self, node: ast.AST, types: Iterable[Type], message: str, advice: str) -> NoReturn:
        """Refuse values of some types; what Python does with records, methods of their classes may say."""
        self.error(node, message, advice, OnDuals if any(map(self.has_records, types)) else ProgramError)

    def has_records(self, of: Type) -> bool:
        """Tell whether values of a type are, or hold, records of a class."""
        return self.is_record(of) or any(map(self.has_records, parts_of(of)))

    def error(self, node: ast.AST, message: str, advice: str, of: type[ProgramError] = ProgramError) -> NoReturn:
        """Refuse a piece of a program."""
        lineno = getattr(node, "lineno", 1)
        line = self.lines[lineno - 1].rstrip("\n") if lineno <= len(self.lines) else ""
        column = getattr(node, "col_offset", 0) + self.indent
        message, advice = original(message), original(advice)
        raise of(message, advice, self.filename, self.first + lineno - 1, line, column)

    def named_object(self, name: str) -> Any:
        """Give the Python object that the text of an annotation denotes."""
        return annotation_object(ast.parse(name, mode="eval").body, self.outer)

    def annotation_object(self, node: ast.expr, what: str = "a parameter", **given: Any) -> Any:
        """Give the Python object of an annotation without evaluating text, where names may mean what is given."""
        try:
            return annotation_object(node, {**self.outer, **given} if given else self.outer)
        except UnknownType as error:
            self.error(node, f"{what} has a type outside the language", str(error))
        except Unresolved:  # a name of a function around this one, which only annotations use
            own, a = self.function.__annotations__, self.tree.args
            texts = {**{arg.arg: arg.annotation for arg in parameters(a)}, "return": self.tree.returns}
            same = [own.get(n, "") for n, of in texts.items() if of is not None and ast.dump(of) == ast.dump(node)]
            if not same or isinstance(same[0], str):
                raise
            return same[0]

    def is_vague(self, node: ast.expr | None) -> bool:
        """Tell whether an annotation is missing, or leaves the type to the argument."""
        return node is None or is_vague(self.annotation_object(node))

    def annotated(
        self, node: ast.expr | None, owner: ast.AST, what: str, refusal: type[ProgramError] = ProgramError
    ) -> Type:
        """Translate a required annotation."""
        if node is None:
            self.error(owner, f"{what} has no type", "annotate it: float, int, te.Vec, te.Array[...], ...")
        return self.translated(self.annotation_object(node, what), node, what, refusal)

    def translated(self, annotation: Any, node: ast.AST, what: str, refusal: type[ProgramError] = ProgramError) -> Type:
        """Translate the value of an annotation, or a class, that something at a node has."""
        try:
            return self.table(annotation)
        except UnknownType as error:
            refusal = OnDuals if isinstance(error, OfValues) else refusal
            self.error(node, f"{what} has a type outside the language", str(error), refusal)

    def field_types(self, cls: Any, node: ast.AST) -> dict[str, Type | None]:
        """Give the types of a record's fields; None for those that depend on its values."""
        if not is_open(cls):
            of = self.translated(cls, node, cls.__name__)
            assert isinstance(of, Product)
            return dict(zip(of.fields, of.items, strict=True))
        try:
            hints = self.table.field_annotations(cls)
        except UnknownType as error:
            self.error(node, f"{cls.__name__} has a type outside the language", str(error))
        return {f: None if hint is None else self.translated(hint, node, f"the field {f}") for f, hint in hints.items()}

    def static(self, node: ast.expr, env: Env) -> Any:
        """Give the Python object that a name or attribute chain denotes, or its program; MISSING if it is a term."""
        found = self.object(node, env)
        return found if isinstance(node, ast.Name) and node.id in env else self.callee(found)

    def object(self, node: ast.expr, env: Env) -> Any:
        """Do the same as `static`, without the program in the place of a function or a class."""
        match node:
            case ast.Name(id=name):
                if name in env:
                    return self.known_object(env[name])
                if name in self.local_names:
                    advice = "give it a value before the branch or loop"
                    self.error(node, f"{name} has no value on every path to here", advice)
                if name not in self.outer:
                    raise Unresolved(name)
                return self.constant(node)
            case ast.Attribute(value=value, attr=attr):
                owner = self.object(value, env)
                if owner is MISSING or type(owner) in TERMS:
                    return MISSING
                if isinstance(owner, ModuleType | type) or root(node) in env:
                    self.constants.note_attribute(owner, attr)
                else:
                    self.constants.note(self.function, path_of(node))
                return attribute(owner, attr, MISSING)
        return MISSING

    def class_of(self, found: Any) -> Any:
        """Give the class of the records that a term gives; None for anything else."""
        return self.table.classes.get(name_of(getattr(found, "type", None)))

    def method_of(self, receiver: Any, name: str) -> Any:
        """Give the program of a record's method; MISSING if it has no such method."""
        return self.callee(getattr(self.class_of(receiver), name, MISSING))

    def class_attribute(self, record: Term, name: str) -> Any:
        """Give an attribute of a record's class other than functions; MISSING if there is none."""
        cls = self.class_of(record)
        found = inspect.getattr_static(cls, name, MISSING)
        if found is MISSING or hasattr(found, "__get__"):
            return MISSING
        self.constants.note_attribute(cls, name)
        return found

    def constant(self, node: ast.Name) -> Any:
        """Give what a name denotes outside, which a derivative keeps until that changes."""
        self.constants.note(self.function, tuple(original_name(node.id).split(".")))
        return self.outer[node.id]

    def known_object(self, value: Any) -> Any:
        """Give the function, class or enumeration's member that a variable stands for; MISSING for others."""
        of = getattr(value, "type", None)
        return self.callee(of.value) if type(of) is Fixed else MISSING

    def callee(self, found: Any) -> Any:
        """Give the program of a function of the user's own, or of one written in the language, else itself."""
        if (written := FUNCTIONS.get(library_name(found))) is None and isinstance(found, type):
            written = maker_of(found)
        if written is not None:
            return self.program_of(written)
        return self.program_of(found) if found is not self.function and is_plain(found) else found

    def known(self, node: ast.expr, env: Env) -> Any:
        """Give the Python value of an expression that no run changes, MISSING for any other."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if isinstance(of := getattr(env.get(name), "type", None), Fixed):
                return of.value
            case ast.Name(id=name) if isinstance(value := env.get(name), Literal):
                return value.value
            case ast.Tuple(elts=elts) if MISSING not in (parts := [self.known(e, env) for e in elts]):
                return tuple(parts)
            case ast.Name() | ast.Attribute():
                return self.static(node, env)
            case ast.Subscript(value=ast.Name() | ast.Attribute() | ast.Subscript() as value, slice=index):
                owner = self.known(value, env)
                if isinstance(owner, dict) and not is_strange(owner):
                    return owner.get(self.known(index, env), MISSING)
                if not isinstance(owner, str):
                    return MISSING
        return known_text(node, lambda part: self.known(part, env))

    def operated(self, node: ast.AST, operands: Sequence[tuple[ast.expr, Term]]) -> None:
        """Record the operands of an operation that is elementwise only if one of them is an array of numpy."""
        sequences = {type(self.kinds.of(e)) for e, t in operands if isinstance(t.type, Product) and not t.type.name}
        if isinstance(node, ast.Compare) and TupleOf in sequences and not {ListOf, type(MIXED)}.isdisjoint(sequences):
            self.on_duals(node, "a comparison of a tuple with what may be a list", "write tuple(xs)")
        arrays = [(self.kinds.of(e), t) for e, t in operands if isinstance(t.type, Array)]
        if arrays and all(isinstance(kind, ListOf) for kind, _ in arrays):
            self.error(node, "this is an operation on lists", "write a comprehension, or np.array(...) of one of them")
        if arrays and all(isinstance(k, ListOf) or k == MIXED or getattr(k, "or_list", False) for k, _ in arrays):
            self.error(node, "this is a list in one case, an array in another", "make it an array: np.array(...)")
        self.unclear(node, [kind for kind, _ in arrays])
        if arrays and all(isinstance(kind, ListOf | Given) or kind == MIXED for kind, _ in arrays):
            self.operands.append((node, frozenset(kind for kind, _ in arrays if isinstance(kind, Given)), False))

    def of_numpy(self, node: ast.AST, method: ast.Attribute) -> None:
        """Refuse a method that numpy's numbers have and Python's have not, where the text shows one of Python's."""
        if method.attr == "dot":
            self.error(node, "numbers have no dot", "write x * y")
        kinds = self.kinds.of_operands(method.value)
        given = frozenset(kind for kind in kinds if isinstance(kind, Given))
        if all(kind == NUMBER or isinstance(kind, Given) for kind in kinds):
            if not given:
                self.error(node, f"Python's numbers have no {method.attr}", "write float(x), int(x) or bool(x)")
            self.operands.append((node, given, None))

    def in_python(self, *nodes: ast.expr) -> bool:
        """Tell whether numbers are Python's, not numpy's, if the arguments are, of which calls are to give Python's."""
        found = [self.kinds.in_python(node) for node in nodes]
        given = frozenset().union(*(each or () for each in found))
        if given and None not in found:
            self.operands.append((nodes[0], given, NUMBER))
        return None not in found

    def unclear(self, node: ast.AST, kinds: Sequence[Kind]) -> None:
        """Refuse an operator that lists have, too, if the text does not say whether its operands are lists."""
        is_of_lists = isinstance(node, ast.Compare) or isinstance(getattr(node, "op", None), ast.Add | ast.Mult)
        if not is_of_lists or ARRAY in kinds:
            return
        is_times = any(isinstance(k, ListOf) for k in kinds) and COMPUTED in kinds
        if is_times or (COMPUTED not in kinds and (None in kinds or SOME in kinds)):
            message = "the text does not say whether this is an operation on lists or on arrays"
            self.error(node, message, "make one operand an array: np.array(...)")

    def as_list(self, node: ast.expr) -> bool:
        """Tell whether an expression gives a list; if it is (a part of) an argument, require that calls give a list."""
        kind = self.kinds.of(node)
        if isinstance(kind, ListOf) or not isinstance(kind, Given) or kind.is_mixed:
            return isinstance(kind, ListOf)
        self.operands.append((node, frozenset({kind}), True))
        return True

    def as_array(self, node: ast.expr) -> bool:
        """Tell whether an expression is an argument, or a part of one, that is an array in the call."""
        kind = self.kinds.of(node)
        if not isinstance(kind, Given) or kind.is_mixed or kind.or_list or self.kinds.outside.is_list(kind):
            return False
        if any(isinstance(self.given.get(name), Known | None) for name, _ in kind.places):  # the call is another's
            return False
        self.operands.append((node, frozenset({kind}), False))
        return True

    def joins(self, node: ast.expr) -> bool:
        """Tell whether an expression gives a list of the program's own, or a part of an argument that is a list."""
        return self.is_list(node) or self.kinds.outside.is_list(self.kinds.of(node))

    def no_array(self, node: ast.expr) -> None:
        """Refuse an operation of lists on an array; of an argument, require that calls give a list."""
        if not self.as_list(node) and self.is_array(node):
            self.error(node, f"{ast.unparse(node)} is an array, and this works on lists", "make it a list: list(...)")

    def is_copy(self, node: ast.expr) -> bool:
        """Tell whether a slice is a copy, as one of a list is; and of a copy or a sum whether its rows are copies."""
        if isinstance(node, ast.Subscript):
            return self.as_list(node.value)
        kind = self.kinds.of(node)
        if isinstance(kind, Given) and not (kind.is_mixed or kind.or_list):
            self.operands.append((node, frozenset({kind}), False))
            return True
        return kind in (ARRAY, COMPUTED)

    def is_array(self, node: ast.expr) -> bool:
        """Tell whether an expression makes an array, whatever the arguments are."""
        kind = self.kinds.of(node)
        return kind in (ARRAY, COMPUTED)

    def is_module(self, node: ast.expr) -> bool:
        """Tell whether an expression is the name of a module."""
        return isinstance(node, ast.Name) and inspect.ismodule(self.outer.get(node.id))

    def passes(self, program: Any, names: Sequence[str], given: Sequence[ast.expr]) -> None:
        """Record the arguments of another program, which may use them as arrays; numpy's functions take lists."""
        if program.__tapeengine_function__ in WRITTEN:
            return
        self.passed.append(Passed(program, tuple(zip(names, map(self.passed_kind, given), strict=False))))

    def passed_kind(self, node: ast.expr) -> Kind:
        """Give the kind of an argument; of a number that of the arguments that decide its class."""
        kind = self.kinds.of(node)
        given = self.kinds.in_python(node) if kind in (COMPUTED, NUMBER) else None
        places = frozenset().union(*(each.places for each in given or ()))
        return kind if given is None else Given(places) if places else NUMBER

    def is_sequence(self, of: Product) -> bool:
        """Tell whether a product is a tuple in Python that has items by position; an empty one may stand for None."""
        cls = self.table.classes[of.name] if of.name else tuple
        return bool(of.items) and issubclass(cls, tuple) and not redefines(cls, ITEMS)

    def is_no_tuple(self, of: Type) -> bool:
        """Tell whether a type is that of records without items by position, of texts, of functions and the like."""
        return isinstance(of, Product) and bool(of.name) and not self.is_sequence(of)

    def is_compared(self, of: Product) -> bool:
        """Tell whether a product is compared as a tuple is, item by item."""
        return self.is_sequence(of) and not (of.name and redefines(self.table.classes[of.name], ORDER))

    def is_list(self, node: ast.expr) -> bool:
        """Tell whether an expression gives a Python list."""
        return isinstance(self.kinds.of(node), ListOf)

    def fresh(self, hint: str, of: Type) -> Var:
        """Make a new variable."""
        return Var(self.names(original(hint)), of)

    def named(self, name: str, of: Type, place: tuple[str, int] | tuple[()] = (), parts: tuple[str, ...] = ()) -> Var:
        """Make a variable for one of the source; the parts of a record are its fields."""
        shown = original(name)
        fields = getattr(getattr(of, "element", of), "fields", ())
        return Var(self.names(Name(shown, place, parts or tuple(f"{shown}_{f}" for f in fields))), of)

    def part(self, record: Term, k: int) -> Term:
        """Give a field of a record: the value that the record was made from, so that changing it costs one field."""
        match record:
            case Tuple(items):
                return items[k]
            case Update(inner, i, item):
                return item if i == k else self.part(inner, k)
        made = self.made.get(record.name) if isinstance(record, Var) else None
        return made[k] if made else Proj(record, k)

    def settled(self, record: Term) -> Term:
        """Give a record with its parts bound, for the function that reads some: Python computes the others as well."""
        if not isinstance(record, Tuple):
            return record
        return replace(record, items=tuple(self.bound("part", x) for x in record.items))

    def narrowing(self, hint: str, option: Type, subject: Term) -> Var:
        """Make a variable for the payload of a union's member."""
        var = self.fresh(hint.rpartition("->")[2], option)
        self.narrowed[var.name] = subject
        return var

    def possible(self, union: Any) -> Mapping[int, Type] | None:
        """Give the options that a member of a union may have, by their numbers; None for another value."""
        options = self.table.options(getattr(union, "type", NEVER))
        left = self.left.get(union.name) if isinstance(union, Var) else None
        return None if options is None else left or dict(enumerate(options))

    @contextlib.contextmanager
    def in_copies(self, count: float) -> Iterator[None]:
        """Say that what is read meanwhile stands so many times in the program."""
        before, self.repeated = self.repeated, self.repeated * count
        try:
            yield
        finally:
            self.repeated = before

    def within(self, hint: str, term: Term, body: Callable[[Term], Term]) -> Term:
        """Make a term with a bound one, which stands around this term alone."""
        return self.scoped(lambda: body(self.bound(hint, term)))  # type: ignore[no-any-return]

    def bound(self, hint: str, term: Term) -> Term:
        """Bind a term around what the function that asks for it makes, which is one `with_lets`, and give the variable.

        A variable or a literal is given as it is.
        """
        if isinstance(term, Var | Literal):
            return term
        var = self.fresh(hint, term.type)
        self.single_axes.note(var.name, term)
        self.lets.append((var, term))
        return var

    def of_each(self, array: Term, change: Callable[[Var], Term], hint: str = "row") -> Term:
        """Give an array with each element changed."""
        assert isinstance(array.type, Array)
        element = self.fresh(hint, array.type.element)
        return Map((element,), change(element), (array,))

    def by_type(self, term: Term, found: Term) -> Term:
        """Give the value that a term's type determines; a term that is not only read is computed as well."""
        return found if is_read(term) else Let(self.fresh("unused", term.type), term, found)

    def is_grid(self, name: str) -> bool:
        """Tell whether a variable is a rectangle of numbers that the program changes."""
        return self.grids.get(name, "") is None

    def element_of(self, node: ast.AST, term: Term, of: Type) -> Term:
        """Do the same for an element, or one of several values; note an integer, which stays one in Python."""
        self.mixes = self.mixes or widens(term.type, of)
        return self.coerce(node, term, of)

    def coerce(self, node: ast.AST, term: Term, of: Type, is_operand: bool = False) -> Term:
        """Make a term one of a given type: integers become floats, members become members of their union.

        Where it is no operand, note an integer, which stays one in Python.
        """
        if not is_operand and widens(term.type, of):
            self.chooses, self.mixes = self.chooses | MANY, self.mixes or isinstance(of, Array)
        result = self.convert(term, of)
        if result is None:
            message = f"this is of type {show(term.type)} where {show(of)} is wanted"
            self.unfit(node, [term.type], message, f"give a value of type {show(of)}")
        return result

    def convert(self, term: Term, of: Type) -> Term | None:
        """Convert a term to a type, None if that cannot be."""
        if term.type == of:
            return term
        if isinstance(of, Sum | Named) and may_be_none(term) and UNIT in (self.table.options(of) or ()):
            return self.or_none(term, of)
        if term.type == NEVER:
            return failing(of)
        if UNDECIDED.names:
            if self.is_undecided(of) and NEVER in parts_of(term.type):
                return failing(of)  # a part of an element of the list itself: another element determines the type
            self.decide(term.type, of)
            self.decide(of, term.type)
        if of == FLOAT and term.type in (INT, BOOL):
            if isinstance(term, Literal):
                return lit(float(term.value))
            return Op("real", (term,), FLOAT)
        if isinstance(of, Sum | Named):
            options = self.table.options(of) or ()
            for i, option in enumerate(options):
                if term.type == option:
                    return Inject(i, term, of)
            own = self.table.options(term.type) or ()
            if len(options) == 2 and options[1] == UNIT and (member := self.convert(term, options[0])) is not None:
                return Inject(0, member, of)
            if own and own == options[: len(own)] and isinstance(of, Sum) and isinstance(term.type, Sum):
                return Resize(term, of)
            if own and set(own) <= set(options):
                variables = [self.fresh("m", option) for option in own]
                branches = (Branch(v, Inject(options.index(v.of), v, of)) for v in variables)
                return Case(term, tuple(branches))
        if isinstance(of, Function) and isinstance(term.type, Fixed | Closure):
            params = tuple(self.fresh("x", t) for t in of.params)
            value = self.convert(self.grammar.applied(self, self.tree, term, params), of.result)
            return value and Lambda(params, value)
        is_tuple = isinstance(term.type, Product) and self.is_sequence(term.type)
        if isinstance(of, Array) and (is_tuple or isinstance(term, Elements)):
            each = term.items if isinstance(term, Elements) else parts(term)
            items = [self.convert(item, of.element) for item in each]
            return None if None in items else Elements(tuple(filter(None, items)), of.element)
        if isinstance(of, Array) and isinstance(term.type, Array):
            var = self.fresh("x", term.type.element)
            body = self.convert(var, of.element)
            return None if body is None else Map((var,), body, (term,))
        if isinstance(of, Product) and isinstance(term.type, Product) and len(of.items) == len(term.type.items):
            is_other = of.name != term.type.name or (of.name and of.fields != term.type.fields)
            if is_other or type(of) is not type(term.type) or isinstance(of, Empty | Fixed | Closure):
                return None
            items = [self.convert(part, item) for part, item in zip(parts(term), of.items, strict=True)]
            return None if None in items else Tuple(tuple(filter(None, items)), of if of.name else None)
        return None

    def optional(self, term: Term) -> Term:
        """Make a variable that may be None a member of a union with None."""
        _, value = unguarded(term) or (lit(False), unit())
        options = self.table.options(value.type) or (value.type,)
        of = value.type if UNIT in options else Sum((*options, UNIT))
        return unit() if value.type == UNIT else self.convert(term, of) or term

    def or_none(self, term: Term, of: Sum | Named) -> Term | None:
        """Convert a variable that may be None to a union with None."""
        none = Inject((self.table.options(of) or ()).index(UNIT), unit(), of)
        has, value = unguarded(term) or (lit(False), none)
        found = self.convert(value, of)
        return found and If(has, found, none)

    def is_undecided(self, of: Type) -> bool:
        """Tell whether a type is the unknown one of the elements of a list that begins empty."""
        return isinstance(of, Named) and of.name in UNDECIDED.names

    def is_reached(self, term: Term) -> bool:
        """Tell whether an expression may have a value while statements are read only to determine types."""
        return term.type != NEVER and not self.is_undecided(term.type)

    def decide(self, unknown: Type, of: Type) -> None:
        """Determine the element type of an empty list from the type of an array that it meets."""
        if isinstance(unknown, Array) and isinstance(of, Array):
            self.decide(unknown.element, of.element)
        elif isinstance(unknown, Named) and self.is_undecided(unknown) and of != NEVER:
            raise Decided(unknown.name, of)

    def unify(self, node: ast.AST, first: Type, second: Type) -> Type:
        """Give the type that values of two types can both be converted to."""
        for wide, narrow in ((first, second), (second, first)):
            if self.convert(Var("_", narrow), wide) is not None:
                return wide
        each = [of.options if isinstance(of, Sum) else (of,) for of in (first, second)]
        each.sort(key=len, reverse=True)  # so that members of the longer union are members of the new one
        options = tuple(dict.fromkeys(each[0] + each[1]))
        if is_choice(Sum(options)):
            return Sum(options)
        if UNIT in (first, second) and not any(map(is_known, options)):
            return Sum((*(of for of in options if of != UNIT), UNIT))
        if all(of == UNIT or self.is_record(of) or name_of(of) == "dict" for of in options) and are_distinct(options):
            self.unions.add(Sum(options))
            return Sum(options)
        if isinstance(first, Product) and isinstance(second, Product) and len(first.items) == len(second.items):
            items = (self.unify(node, a, b) for a, b in zip(first.items, second.items, strict=True))
            return replace(first, items=tuple(items))
        message = f"this is {show(first)} in one case and {show(second)} in another"
        self.unfit(node, [first, second], message, "give one type in all cases")

    def common(self, node: ast.AST, types: Iterable[Type]) -> Type:
        """Give the type that values of several types can be converted to."""
        return functools.reduce(functools.partial(self.unify, node), types)

    def joined(self, node: ast.AST, types: Sequence[Type]) -> Type:
        """Give the type of what has one of several types, by the path to it."""
        self.no_bool_or_float(node, types)
        return self.common(node, types)

    def is_record(self, of: Type) -> bool:
        """Tell whether a type is that of the records of a class."""
        return class_fields(self.table.classes.get(name_of(of))) is not None

    def no_bool_or_float(self, node: ast.AST, types: Sequence[Type]) -> None:
        """Refuse a choice between a bool and a float, also in arrays and tuples."""
        products = [of for of in types if isinstance(of, Product)]
        if len({(of.name, of.fields) for of in products}) == 1:
            for each in zip(*(of.items for of in products), strict=False):
                self.no_bool_or_float(node, each)
        if {FLOAT, BOOL} <= set(map(numbers_of, types)):
            self.error(node, "this is bool in one case and float in another", "give one type in all cases: float(c)")

    def signature(self, node: ast.FunctionDef) -> tuple[tuple[Var, ...], Type | None]:
        """Read the parameters and the result type of a def."""
        a = node.args
        params = tuple(self.named(arg.arg, self.parameter_type(node, arg)) for arg in parameters(a))
        return params, self.result_type(node)

    def result_type(self, node: ast.FunctionDef) -> Type | None:
        """Give the type of a result as annotated; None where nothing says it, or a bool may be meant by ``int``."""
        is_int = isinstance(node.returns, ast.Name) and node.returns.id == "int"
        if node.returns is None or (is_int and any(map(gives_bool, every_node(node)))):
            return None
        annotation = self.annotation_object(node.returns, "the result")
        members = [m for m in typing.get_args(annotation) if m is not type(None)]
        is_optional = type(None) in typing.get_args(annotation) and len(members) == 1
        if is_vague(members[0] if is_optional else annotation):
            return None
        return self.annotated(node.returns, node, "the result")

    def refuse_stars(self) -> None:
        """Refuse a program of any number of arguments."""
        if getattr(self.tree, "has_stars", False):
            self.error(
                self.tree, "a parameter with *", "give the arguments names, or one parameter an array or a tuple"
            )

    def parameter_type(self, node: ast.FunctionDef, arg: ast.arg) -> Type:
        """Give the type of a parameter: as annotated, or that of its argument."""
        if node is self.tree and arg.arg in self.given:
            return self.translated(self.given[arg.arg], arg, f"the parameter {arg.arg}", OnDuals)
        of = self.annotated(arg.annotation, arg, f"the parameter {arg.arg}")
        may_be_none = node is self.tree and defaults_of(self.function).get(arg.arg, of) is None
        return self.unify(arg, of, UNIT) if may_be_none else of

    def header(self) -> tuple[tuple[Type, ...], Type | None]:
        """Give the parameter types and the result type as they are annotated."""
        params, result = self.signature(self.tree)
        return tuple(v.of for v in params), result


def gives_bool(node: ast.AST) -> bool:
    """Tell whether a statement returns what the text shows to be a bool."""
    value = node.value if isinstance(node, ast.Return) else None
    is_written = value is not None and ast.unparse(value).split()[0] in ("True", "False", "not")
    return is_written or isinstance(value, ast.Compare | ast.BoolOp)


def unannotated(function: Callable[..., Any]) -> tuple[str, ...]:
    """Give the parameters of a function that have no annotation, or one that leaves the type to the argument."""
    outer = {**vars(builtins), **function.__globals__}

    values = defaults_of(function)

    def is_open(name: str) -> bool:
        annotation = function.__annotations__.get(name, typing.Any)
        try:
            text = isinstance(annotation, str)
            found = annotation_object(ast.parse(annotation, mode="eval").body, outer) if text else annotation
            return is_vague(found if values.get(name, found) is not None else typing.Optional[found])  # noqa: UP045
        except Exception as error:  # the parser reports it with its place
            pass_on(error)
            return False

    rest, more = stars_of(function)
    return tuple(name for name in names_of(function) if name in rest or name in more or is_open(name))
