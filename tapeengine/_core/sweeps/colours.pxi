# Colours of graphs for compressed sweeps, and the Hessian's entries from the compressed rows of an acyclic colouring.
# Included by slots.pxi.

cdef object uncoloured(Py_ssize_t n):
    return numpy.full(n, -1, numpy.int32)


def greedy(order, starts, others, back_starts, back_others, int64_t most) -> NDArray[numpy.int32] | None:
    """Colour vertices so that no two with a common neighbour share a colour; each one gets the least allowed colour.

    Parameters
    ----------
    order : numpy.ndarray of int64
        The vertices in the order in which they are coloured.
    starts, others, back_starts, back_others : numpy.ndarray of int64
        The neighbours of vertices, and the vertices of neighbours, as in a CSR matrix and its transpose.
    most : int
        The number of colours that is too large.

    Returns
    -------
    numpy.ndarray of int32, or None if more than `most` - 1 colours would be needed
    """
    cdef Py_ssize_t n = starts.size - 1, m = others.size, k
    cdef object colours = uncoloured(n), taken = longs(2 * (n // 64 + 2)), around = longs(back_starts.size + 2 * m)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)          # for each word of 64 colours: the last vertex for which some are taken, and these
    cdef uint64_t *bits = <uint64_t *> (by + n // 64 + 2)
    cdef int64_t *extent = longs_in(around)     # for each neighbour: the words of its vertices' colours, as far as not zero,
    cdef int64_t *word = extent + <Py_ssize_t> back_starts.size
    cdef uint64_t *some = <uint64_t *> (word + m)   # and their bits, so that a long list of vertices is read 64 at a time
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *t = longs_in(back_starts)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t v, w, i, j, c
    with nogil:
        for k in range(n):
            v, c = turn[k], 0
            for i in range(s[v], s[v + 1]):
                w = o[i]
                for j in range(t[w], t[w] + extent[w]):
                    if by[word[j]] != k + 1:
                        by[word[j]], bits[word[j]] = k + 1, 0
                    bits[word[j]] |= some[j]
            while by[c >> 6] == k + 1 and bits[c >> 6] >> (c & 63) & 1:
                c += 64 if bits[c >> 6] + 1 == 0 else 1
            if c + 1 >= most:
                with gil:
                    return None
            colour[v] = <int32_t> c
            for i in range(s[v], s[v + 1]):
                w = o[i]
                j = t[w] + place(c >> 6, word + t[w], extent[w])
                if j == t[w] + extent[w]:
                    word[j] = c >> 6
                    extent[w] += 1
                some[j] |= <uint64_t> 1 << (c & 63)
    return colours


def star(order, starts, others, int64_t most) -> NDArray[numpy.int32] | None:
    """Colour a graph so that no path of four vertices has two colours (Gebremedhin, Manne and Pothen 2005, 4.1)."""
    cdef Py_ssize_t n = starts.size - 1, m = others.size, k
    cdef object colours = uncoloured(n), taken = longs(n + 1), around = longs(n + 3 * m)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)
    cdef int64_t *extent = longs_in(around)
    cdef int64_t *hue = extent + n
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t v, w, x, i, j, l, c
    with nogil:
        for k in range(n):
            v, c = turn[k], 0
            for i in range(s[v], s[v + 1]):
                w = o[i]
                if w == v:
                    continue
                if colour[w] >= 0:
                    by[colour[w]] = k + 1
                for j in range(s[w], s[w] + extent[w]):
                    if colour[w] >= 0:          # two neighbours of one colour belong to a star around w
                        if hue[2 * m + j] > 1:
                            continue
                        x = hue[m + j]
                        l = s[x] + place(colour[w], hue + s[x], extent[x])
                        if l == s[x] + extent[x] or hue[2 * m + l] == 1:
                            continue
                    by[hue[j]] = k + 1
            while by[c] == k + 1:
                c += 1
            if c + 1 >= most:
                with gil:
                    return None
            colour[v] = <int32_t> c
            for i in range(s[v], s[v + 1]):
                if o[i] != v:
                    surround(c, v, hue + s[o[i]], m, extent + o[i])
    return colours


def acyclic(order, starts, others, int64_t most, trees) -> NDArray[numpy.int32] | None:
    """Colour a graph so that every cycle has three colours (Gebremedhin, Tarafdar, Pothen and Walther 2009, 3).

    The vertices of any two colours then induce a forest. Its trees are stored as disjoint sets of edges. `trees` has, for
    each entry of `others`, the index of one of the two entries of the same edge.
    """
    cdef Py_ssize_t n = starts.size - 1, m = others.size, k
    cdef object colours = uncoloured(n), taken = longs(n + 1), around = longs(3 * n + 5 * m)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)
    cdef int64_t *extent = longs_in(around)
    cdef int64_t *met = extent + n              # for each colour: the last vertex with a neighbour of it, and the edge to that neighbour
    cdef int64_t *edge = met + n
    cdef int64_t *seen = edge + n               # for each tree: likewise, and the neighbour
    cdef int64_t *via = seen + m
    cdef int64_t *hue = via + m
    cdef object joined = trees.copy()
    cdef int64_t *tree = longs_in(joined)
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t v, w, i, j, t, c
    with nogil:
        for k in range(n):
            v, c = turn[k], 0
            for i in range(s[v], s[v + 1]):
                if o[i] != v and colour[o[i]] >= 0:
                    by[colour[o[i]]] = k + 1
            for i in range(s[v], s[v + 1]):     # a tree that is reached through two neighbours would become a cycle
                w = o[i]
                if w == v or colour[w] < 0:
                    continue
                for j in range(s[w], s[w] + extent[w]):
                    if by[hue[j]] == k + 1:
                        continue
                    t = root(tree, hue[m + j])
                    if seen[t] != k + 1:
                        seen[t], via[t] = k + 1, w
                    elif via[t] != w:
                        by[hue[j]] = k + 1
            while by[c] == k + 1:
                c += 1
            if c + 1 >= most:
                with gil:
                    return None
            colour[v] = <int32_t> c
            for i in range(s[v], s[v + 1]):     # join the trees that now meet in v, and those beyond its neighbours
                w = o[i]
                if w == v:
                    continue
                if colour[w] >= 0:
                    if met[colour[w]] != k + 1:
                        met[colour[w]], edge[colour[w]] = k + 1, i
                    else:
                        tree[root(tree, i)] = root(tree, edge[colour[w]])
                    j = place(c, hue + s[w], extent[w])
                    if j < extent[w]:
                        tree[root(tree, i)] = root(tree, hue[m + s[w] + j])
                surround(c, i, hue + s[w], m, extent + w)
    return colours


# The different colours around a vertex: the colour, something of the first neighbour that has it, and the number of
# neighbours that have it, in three arrays of length m. A search reads these and not all neighbours of each neighbour,
# so a vertex with many neighbours costs no more than its number of colours at each of them.

cdef inline int64_t place(int64_t colour, int64_t *hue, int64_t extent) noexcept nogil:
    """The place of a colour around a vertex, or the extent if it is not there."""
    cdef int64_t j = 0
    while j < extent and hue[j] != colour:
        j += 1
    return j


cdef inline void surround(int64_t colour, int64_t first, int64_t *hue, Py_ssize_t m, int64_t *extent) noexcept nogil:
    """Note that a neighbour of a vertex has been coloured."""
    cdef int64_t j = place(colour, hue, extent[0])
    if j == extent[0]:
        hue[j], hue[m + j] = colour, first
        extent[0] += 1
    hue[2 * m + j] += 1


cdef inline int64_t root(int64_t *tree, int64_t i) noexcept nogil:
    while tree[i] != i:
        tree[i] = tree[tree[i]]
        i = tree[i]
    return i


def eliminated(rows, others, sums, left, mirror) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """The order in which the entries of a symmetric matrix follow from products with the sums of its columns.

    A sum with a single unknown entry determines this entry, which is then subtracted from the sum of its mirror image.
    Sums that have a single entry from the start come first.

    Parameters
    ----------
    rows, others, mirror : numpy.ndarray of int64
        The row and the column of each entry, and the place of its mirror image.
    sums : numpy.ndarray of int64
        The sum that contains each entry; on return, the sum that determines it.
    left : numpy.ndarray of int64
        The number of unknown off-diagonal entries in each sum; changed.

    Returns
    -------
    sources, rests : numpy.ndarray of int64
        The sums that determine entries, in order, and the sums from which these entries are subtracted.
    """
    cdef Py_ssize_t m = others.size, k = 0, head = 0, tail = 0
    cdef object last = longs(left.size), queue = longs(left.size), sources = longs(m), rests = longs(m)
    cdef int64_t *row = longs_in(rows)
    cdef int64_t *of = longs_in(sums)
    cdef int64_t *count = longs_in(left)
    cdef int64_t *entry = longs_in(last)
    cdef int64_t *waiting = longs_in(queue)
    cdef int64_t *source = longs_in(sources)
    cdef int64_t *rest = longs_in(rests)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *back = longs_in(mirror)
    cdef int64_t p, q, here, there
    with nogil:
        for p in range(m):
            if o[p] != row[p]:
                entry[of[p]] ^= p       # the xor of the unknown entries; the entry itself when one is left
                if count[of[p]] == 1:
                    waiting[tail] = of[p]
                    tail += 1
        while head < tail:
            here = waiting[head]
            head += 1
            if count[here] != 1:
                continue
            p = entry[here]
            q = back[p]
            there = of[q]
            source[k], rest[k] = here, there
            k += 1
            of[q] = here
            count[here] = 0
            count[there] -= 1
            entry[there] ^= q
            if count[there] == 1:
                waiting[tail] = there
                tail += 1
    return sources[:k], rests[:k]


def substitute(numbers: NDArray[numpy.float64], sources: NDArray[numpy.int64], rests: NDArray[numpy.int64]) -> None:
    """Subtract determined entries from the sums of their mirror images, in place, in the order of `eliminated`."""
    cdef double *number = <double *> PyArray_DATA(<ndarray> numbers)
    cdef int64_t *source = longs_in(sources)
    cdef int64_t *rest = longs_in(rests)
    cdef Py_ssize_t k, n = sources.size
    with nogil:
        for k in range(n):
            number[rest[k]] -= number[source[k]]


def by_degree(starts: NDArray[numpy.int64], others: NDArray[numpy.int64], bint last) -> NDArray[numpy.int64]:
    """An order of a graph's vertices by degrees: smallest last, or largest incidence first.

    With `last`, the order is built from its end: the next vertex has the least degree in the graph of the remaining
    vertices (Matula and Beck 1983). Otherwise the next vertex has the most neighbours that are already in the order.
    """
    cdef Py_ssize_t n = starts.size - 1, k, most, at
    cdef object degrees = numpy.diff(starts) if last else longs(n)
    cdef object heads = longs(n + 1) - 1, following = longs(n), before = longs(n), order = longs(n)
    cdef int64_t *degree = longs_in(degrees)
    cdef int64_t *head = longs_in(heads)
    cdef int64_t *after = longs_in(following)
    cdef int64_t *prior = longs_in(before)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t v, w, i
    with nogil:
        for k in range(n - 1, -1, -1):
            chain(k, degree[k], head, after, prior)
        at = 0
        for k in range(n):
            if last:
                while head[at] < 0:
                    at += 1
            else:
                while head[at] < 0:
                    at -= 1
            v = head[at]
            unchain(v, at, head, after, prior)
            turn[n - 1 - k if last else k] = v
            degree[v] = -1
            for i in range(s[v], s[v + 1]):
                w = o[i]
                if w == v or degree[w] < 0:
                    continue
                unchain(w, degree[w], head, after, prior)
                degree[w] += -1 if last else 1
                chain(w, degree[w], head, after, prior)
                if last and degree[w] < at or not last and degree[w] > at:
                    at = degree[w]
    return order


cdef inline void chain(int64_t v, int64_t degree, int64_t *head, int64_t *after, int64_t *prior) noexcept nogil:
    """Insert a vertex at the head of the list of one degree."""
    after[v] = head[degree]
    prior[v] = -1
    if head[degree] >= 0:
        prior[head[degree]] = v
    head[degree] = v


cdef inline void unchain(int64_t v, int64_t degree, int64_t *head, int64_t *after, int64_t *prior) noexcept nogil:
    if prior[v] >= 0:
        after[prior[v]] = after[v]
    else:
        head[degree] = after[v]
    if after[v] >= 0:
        prior[after[v]] = prior[v]
