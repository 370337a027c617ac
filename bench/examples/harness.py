"""What the recipes share: data, batches in a new order each epoch, rates, random numbers, a loop.

Layers of PyTorch have the first values, constants and options of ours where nothing else is said:
even within 1/sqrt(fan in) for products and convolutions, Gaussian for embeddings, a momentum of
0.1 and an eps of 1e-5 for norms, a decay of 0.01 for AdamW.
"""
import math
import os

import numpy as np
import torch
import torch.nn.functional as F


class Setting:
    """Where a recipe runs and on what; `trial` is a run of few steps, to see that it does."""

    def __init__(self, folder, device, trial=False):
        self.folder, self.device, self.trial = folder, torch.device(device), trial

    def path(self, name):
        return os.path.join(self.folder, name)

    def arrays(self, name):
        with np.load(self.path(name + ".npz")) as found:
            return {key: found[key] for key in found.files}

    def few(self, count, trial=1):
        """Epochs or steps."""
        return min(count, trial) if self.trial else count

    def put(self, *arrays):
        """Tensors on the device; whole numbers as int64, which indices must be."""
        out = []
        for a in arrays:
            dtype = np.float32 if np.issubdtype(a.dtype, np.floating) else np.int64
            out.append(torch.from_numpy(np.ascontiguousarray(a, dtype)).to(self.device))
        return out[0] if len(out) == 1 else out


def expect(what, got, want):
    """Data of another shape are another recipe."""
    if tuple(got) != tuple(want):
        raise ValueError(f"{what} is {tuple(got)}, must be {tuple(want)}: run pack.ts again")


def split(order, fractions):
    """Parts of an order, as data.split cuts them."""
    parts, start, total = [], 0, 0.0
    for fraction in fractions:
        total += fraction
        end = int(math.floor(total * len(order) + 1e-6))
        parts.append(order[start:end])
        start = end
    return parts


def batches(tensors, size, shuffle=True, drop_last=False):
    """One epoch."""
    count = len(tensors[0])
    order = torch.randperm(count) if shuffle else torch.arange(count)
    order = order.to(tensors[0].device)
    for at in range(0, count - size + 1 if drop_last else count, size):
        chosen = order[at:at + size]
        yield [t[chosen] for t in tensors]


def rates(optimizer, factor):
    """The rate of a step, as a share of the optimizer's; steps count from 0."""
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def cosine(optimizer, steps, end=0.0):
    """From the optimizer's rate to `end` over the steps."""
    low = end / optimizer.param_groups[0]["lr"]
    wave = lambda k: (1 + math.cos(math.pi * min(k / steps, 1))) / 2
    return rates(optimizer, lambda k: low + (1 - low) * wave(k))


def descend(loss, optimizer, schedule=None, clip=None):
    """One step down the gradient of the loss."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clip is not None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        torch.nn.utils.clip_grad_norm_(parameters, clip)
    optimizer.step()
    if schedule is not None:
        schedule.step()
    return loss


def accuracy(scores, labels):
    return (scores.argmax(-1) == labels).float().mean().item()


def mean_over(net, tensors, size, measure):
    """The mean of what `measure` gives of each sample, in evaluation."""
    net.eval()
    with torch.no_grad():
        found = [measure(*batch) for batch in batches(tensors, size, shuffle=False)]
    net.train()
    return torch.cat([f.reshape(-1).double() for f in found]).mean().item()


def hits(net):
    return lambda x, y: (net(x).argmax(-1) == y).double()


def random_numbers(seed):
    """examples/data.ts, mulberry32: takes a count, gives so many more numbers of [0, 1)."""
    state = {"drawn": 0}
    mask = np.uint64(0xFFFFFFFF)

    def draw(count):
        k = np.arange(state["drawn"] + 1, state["drawn"] + count + 1, dtype=np.uint64)
        state["drawn"] += count
        s = (np.uint64(seed) + k * np.uint64(0x6D2B79F5)) & mask
        t = ((s ^ (s >> np.uint64(15))) * (s | np.uint64(1))) & mask
        t ^= (t + (((t ^ (t >> np.uint64(7))) * (t | np.uint64(61))) & mask)) & mask
        return (t ^ (t >> np.uint64(14))).astype(np.float64) / 2.0**32
    return draw


def normal_numbers(seed):
    """Such, by Box and Muller."""
    draw = random_numbers(seed)

    def normal(count):
        u = draw(2 * count)
        return np.sqrt(-2 * np.log(1 - u[0::2])) * np.cos(2 * np.pi * u[1::2])
    return normal

