"""PyTorch in the GPU table, eager and then compiled where that joins kernels, without TF32. Prints `peer, work, time ms, ...` a row, tab
separated. The works are the first argument, as JSON; a row that fails says so, and none is started when the time is over."""

import json
import math
import sys
import time

STARTED = time.perf_counter()

import torch
import torch.nn.functional as F

LIMIT_S = 54
WARM_UP_S = 0.4
SAMPLE_S = 0.2
PERIOD = 1_000_003
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def noise(size, seed):
    """The generator of noise.ts. Products wrap at 64 bits, which leaves the lower 32 right."""
    powers = torch.full((size,), 1664525, dtype=torch.int64).cumprod(0)
    below = torch.cat([torch.ones(1, dtype=torch.int64), powers[:-1]]).cumsum(0)
    states = (powers * seed + below * 1013904223) & 0xFFFFFFFF
    return (states.double() / 2**31 - 1).float()


def given(index, *shape):
    size = math.prod(shape)
    part = noise(min(PERIOD, size), 100 + index).to(DEVICE)
    return part.repeat(-(-size // PERIOD))[:size].reshape(shape)


def weight(seed, *shape):
    values = noise(math.prod(shape), seed) / math.sqrt(math.prod(shape[1:]))
    return values.reshape(shape).to(DEVICE)


def labels(index, count):
    return ((given(index, count).double() + 1) * 5).floor().long()


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


class Forward:
    def __init__(self, fn, *tensors):
        self.fn, self.tensors = fn, tensors

    def compile(self):
        self.fn = torch.compile(self.fn)

    def run(self):
        with torch.no_grad():
            return [self.fn(*self.tensors)]


class Gradients:
    """Of a result whose gradient is given."""

    def __init__(self, fn, *tensors):
        *inputs, self.given = tensors
        self.fn, self.inputs = fn, [t.requires_grad_(True) for t in inputs]

    def run(self):
        y = self.fn(*self.inputs)
        return [y, *torch.autograd.grad(y, self.inputs, self.given)]


class Training:
    def __init__(self, loss, weights, optimizer, *data):
        self.loss, self.data = loss, data
        self.weights = [w.requires_grad_(True) for w in weights]
        self.optimizer = optimizer(self.weights)

    def compile(self):
        self.loss = torch.compile(self.loss)

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.weights, *self.data)
        loss.backward()
        self.optimizer.step()
        return [loss]


def adam(weights):
    return torch.optim.Adam(weights, lr=1e-3, **({"fused": True} if DEVICE == "cuda" else {}))


def sgd(weights):
    return torch.optim.SGD(weights, lr=0.01)


def attend(causal):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal == 1)


def cnn(weights, x):
    k1, c1, k2, c2, w3, b3, w4, b4 = weights
    features = F.relu(F.conv2d(F.relu(F.conv2d(x, k1, c1)), k2, c2))
    flat = F.max_pool2d(features, 2).flatten(1)
    return F.linear(F.relu(F.linear(flat, w3, b3)), w4, b4)


def cnn_weights():
    shapes = [(32, 1, 3, 3), (32,), (64, 32, 3, 3), (64,), (128, 9216), (128,), (10, 128), (10,)]
    return [weight(i + 1, *shape) for i, shape in enumerate(shapes)]


def cnn_loss(weights, x, y):
    return F.cross_entropy(cnn(weights, x), y)


def block(weights, x):
    g1, n1, wq, bq, wk, bk, wv, bv, wo, bo, g2, n2, wu, bu, wd, bd = weights
    batch, length, width = x.shape
    normed = F.layer_norm(x, (width,), g1, n1)

    def heads(w, b):
        return F.linear(normed, w, b).view(batch, length, 8, width // 8).transpose(1, 2)

    mixed = F.scaled_dot_product_attention(heads(wq, bq), heads(wk, bk), heads(wv, bv))
    first = x + F.linear(mixed.transpose(1, 2).reshape(batch, length, width), wo, bo)
    hidden = F.gelu(F.linear(F.layer_norm(first, (width,), g2, n2), wu, bu))
    return first + F.linear(hidden, wd, bd)


def block_weights(w):
    square = [(w, w), (w,)] * 4
    shapes = [(w,), (w,), *square, (w,), (w,), (4 * w, w), (4 * w,), (w, 4 * w), (w,)]
    return [weight(i + 1, *shape) for i, shape in enumerate(shapes)]


def block_loss(weights, x):
    return block(weights, x).square().mean()


def mlp_loss(weights, x, y):
    w1, b1, w2, b2, w3, b3 = weights
    hidden = F.relu(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2))
    return F.cross_entropy(F.linear(hidden, w3, b3), y)


def mlp_step(batch):
    shapes = [(512, 784), (512,), (512, 512), (512,), (10, 512), (10,)]
    weights = [weight(i + 1, *shape) for i, shape in enumerate(shapes)]
    return Training(mlp_loss, weights, adam, given(0, batch, 784), labels(1, batch))


def chain(a, b, c):
    return torch.tanh(a * b + c) * torch.sigmoid(a) + torch.exp(-b * b)


def layer_norm(x, gain, bias):
    return F.layer_norm(x, x.shape[-1:], gain, bias)


def conv3x3(x, w):
    return F.conv2d(x, w, padding=1)


def images(batch):
    return given(0, batch, 1, 28, 28)


KINDS = {
    "matmul": lambda n: Forward(torch.matmul, given(0, n, n), given(1, n, n)),
    "chain": lambda n: Forward(chain, *(given(i, n) for i in range(3))),
    "softmax": lambda m, n: Forward(lambda x: F.softmax(x, -1), given(0, m, n)),
    "layerNorm": lambda m, n: Forward(layer_norm, given(0, m, n), weight(1, n), weight(2, n)),
    "sum": lambda m, n: Forward(torch.sum, given(0, m, n)),
    "sumColumns": lambda m, n: Forward(lambda x: x.sum(0), given(0, m, n)),
    "cumsum": lambda m, n: Forward(lambda x: x.cumsum(1), given(0, m, n)),
    "conv3x3": lambda b, c, s: Forward(conv3x3, given(0, b, c, s, s), given(1, c, c, 3, 3)),
    "attention": lambda causal, *s: Forward(attend(causal), *(given(i, *s) for i in range(3))),
    "attentionStep": lambda causal, *s: Gradients(attend(causal), *(given(i, *s) for i in range(4))),
    "mlpStep": mlp_step,
    "cnn": lambda batch: Forward(cnn, cnn_weights(), images(batch)),
    "cnnStep": lambda batch: Training(cnn_loss, cnn_weights(), adam, images(batch), labels(1, batch)),
    "block": lambda *s: Forward(block, block_weights(s[2]), given(0, *s)),
    "blockStep": lambda *s: Training(block_loss, block_weights(s[2]), sgd, given(0, *s)),
}
# The others are one kernel of a library's, which compiling leaves as it is; each of these takes seconds to compile.
COMPILED = ["blockStep", "cnnStep", "chain", "block", "cnn", "mlpStep"]


def timed(doing, times):
    start = time.perf_counter()
    for _ in range(times):
        last = doing.run()
    wait()
    return time.perf_counter() - start, last


def measured(doing, wanted):
    timed(doing, 1)
    _, last = timed(doing, 1)
    value = sum(float(t.detach().reshape(-1)[0]) for t in last)
    once, _ = timed(doing, 1)
    spent = 0
    while True:
        repeats = max(1, min(wanted, int(SAMPLE_S / once)))
        if spent >= WARM_UP_S:
            break
        took, _ = timed(doing, repeats)
        spent += took
        once = min(once, took / repeats)
    times = sorted(timed(doing, repeats)[0] / repeats * 1e3 for _ in range(7))
    return f"{times[3]:.4f} ms\tvalue {value:.6g}\tmedian of 7, {repeats} repeats"


def row(work, compiled):
    if time.perf_counter() - STARTED > LIMIT_S:
        return "absent: the time was over"
    try:
        doing = KINDS[work["kind"]](*work["extents"])
        if compiled:
            doing.compile()
        return measured(doing, work["repeats"])
    except Exception as error:
        return "absent: " + " ".join(f"{type(error).__name__}: {error}".split())[:300]


works = json.loads(sys.argv[1])
rows = [("torch", work) for work in works]
if hasattr(torch, "compile"):
    rows += [("torch compile", w) for kind in COMPILED for w in works if w["kind"] == kind]
for peer, work in rows:
    print(f"{peer}\t{work['name']}\t{row(work, peer != 'torch')}", flush=True)
