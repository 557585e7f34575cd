"""Find and rebind what a callable captures: closure conversion of ordinary Python callables.

A function that is run again later (`checkpoint`, `iterate`, tasks, rules) must see what it saw at the time of the call,
although the program may since have rebound a loop variable, appended to a list, written to an array or drawn from a
generator. So a `Snapshot` is taken before the first run. It looks into the cells of closures, default and partial
arguments, the objects of bound methods, containers, arrays, random generators, and the global data that functions of
the program read. Traced values become arguments of the function; other captured objects that can change are copied.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from ..._core.programs.callables import Linked
from ..._core.structures.boundary import place
from ...forms import is_traced
from ...naming import GLOBAL_STORES, OUTER_STORES, named_by
from ...structure import Structures
from . import nodes
from .array_copies import ArrayCopies, owner_of_memory
from .class_tables import ClassTables
from .kinds import Kinds, data_of
from .nodes import ATOMS, GENERATORS, WRAPPERS, Node

#: Larger arrays are not copied for the sake of their views.
MOST_BYTES = 1 << 26


class Made(dict[int, Any]):
    """The copies of captured objects that one or more runs use, by node.

    Attributes
    ----------
    copied : list of Node or None
        The nodes whose objects these runs do not share with the program; chosen by the first run.
    """

    copied: list[Node] | None = None


class Snapshot(Kinds):
    """The objects that a callable or structure captures at the time of construction.

    Parameters
    ----------
    structures : Structures
        The container classes that are looked into.
    value : object
        A callable, or a structure of callables and their arguments.
    copies : ArrayCopies
    is_wanted : callable
        Decides whether a leaf becomes an argument; by default, whether it is traced.
    with_globals : bool
        Whether to bind global data. It must be false for functions that are pickled by name.

    Attributes
    ----------
    captured : list
        The leaves that became arguments, each once, in a fixed order.
    written : frozenset of int or None
        The ids of the nodes of the objects that a run wrote to; None if no run is known. See `FirstRun`.
    """

    __slots__ = (
        "_barren",
        "_nodes",
        "_order",
        "_root",
        "_spaces",
        "_tables",
        "_with_globals",
        "captured",
        "written",
    )

    def __init__(
        self,
        structures: Structures,
        value: Any,
        copies: ArrayCopies,
        is_wanted: Callable[[Any], bool] = is_traced,
        with_globals: bool = True,
    ) -> None:
        super().__init__(structures, copies, is_wanted)
        self.captured: list[Any] = []
        self._with_globals = with_globals
        self._nodes: dict[int, Any] = {}
        self._spaces: dict[int, Node] = {}
        self._order: list[Node] = []
        self._tables: ClassTables | None = None
        self.written: frozenset[int] | None = None
        self._start(value, [])

    def beside(self, value: Any) -> Snapshot:
        """Take the snapshot of another object at the same time, sharing the nodes that this snapshot has found."""
        found = object.__new__(Snapshot)
        found._structures, found._copies = self._structures, self._copies
        found._wanted, found._with_globals = self._wanted, self._with_globals
        found.captured, found._nodes = self.captured.copy(), self._nodes.copy()
        found._spaces, found._order, found.written = {}, self._order.copy(), None
        found._tables = None
        found._start(value, self._order)
        if not self._spaces.keys().isdisjoint(found._spaces):  # the two read other names of the same namespace
            return Snapshot(self._structures, value, self._copies, self._wanted, self._with_globals)
        return found

    def _start(self, value: Any, known: Sequence[Node]) -> None:
        self._barren = {}
        self._root = self._look(value)
        self._barren.clear()
        self._settle(known)

    def around(self, values: Sequence[Any], done: dict[int, Any] | None = None) -> Any:
        """Return the object itself, with other values in place of the leaves in `captured`.

        `done` collects, by node, the objects that were rebuilt around them.
        """
        return self._made(values, [node for node in self._order if node.lifted], {}, done)

    def again(self, values: Sequence[Any], made: Made | None = None, done: dict[int, Any] | None = None) -> Any:
        """Return the object as it was when the snapshot was taken, for another run.

        What a run may write to, what the program has changed since, and what contains such an object, are copies;
        everything else is the program's own, so that the run finds objects by their identity.

        `made` holds the arrays and generators to use; those that are missing are added to it. `done` collects the
        rebuilt objects, as in `around`.
        """
        made = Made() if made is None else made
        if made.copied is None:
            made.copied = self.to_copy()
        return self._made(values, made.copied, made, done)

    def to_copy(self, every: bool = False) -> list[Node]:
        """The nodes of the objects that another run does not share with the program, in order.

        With `every`, these are all that can change. Staged and lifted functions, whose making takes long, are made
        again only if they read what is traced, has been written to or has changed.
        """
        makeable = [node for node in self._order if node.make is not None]
        found = _with_holders({id(node) for node in makeable if self._is_copied(node)}, makeable)
        stored, every = self._stored(), every or self.written is None
        found |= {id(node) for node in makeable if (every and node.can_change) or id(node.original) in stored}
        found = _with_holders(found, [node for node in makeable if not isinstance(node.original, WRAPPERS)])
        return [node for node in self._order if id(node) in found]

    def _is_copied(self, node: Node) -> bool:
        if node.lifted or (self.written is not None and id(node) in self.written):
            return True
        return (node.has_changed is None or node.can_change) and node.differs()  # others are only read from

    def _stored(self) -> set[int]:
        """The ids of the variables and namespaces to which a captured function may write."""
        found = set()
        for node in self._order:
            f = node.original
            if type(f) is types.FunctionType:
                names = named_by(f.__code__, GLOBAL_STORES | OUTER_STORES)
                cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
                found |= {id(cell) for name, cell in cells if name in names}
                found |= {id(f.__globals__)} if not names.isdisjoint(f.__globals__) else set()
        return found

    def take_over(self, made: Made) -> None:
        """Append to the program's lists what a run appended to the copies that `again` made of them."""
        for node in self._order:
            if node.shell is list and id(node) in made and len(made[id(node)]) > len(node.inside):
                node.original.extend(made[id(node)][len(node.inside) :])

    @property
    def nodes(self) -> list[Node]:
        """The captured objects, from the inside out."""
        return self._order

    @property
    def generators(self) -> list[Any]:
        """The captured random generators."""
        return [node.original for node in self._order if isinstance(node.original, GENERATORS)]

    @property
    def renewed(self) -> frozenset[int]:
        """The ids of the nodes of the objects, generators left out, that a run wrote to."""
        generators = {id(node) for node in self._order if isinstance(node.original, GENERATORS)}
        return (self.written or frozenset()) - generators

    def generators_in(self, made: Made) -> list[Any]:
        """The generators that a run which uses `made` draws from."""
        generators = (node for node in self._order if isinstance(node.original, GENERATORS))
        return [made.get(id(node), node.original) for node in generators]

    def _made(
        self,
        values: Sequence[Any],
        new: Sequence[Node],
        made: dict[int, Any],
        done: dict[int, Any] | None = None,
    ) -> Any:
        """The root around what is made anew, from the inside out.

        Shells come first; one that contains itself is filled at last, and then before what is found by its hash.
        """
        if type(self._root) is not Node:
            return self._root
        if new:
            self._tables = self._tables or ClassTables(self._order)
            self._tables.refuse(new)
        done = {} if done is None else done
        made.update((id(node), node.shell()) for node in new if node.shell is not None)
        done.update((id(node), made[id(node)]) for node in new if node.shell is not None)
        missing = {id(node) for node in new if node.shell is None}
        late: list[Node] = []
        for node in new:
            if type(node.original) is Linked:  # whose function calls itself: its variables are read when it is made
                for inner in [inner for inner in late if missing.isdisjoint(inner.links)]:
                    late.remove(inner)
                    inner.make(inner.within(done), done[id(inner)])
            if node.shell is None:
                done[id(node)] = self._one(node, values, made, done)
                missing.discard(id(node))
            elif missing.isdisjoint(node.links):
                node.make(node.within(done), done[id(node)])
            else:
                late.append(node)
        for node in sorted(late, key=lambda node: bool(node.places)):
            node.make(node.within(done), done[id(node)])
        return done.get(id(self._root), self._root.original)

    def _one(self, node: Node, values: Sequence[Any], made: dict[int, Any], done: dict[int, Any]) -> Any:
        """The object in place of one that cannot contain itself."""
        if type(node.make) is int:
            return values[node.make]
        one = made.get(id(node))
        if one is None:
            one = node.make(node.within(done))
            if not node.links:
                made[id(node)] = one
        return one

    # -- search ------------------------------------------------------------------------------------------------------
    def _look(self, value: Any) -> Any:
        """Visit an object without recursion; nodes are listed in postorder, contents before containers."""
        root, is_new = self._entered(value)
        pending = [(root, 0)] if is_new and root.make is not None else []
        while pending:
            node, k = pending.pop()
            end = 0 if node.flat else len(node.inside)
            while k < end:
                found, is_new = self._entered(node.inside[k])
                node.inside[k] = found
                k += 1
                if is_new and found.make is not None:
                    pending += [(node, k), (found, 0)]
                    break
                if is_new:
                    self._order.append(found)
            else:
                self._order.append(node)
        return root

    def _settle(self, known: Sequence[Node]) -> None:
        """Set `links` and `lifted` of each node that is not among the `known` ones."""
        for space in self._spaces.values():
            space.inside = [self._nodes.get(id(value), value) for value in space.inside]
            self._order.append(space)
        self._share_memory(len(known))
        for node in self._order[len(known) :]:
            self._find_addresses(node)
            node.links = () if node.flat else tuple(id(inner) for inner in node.inside if type(inner) is Node)
        while self._settle_once(known):
            pass

    def _share_memory(self, first: int) -> None:
        """Let arrays that share memory be views of one array, so that their copies do so as well."""
        arrays = [node for node in self._order[first:] if node.held is not None]
        places = sorted(place(node.original, k, node) for k, node in enumerate(arrays)) if len(arrays) > 1 else []
        end, widest, shared = 0, None, dict[int, Any]()
        for start, stop, _, _, node in places:
            if start < end:
                shared.update({id(widest): widest, id(node): node})
            if stop > end:
                end, widest = stop, node
        for node in shared.values():
            owner = owner_of_memory(node.original)
            if owner.nbytes > MOST_BYTES or not owner.flags.writeable:
                continue
            whole = self._nodes.get(id(owner)) or self._array(owner)
            if whole is not None and nodes.be_view(node, whole):
                self._nodes[id(owner)] = whole
                if whole not in self._order[:first]:
                    self._order = [*self._order[:first], whole, *(n for n in self._order[first:] if n is not whole)]

    def _find_addresses(self, node: Node) -> None:
        """Put a node in place of each key that is the `id` of a captured object."""
        if node.shell is None:
            return
        for k in range(len(node.places)):
            key = node.inside[k]
            found = self._nodes.get(key) if type(key) is int else None
            if found is not None:
                node.inside[k] = address = nodes.of_address(key, found)
                address.links = (id(found),)
                self._order.append(address)

    def _settle_once(self, known: Sequence[Node]) -> bool:
        """Visit the nodes in order; return whether another pass is needed, because a node preceded its contents."""
        early = changed = False
        settled = set(map(id, known))
        for node in self._order[len(known) :]:
            lifted = node.lifted
            for inner in () if node.flat else node.inside:
                if type(inner) is Node:
                    lifted = lifted or inner.lifted
                    early = early or id(inner) not in settled
            changed = changed or lifted != node.lifted
            node.lifted = lifted
            settled.add(id(node))
        return early and changed

    def _entered(self, value: Any) -> tuple[Any, bool]:
        """The node of an object, or the object itself if it needs no node; and whether the node has just been made."""
        kind = type(value)
        if kind in ATOMS or kind is Node or (kind is tuple and holds_atoms(value)):
            return value, False
        known = self._nodes.get(id(value))
        if known is not None:
            return known, False
        node = self._node(value, kind)
        if node is None:
            return value, False
        self._nodes[id(value)] = node
        return node, True

    def _node(self, value: Any, kind: type) -> Node | None:
        if self._wanted(value):
            node = Node(value, [], len(self.captured))
            node.lifted = True
            self.captured.append(value)
            return node
        if kind is tuple:
            return Node(value, list(value), tuple)
        if kind is types.FunctionType:
            return self._function(value)
        if kind is types.CellType:
            return nodes.of_cell(value)
        if kind is list:
            return nodes.of_list(value)
        return self.of_other_kind(value, kind)

    def _function(self, f: types.FunctionType) -> Node | None:
        """A function: the cells of its closure, its default arguments, and the global data that it reads."""
        space, data = self._global_data(f)
        return nodes.of_function(f, space, data)

    def _global_data(self, f: types.FunctionType) -> tuple[Node | None, list[Any]]:
        """The namespace that a function reads, and the data in it."""
        names = f.__globals__
        found = self._names(f)
        if found is None:
            return None, []
        space = self._spaces.get(id(names))
        if space is None:
            self._spaces[id(names)] = self._nodes[id(names)] = space = nodes.of_namespace(names)
        read, absent = found
        space.names += absent
        for name in read:
            if name not in space.keys:
                space.keys.append(name)
                space.names.append(name)
                space.inside.append(names[name])
        return space, [names[name] for name in read]

    def _names(self, f: types.FunctionType) -> tuple[list[str], list[str]] | None:
        return data_of(f) if self._with_globals else None

    def _data(self, f: types.FunctionType) -> list[Any]:
        found = self._names(f)
        return [] if found is None else [f.__globals__[name] for name in found[0]]


def _with_holders(found: set[int], nodes: Sequence[Node]) -> set[int]:
    """The ids of nodes, and of those that hold one of them."""
    count = -1
    while count < len(found):
        count = len(found)
        found.update(id(node) for node in nodes if not found.isdisjoint(node.links))
    return found


def holds_atoms(value: tuple[Any, ...]) -> bool:
    """Whether a tuple holds only objects that are not looked into."""
    return ATOMS.issuperset(map(type, value))
