"""Digits: digits, custom-loop, custom-renderer, lightning, custom-gradient, page."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import accuracy, batches, cosine, descend, expect, hits, mean_over, split


def digits_of(setting, fractions):
    """Parts [x, y] of the 10,000 digits, x f32[N, 784]; without fractions all of them."""
    found = setting.arrays("digits")
    expect("digits", found["x"].shape, (len(found["x"]), 784))
    pixels = (found["x"].astype(np.float64) / 1000).astype(np.float32)
    parts = split(found["order"], fractions) if fractions else [np.arange(len(pixels))]
    return [setting.put(pixels[p], found["y"][p]) for p in parts]


class Images(nn.Module):
    def forward(self, x):
        return ((x - 0.1307) / 0.3081).reshape(-1, 1, 28, 28)


def convolutions(*before_last):
    return nn.Sequential(
        Images(), nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), *before_last, nn.Linear(400, 10))


def mlp(width, *after):
    return nn.Sequential(nn.Linear(784, width), nn.ReLU(), *after, nn.Linear(width, 10))


def train_epoch(net, learn, size, optimizer, schedule=None, clip=None, loss=F.cross_entropy):
    net.train()
    for x, y in batches(learn, size):
        descend(loss(net(x), y), optimizer, schedule, clip)


def fit_digits(setting):
    """Ends early where three epochs in a row are no better by the loss of validation."""
    learn, check, test = digits_of(setting, [0.8, 0.1, 0.1])
    net = convolutions(nn.Dropout(0.1)).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule = cosine(optimizer, 5 * -(-len(learn[0]) // 32), 1e-4)
    best, waited = float("inf"), 0
    for _ in range(setting.few(5)):
        train_epoch(net, learn, 32, optimizer, schedule)
        loss = mean_over(net, check, 250, lambda x, y: F.cross_entropy(net(x), y, reduction="none"))
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
        if waited >= 3:
            break
    return 100 * mean_over(net, test, 250, hits(net))


def custom_loop(setting):
    """The best of ten epochs on the test set."""
    learn, test = digits_of(setting, [0.9, 0.1])
    net = mlp(128, nn.Dropout(0.2)).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    best = 0.0
    for _ in range(setting.few(10)):
        train_epoch(net, learn, 64, optimizer, clip=1)
        best = max(best, mean_over(net, test, 250, hits(net)))
    return best


def custom_renderer(setting):
    learn, check = digits_of(setting, [0.9, 0.1])
    net = mlp(64).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for _ in range(setting.few(5)):
        train_epoch(net, learn, 50, optimizer)
    return mean_over(net, check, 250, hits(net))


def lightning(setting):
    learn, check = digits_of(setting, [0.9, 0.1])
    net = mlp(128).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    smoothed = nn.CrossEntropyLoss(label_smoothing=0.05)
    for _ in range(setting.few(10)):
        train_epoch(net, learn, 64, optimizer, loss=smoothed)
    return mean_over(net, check, 250, hits(net))


class Coarse(nn.Module):
    """Weights of -1, 0 or 1 times their mean size; the gradient is that of the identity."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(784, 128), nn.Linear(128, 10)

    @staticmethod
    def ternary(w):
        scale = w.abs().mean()
        return w + ((w / scale).round().clamp(-1, 1) * scale - w).detach()

    def forward(self, x):
        hidden = F.linear(x, self.ternary(self.first.weight), self.first.bias).relu()
        return F.linear(hidden, self.ternary(self.second.weight), self.second.bias)


def custom_gradient(setting):
    learn, test = digits_of(setting, [0.9, 0.1])
    net = Coarse().to(setting.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(setting.few(10)):
        train_epoch(net, learn, 64, optimizer)
    return mean_over(net, test, 100, hits(net))


def page(setting):
    learn, test = digits_of(setting, [0.9, 0.1])
    net = convolutions().to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for _ in range(setting.few(3)):
        train_epoch(net, learn, 32, optimizer)
    return mean_over(net, test, 100, hits(net))


def many_accelerators(setting):
    """On one device; the accuracy is that of the last epoch's batches as they were learnt."""
    learn = digits_of(setting, [0.9, 0.1])[0]
    net = mlp(512, nn.Dropout(0.1)).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(setting.few(3)):
        right = []
        for x, y in batches(learn, 128, drop_last=True):
            scores = net(x)
            right.append(accuracy(scores, y))
            descend(F.cross_entropy(scores, y), optimizer)
    return float(np.mean(right))


recipes = {
    "digits": (fit_digits, "test accuracy, %"),
    "custom-loop": (custom_loop, "test accuracy"),
    "custom-renderer": (custom_renderer, "validation accuracy"),
    "lightning": (lightning, "validation accuracy"),
    "custom-gradient": (custom_gradient, "test accuracy"),
    "page": (page, "test accuracy"),
    "many-accelerators": (many_accelerators, "accuracy of the last epoch"),
}
