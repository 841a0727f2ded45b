"""The series of series.c in what a user would take instead: cost by the number of elements, and by the length of the expression.

    peers_series.py numpy|numexpr|numba|torch|jax

Started by bench/run.py, as peers.py, when that has ended: the largest arrays leave room for no others.
"""
import functools
import sys

from peers import THREADS, Row, serve

import numpy as np

SIZES = [1 << 2 * k for k in range(15)]
LENGTHS = [2 << 2 * k for k in range(7)]
COUNT, KEPT, TOGETHER, CALLS = 1 << 20, 1 << 24, 1 << 22, 2000
LENGTH_MOST = {"numexpr": 128, "numba": 512, "torch.compile": 512, "jax": 2048}  # more fail, or take minutes to compile


def arrays(count):
    return [np.full(count, 0.5 + 0.25 * k, np.float32) for k in range(3)]


def calls(count):
    return max(1, min(CALLS, TOGETHER // count))


def rows_of(who, version, by_size, by_length):
    """by_size(count) and by_length(terms) make bodies."""
    for count in SIZES:
        yield Row(who, version, f"c += 1/a + 2ab, 2^{count.bit_length() - 1} elements", functools.partial(by_size, count),
                  count, 16 * count, calls(count), kept=count <= KEPT)
    for terms in LENGTHS:
        if terms <= LENGTH_MOST.get(who, terms):
            yield Row(who, version, f"{terms} terms on 2^20 elements", functools.partial(by_length, terms), COUNT,
                      12 * COUNT, calls(COUNT))


def numpy_rows():
    two = np.float32(2)

    def fused(a, b, c):
        c += 1 / a + two * a * b

    def add_terms(terms, a, b, c):
        np.add(a, b, out=c)
        for k in range(2, terms):
            np.add(c, b if k % 2 else a, out=c)

    return rows_of("numpy", np.__version__, lambda count: functools.partial(fused, *arrays(count)),
                   lambda terms: functools.partial(add_terms, terms, *arrays(COUNT)))


def numexpr_rows():
    import numexpr
    numexpr.set_num_threads(THREADS)

    def run(code, count):
        a, b, c = arrays(count)
        return lambda: numexpr.evaluate(code, {"a": a, "b": b, "c": c}, out=c)

    return rows_of("numexpr", numexpr.__version__, lambda count: run("c + 1/a + 2*a*b", count),
                   lambda terms: run("+".join("b" if k % 2 else "a" for k in range(terms)), COUNT))


def numba_rows():
    import numba
    numba.set_num_threads(THREADS)

    @functools.cache
    def loop(text):
        scope = {"prange": numba.prange, "one": np.float32(1), "two": np.float32(2)}
        exec("def loop(a, b, c):\n  for i in prange(c.size):\n" + text, scope)
        return numba.njit(parallel=True)(scope["loop"])

    def by_length(terms):
        text = "    s = a[i]\n" + "".join(f"    s = s + {'b' if k % 2 else 'a'}[i]\n" for k in range(1, terms))
        return functools.partial(loop(text + "    c[i] = s"), *arrays(COUNT))

    fused = "    c[i] += one/a[i] + two*a[i]*b[i]"
    return rows_of("numba", numba.__version__, lambda count: functools.partial(loop(fused), *arrays(count)), by_length)


def function_of(terms):
    """A function of its own for each length, as a user has one."""
    def total(a, b):
        s = a
        for k in range(1, terms):
            s = s + (b if k % 2 else a)
        return s
    return total


def torch_rows():
    import torch
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)

    def tensors(count):
        return [torch.from_numpy(array) for array in arrays(count)]

    def fused(a, b, c):
        return c.add_(1 / a + 2 * a * b)

    def eager_terms(terms, a, b, c):
        torch.add(a, b, out=c)
        for k in range(2, terms):
            c.add_(b if k % 2 else a)

    def compiled_terms(terms):
        function = function_of(terms)
        a, b, c = tensors(COUNT)
        torch.compiler.reset()  # or the lengths before count as shapes of this one
        compiled = torch.compile(lambda a, b, c: c.copy_(function(a, b)))
        return lambda: compiled(a, b, c)

    compiled = torch.compile(fused)
    yield from rows_of("torch", torch.__version__, lambda count: functools.partial(fused, *tensors(count)),
                       lambda terms: functools.partial(eager_terms, terms, *tensors(COUNT)))
    yield from rows_of("torch.compile", torch.__version__, lambda count: functools.partial(compiled, *tensors(count)),
                       compiled_terms)


def jax_rows():
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_platforms", "cpu")
    fused = jax.jit(lambda a, b, c: c + (1 / a + 2 * a * b))

    def run(function, count):
        a, b, c = (jnp.asarray(array) for array in arrays(count))
        return lambda: function(a, b, c).block_until_ready()

    def by_length(terms):
        function = function_of(terms)
        return run(jax.jit(lambda a, b, c: function(a, b)), COUNT)

    return rows_of("jax", jax.__version__, lambda count: run(fused, count), by_length)


PEERS = {"numpy": numpy_rows, "numexpr": numexpr_rows, "numba": numba_rows, "torch": torch_rows, "jax": jax_rows}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PEERS:
        sys.exit(f"usage: peers_series.py {'|'.join(PEERS)}")
    serve(list(PEERS[sys.argv[1]]()))


if __name__ == "__main__":
    main()
