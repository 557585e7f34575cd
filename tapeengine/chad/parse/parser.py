"""Reading a whole function: the rules are put together here."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...recursion import deep
from ..language.errors import OnDuals, ProgramError
from ..language.kinds import Given, of_arrays
from ..language.terms import Definition, Let, Term, Tuple, Var
from ..language.traverse import map_children
from ..language.types import Type, holds_code, is_union, show, with_elements
from .analyses.lists import RESULT
from .analyses.whole_arrays import Wanted
from .expressions import closures, subscripts
from .expressions import rules as expressions
from .expressions.parameters import own_parameters
from .library import iterables
from .names.constants import Constants, local_names
from .names.scopes import parameter_names
from .names.uses import uses
from .operations import arrays
from .operations.functions import Env
from .operations.state import Grammar, Parsed, Parser
from .refusals import watched
from .statements import blocks as statements
from .statements import calls, grid_parts, loops
from .statements.blocks import body


class ProgramParser(Parser):
    """Parses one function; see `Parser` for its parameters."""

    grammar = Grammar(
        expression=expressions.expression,
        call=calls.call_expression,
        call_method=calls.call_method,
        subscript=subscripts.subscript,
        grid_part=grid_parts.part_of,
        comprehension=loops.comprehension,
        dict_comprehension=loops.dict_comprehension,
        sum_in_order=loops.sum_in_order,
        iteration=iterables.iteration,
        for_=loops.for_statement,
        while_=loops.while_statement,
        apply=calls.apply_to,
        apply_written=calls.apply_written,
        parameter_types=calls.parameter_types,
        as_function=calls.as_function,
        check_use=closures.check_use,
        value_at=statements.value_at,
        bind=statements.bind,
        refuse=statements.refuse,
        body=body,
        recursive=statements.call_recursive,
        matmul=arrays.matmul,
        property_of=calls.property_of,
        of_super=calls.of_super,
        operator_of=calls.operator_of,
        special=calls.special,
        comparison_of=calls.comparison_of,
        applied=calls.apply_value,
    )

    def parse(self) -> Parsed:
        """Parse the whole function."""
        params, result = self.signature(self.tree)
        self.unions.update(v.of for v in params if is_union(v.of))
        self.own = own_parameters(self, params)
        env: Env = dict(zip(parameter_names(self.tree.args), params, strict=True))
        if result is not None:
            self.definitions[self.symbol] = Definition(self.symbol, params, result, Tuple(()))
        if result is None and self.calls_itself:
            result = statements.inferred_result(self, self.tree, lambda guess: self.guessing(params, env, guess))
            self.definitions[self.symbol] = Definition(self.symbol, params, result, Tuple(()))
            self.note_copies(self.tree, result)
        term = body(self, self.tree, env, result)
        term = self.coerce(self.tree, term, with_elements(term.type))
        kind = of_arrays(self.kinds.names.get(RESULT), term.type)
        self.definitions[self.symbol] = Definition(self.symbol, params, term.type, term, kind)
        definitions = {n: replace(d, body=self.read(d.body, set())) for n, d in self.definitions.items()}
        wanted = {(each, of_lists): self.wanted(node, each, of_lists) for node, each, of_lists in self.operands}
        of = (self.table.named, self.table.classes, self.programs, self.primitives)
        flags = (self.by_numpy, self.copies, self.mixes)
        read, multiplies = self.constants.checks(self.table.classes.values()), bool(self.products)
        passed = (tuple(wanted.values()), tuple(self.passed))
        return Parsed(definitions, *of, *passed, *flags, self.chooses, multiplies, read)

    @property
    def calls_itself(self) -> bool:
        """Whether the function uses its own name, and not a variable of this name."""
        own, imported = self.tree.name, local_names(self.function.__code__)
        return own in uses(self.tree.body) and own not in self.local_names and own not in imported

    def read(self, term: Term, used: set[str]) -> Term:
        """Leave out the records of which only parts are read; `used` are the variables that a term reads."""
        match term:
            case Var(name):
                used.add(name)
            case Let(var, bound, body) if var.name in self.made:
                found = self.read(body, used)
                return Let(var, self.read(bound, used), found) if var.name in used else found
        return map_children(term, lambda child: self.read(child, used))

    def guessing(self, params: tuple[Var, ...], env: Env, guess: Type) -> Term:
        """Read the function with a guess of the type of its result, which its calls of itself give."""
        self.definitions[self.symbol] = Definition(self.symbol, params, guess, Tuple(()))
        return body(self, self.tree, env, None)

    def wanted(self, node: ast.AST, operands: frozenset[Given], of_lists: bool | str | None) -> Wanted:
        """Record that an operation at a node needs arguments to be arrays, or lists."""
        return Wanted(operands, f"line {self.first + getattr(node, 'lineno', 1) - 1}", of_lists)


def refuse_code(function: Callable[..., Any], symbol: str, result: Type) -> None:
    """Refuse a program that gives its caller a function or another object that is known only while it is read."""
    if holds_code(result):
        parser = ProgramParser(function, symbol)
        try:
            advice = "return numbers, and choose functions outside the program"
            parser.error(parser.tree, f"{show(result)} as a result", advice)
        except ProgramError as error:
            error.checks = watched(function, parser.constants, ())
            raise


@deep()
def parse_function(
    function: Callable[..., Any],
    symbol: str,
    given: Mapping[str, Any] | None = None,
    program_of: Callable[[Any], Any] = lambda function: function,
    sizes: Any = None,
) -> Parsed:
    """Parse a Python function into definitions.

    It raises `ProgramError` where the function uses something outside the language, `Unresolved` where it uses a name
    that is not defined yet.
    """
    parser = None
    try:
        parser = ProgramParser(function, symbol, given, program_of)
        if sizes is not None:
            parser.by_blas = sizes.are_large
            if not parser.calls_itself:  # calls of itself may have arrays of other sizes
                parser.single_axes |= sizes.ones
        return parser.parse()
    except ProgramError as error:
        of = (parser.constants, parser.table.classes.values()) if parser else (Constants(function), ())
        error.checks += watched(function, *of)
        if parser and parser.unions:  # of classes that only values tell, which Python may use in other ways
            error = OnDuals(*error.args, *error.checks)
        raise error
