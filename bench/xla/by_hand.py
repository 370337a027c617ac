"""The GPT of gpt.ts written by hand in JAX: python by_hand.py DEVICES ROWS WIDTH HEADS LAYERS TOKENS VOCABULARY.

Prints a line of JSON: milliseconds a step, with a fresh batch fed at each, and the first and last loss.
"""
import functools
import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

devices, rows, width, heads, layers, tokens, vocabulary = map(int, sys.argv[1:])
jax.config.update("jax_default_matmul_precision", "highest")
mesh = Mesh(np.array(jax.devices()[:devices]), ["data"])
cut, whole = NamedSharding(mesh, PartitionSpec("data")), NamedSharding(mesh, PartitionSpec())
rng = np.random.default_rng(0)


def normal(*shape, scale=0.02):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def linear(n, m):
    return {"w": normal(n, m), "b": np.zeros(m, np.float32)}


def norm():
    return {"g": np.ones(width, np.float32), "b": np.zeros(width, np.float32)}


def block():
    names = ["query", "key", "value", "out"]
    products = {name: linear(width, width) for name in names}
    return {**products, "up": linear(width, 4 * width), "down": linear(4 * width, width), "n1": norm(), "n2": norm()}


params = {"embedding": normal(vocabulary, width), "places": normal(tokens, width), "norm": norm(),
          "head": normal(width, vocabulary), "blocks": [block() for _ in range(layers)]}


def apply(p, x):
    return x @ p["w"] + p["b"]


def normed(p, x):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * jax.lax.rsqrt(v + 1e-5) * p["g"] + p["b"]


def attention(p, x):
    split = lambda t: t.reshape(*t.shape[:2], heads, -1).transpose(0, 2, 1, 3)
    q, k, v = (split(apply(p[name], x)) for name in ("query", "key", "value"))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(width / heads).astype(np.float32)
    mask = jnp.tril(jnp.ones((tokens, tokens), bool))
    y = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1) @ v
    return apply(p["out"], y.transpose(0, 2, 1, 3).reshape(x.shape))


def loss_of(p, x, y):
    h = p["embedding"][x] + p["places"]
    for b in p["blocks"]:
        h = h + attention(b, normed(b["n1"], h))
        h = h + apply(b["down"], jax.nn.gelu(apply(b["up"], normed(b["n2"], h)), approximate=False))
    logits = normed(p["norm"], h) @ p["head"]
    logs = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.take_along_axis(logs, y[..., None], axis=-1).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(p, m, x, y):
    loss, g = jax.value_and_grad(loss_of)(p, x, y)
    m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
    return jax.tree.map(lambda a, b: a - 0.01 * b, p, m), m, loss


def batch(k):
    at = np.arange(rows * tokens, dtype=np.int64)
    return jax.device_put(((at * 7919 + k * 104729) % vocabulary).astype(np.int32).reshape(rows, tokens), cut)


p = jax.device_put(params, whole)
m = jax.device_put(jax.tree.map(np.zeros_like, params), whole)
p, m, loss = step(p, m, batch(0), batch(1))
first, times, count = float(loss), [], 20
for group in range(5):
    begun = time.perf_counter()
    for k in range(count):
        at = 1 + group * count + k
        p, m, loss = step(p, m, batch(at), batch(at + 1))
    last = float(loss)
    times.append((time.perf_counter() - begun) * 1000 / count)
print(json.dumps({"ms": statistics.median(times), "first": first, "last": last}))
