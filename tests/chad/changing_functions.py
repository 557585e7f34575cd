"""Functions and classes that change what they are given, as users write them."""

from dataclasses import dataclass


def set_first(xs, v):
    xs[0] = v


def swap(xs, i, j):
    xs[i], xs[j] = xs[j], xs[i]


def push(xs, v):
    xs.append(v)


def add_to(xs, ys, factor=1.0):
    for i in range(len(xs)):
        xs[i] += factor * ys[i % len(ys)]


def take_last(xs):
    last = xs.pop()
    xs.insert(0, 0.5 * last)
    return last


def sort_of(xs):
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                swap(xs, j, j + 1)
    return xs


def store(kept, xs):
    kept.append(xs)


def partition(xs, low, high):
    i = low
    for j in range(low, high):
        if xs[j] <= xs[high]:
            swap(xs, i, j)
            i += 1
    swap(xs, i, high)
    return i


def quicksort(xs, low, high):
    if low < high:
        at = partition(xs, low, high)
        quicksort(xs, low, at - 1)
        quicksort(xs, at + 1, high)


def sift(heap, size, i):
    largest = i
    for k in (2 * i + 1, 2 * i + 2):
        if k < size and heap[k] > heap[largest]:
            largest = k
    if largest != i:
        swap(heap, i, largest)
        sift(heap, size, largest)


def eliminate(rows, rhs):
    n = len(rhs)
    for i in range(n):
        for j in range(i + 1, n):
            factor = rows[j][i] / rows[i][i]
            for k in range(i, n):
                rows[j][k] -= factor * rows[i][k]
            rhs[j] -= factor * rhs[i]


def smooth(grid, rate):
    for i in range(1, grid.shape[0] - 1):
        for j in range(grid.shape[1]):
            grid[i, j] += rate * (grid[i - 1, j] + grid[i + 1, j] - 2.0 * grid[i, j])


def visit(graph, node, seen, order):
    seen[node] = True
    order.append(node)
    for other in graph[node]:
        if not seen[other]:
            visit(graph, other, seen, order)


@dataclass
class Body:
    x: float
    v: float
    steps: int = 0

    def move(self, dt):
        self.v -= dt * self.x
        self.x += dt * self.v
        self.steps += 1

    def kick(self, dv, *, times=1):
        if dv < 0:
            return
        self.v += dv * times

    def move_twice(self, dt):
        self.move(dt)
        self.move(dt)

    def energy(self):
        return 0.5 * (self.x**2 + self.v**2)

    def exchange(self):
        self.x, self.v = self.v, self.x


def advance(body, dt):
    body.move(dt)
    body.x *= 0.99
