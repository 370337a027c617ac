"""PyTorch in the CPU table, eager, as its documentation writes things. Speaks the protocol of protocol.ts; operands come
with each setup, since their numbers are made from a formula. THREADS says how many threads it may use."""

import json
import math
import os
import resource
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

PATIENCE_MS = 3000
THREADS = int(os.environ.get("THREADS", "1"))
torch.set_num_threads(THREADS)


def hashed(seed, count):
    """The generator of workloads.ts, on unsigned integers that wrap."""
    h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1)
    h += np.uint32(seed * 0x85EBCA6B & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return h.astype(np.float64) / 2**32 * 2 - 1


def tensor(operand):
    values = (hashed(operand["seed"], math.prod(operand["shape"])) * operand["scale"]).astype(np.float32)
    if "classes" in operand:
        count = operand["classes"]
        values = np.minimum(count - 1, np.floor((values.astype(np.float64) + 1) / 2 * count)).astype(np.int64)
    return torch.from_numpy(values.reshape(operand["shape"]))


def check_of(value):
    flat = value.detach().reshape(-1).double()
    return [float(flat.abs().mean()), float(flat[min(7, len(flat) - 1)])]


class Forward:
    def __init__(self, fn, tensors):
        self.fn, self.tensors, self.last = fn, tensors, None

    def run(self):
        with torch.no_grad():
            self.last = self.fn(*self.tensors)

    def check(self):
        return check_of(self.last)


class Training:
    def __init__(self, loss, weights, optimizer):
        self.weights = [w.requires_grad_(True) for w in weights]
        self.loss, self.optimizer, self.last = loss, optimizer(self.weights), None

    def run(self):
        self.optimizer.zero_grad()
        self.last = self.loss(*self.weights)
        self.last.backward()
        self.optimizer.step()

    def check(self):
        return check_of(self.last)


def plain(fn):
    return lambda tensors: Forward(fn, list(tensors.values()))


def adam(weights):
    return torch.optim.Adam(weights, lr=1e-3)


def gelu(x):
    return F.gelu(x, approximate="tanh")


def perceptron(x, w1, b1, w2, b2, w3, b3):
    hidden = gelu(torch.addmm(b1, x, w1))
    return torch.addmm(b3, gelu(torch.addmm(b2, hidden, w2)), w3)


def mlp_train(t):
    x, y = t.pop("x"), t.pop("y")
    return Training(lambda *w: F.cross_entropy(perceptron(x, *w), y), list(t.values()), adam)


def conv_train(t):
    x, y = t.pop("x"), t.pop("y")

    def loss(k1, c1, k2, c2, w3, b3, w4, b4):
        features = F.relu(F.conv2d(F.relu(F.conv2d(x, k1, c1)), k2, c2))
        flat = F.max_pool2d(features, 2).flatten(1)
        return F.cross_entropy(torch.addmm(b4, F.relu(torch.addmm(b3, flat, w3)), w4), y)

    return Training(loss, list(t.values()), adam)


def block(x, g1, n1, wqkv, bqkv, wo, bo, g2, n2, wf, bf, wp, bp):
    parts = (F.layer_norm(x, [256], g1, n1) @ wqkv + bqkv).reshape(8, 128, 3, 8, 32)
    q, k, v = parts.permute(2, 0, 3, 1, 4)
    weights = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(32), -1)
    mixed = x + (weights @ v).transpose(1, 2).reshape(8, 128, 256) @ wo + bo
    return mixed + gelu(F.layer_norm(mixed, [256], g2, n2) @ wf + bf) @ wp + bp


def tf_train(t):
    x, wanted = t.pop("x"), t.pop("t")
    sgd = lambda weights: torch.optim.SGD(weights, lr=0.01)
    return Training(lambda *w: F.mse_loss(block(x, *w), wanted), list(t.values()), sgd)


def lstm(t):
    net = torch.nn.LSTM(256, 256)
    with torch.no_grad():
        net.weight_ih_l0.copy_(t["wx"].t())
        net.weight_hh_l0.copy_(t["wh"].t())
        net.bias_ih_l0.copy_(t["b"])
        net.bias_hh_l0.zero_()
    return Forward(lambda x: net(x)[0], [t["x"]])


chain = plain(lambda a, b, c: torch.tanh(a * b + c) * torch.sigmoid(a) + torch.exp(-b * b))
matmul = plain(torch.matmul)
WORKS = {
    "chain4m": chain,
    "chain16k": chain,
    "chain64": chain,
    "softmax": plain(lambda x: F.softmax(x, -1)),
    "layernorm": plain(lambda x, g, b: F.layer_norm(x, [1024], g, b)),
    "mlp_fwd": plain(perceptron),
    "mlp_train": mlp_train,
    "matmul512": matmul,
    "matmul1024": matmul,
    "matmul2048": matmul,
    "conv_train": conv_train,
    "tf_fwd": plain(block),
    "tf_train": tf_train,
    "conv2d": plain(lambda x, w: F.conv2d(x, w, padding=1)),
    "dwconv": plain(lambda x, w: F.conv2d(x, w, padding=1, groups=64)),
    "lstm": lstm,
    "sum0": plain(lambda x: x.sum(0)),
    "sum1": plain(lambda x: x.sum(1)),
    "cumsum": plain(lambda x: x.cumsum(1)),
    "argmax": plain(lambda x: x.argmax(1)),
    "transpose": plain(lambda x: x.t().contiguous()),
}


def say(**answer):
    print("@bench " + json.dumps(answer), flush=True)


def clocked(work, times=1):
    start = time.perf_counter()
    for _ in range(times):
        work.run()
    return (time.perf_counter() - start) * 1e3 / times


def set_up(work):
    times = [clocked(work)]
    checks = [work.check()]
    if times[0] < PATIENCE_MS:
        times += [clocked(work) for _ in range(2)]
    checks.append(work.check())
    say(first=times[0], last=times[-1], checks=checks, runs=len(times))


say(ready=f"PyTorch {torch.__version__}, threads {torch.get_num_threads()}")
current = None
for line in sys.stdin:
    request = json.loads(line)
    try:
        if request["ask"] == "setup":
            tensors = {name: tensor(o) for name, o in request["operands"].items()}
            current = WORKS[request["workload"]](tensors)
            set_up(current)
        elif request["ask"] == "run":
            say(ms=clocked(current, request["times"]))
        else:
            current = None
            say(peakBytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    except Exception as error:
        current = None
        say(error=str(error)[:300])
    if request["ask"] == "quit":
        break
