"""Sequences: characters, text-classification, lstm on sunspots."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import batches, cosine, descend, expect, mean_over, rates


class Model(nn.Module):
    """One block of attention over characters."""

    def __init__(self, letters, width=32, heads=2, most=160):
        super().__init__()
        self.heads = heads
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(most, width)
        self.before, self.parts = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
            nn.Linear(4 * width, width))
        self.head = nn.Linear(width, letters)

    def forward(self, x):
        batch, length = x.shape
        h = self.letter(x) + self.place(torch.arange(length, device=x.device))
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2)
                   for t in self.parts(self.before(h)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        unseen = torch.ones(length, length, device=x.device).triu(1).bool()
        read = scores.masked_fill(unseen, -math.inf).softmax(-1) @ v
        y = h + self.out(read.transpose(1, 2).reshape(batch, length, -1))
        return self.head(y + self.mlp(y))


def characters(setting):
    """The loss of the last of 300 steps."""
    rhyme = "how much wood would a woodchuck chuck if a woodchuck could chuck wood? "
    letters = sorted(set(rhyme))
    codes = setting.put(np.array([letters.index(c) for c in rhyme * 3]))
    net = Model(len(letters)).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    schedule = rates(optimizer, lambda k: min(1.0, (k + 1) / 10))
    for i in range(setting.few(300, 3)):
        at = 7 * i % len(rhyme)
        scores = net(codes[None, at:at + 128])[0]
        loss = descend(F.cross_entropy(scores, codes[at + 1:at + 129]), optimizer, schedule, clip=1)
    return loss.item()


class Block(nn.Module):
    """An encoder layer with the norms after; first values are those of plain products."""

    def __init__(self, width, heads, hidden, rate):
        super().__init__()
        self.heads, self.drop = heads, nn.Dropout(rate)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, present):
        n, length, _ = x.shape
        q, k, v = (layer(x).view(n, length, self.heads, -1).transpose(1, 2)
                   for layer in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = self.drop(scores.masked_fill(~present[:, None, None, :], -math.inf).softmax(-1))
        read = self.out((weights @ v).transpose(1, 2).reshape(n, length, -1))
        x = self.norm1(x + self.drop(read))
        return self.norm2(x + self.drop(self.down(self.drop(self.up(x).relu()))))


class Classifier(nn.Module):
    def __init__(self, words, classes, width=64):
        super().__init__()
        self.words, self.scores = nn.Embedding(words, width), nn.Linear(width, classes)
        self.blocks = nn.ModuleList(Block(width, 4, 128, 0.2) for _ in range(2))
        rate = (-math.log(1e4) / width * torch.arange(0, width, 2)).exp()
        angle = torch.arange(64.0)[:, None] * rate
        self.register_buffer("places", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))

    def forward(self, codes):
        present = codes != 0
        y = self.words(codes) + self.places[:codes.shape[1]]
        for block in self.blocks:
            y = block(y, present)
        weights = present.unsqueeze(-1).float()
        return self.scores((y * weights).sum(1) / weights.sum(1))


def buckets(lengths, size=32, pool=50):
    """Lists of samples of about one length: pools of 50 batches are sorted, then mixed."""
    order, found = np.random.permutation(len(lengths)), []
    for at in range(0, len(order), size * pool):
        part = order[at:at + size * pool]
        part = part[np.argsort(lengths[part], kind="stable")]
        found += [part[i:i + size] for i in range(0, len(part), size)]
    return [found[i] for i in np.random.permutation(len(found))]


def text_classification(setting):
    found = setting.arrays("headlines")
    expect("headlines", found["codes"].shape, (7600, 60))
    codes, labels, order = found["codes"], found["labels"], found["order"]
    held = len(order) // 10
    test, learn = order[:held], order[held:]
    lengths = (codes != 0).sum(1)
    net = Classifier(int(found["words"][0]) + 2, 4).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    epochs = setting.few(6)
    schedule = cosine(optimizer, epochs * -(-len(learn) // 32))

    def padded(chosen):
        """To a multiple of 16; codes end with zeros, of which 60 to 64 are more."""
        most = -(-int(lengths[chosen].max()) // 16) * 16
        wide = np.zeros((len(chosen), 64), np.int64)
        wide[:, :60] = codes[chosen]
        return setting.put(wide[:, :most], labels[chosen])

    for _ in range(epochs):
        for chosen in buckets(lengths[learn])[:setting.few(1000, 5)]:
            x, y = padded(learn[chosen])
            descend(F.cross_entropy(net(x), y), optimizer, schedule, clip=1)
    net.eval()
    with torch.no_grad():
        parts = [padded(test[i:i + 50]) for i in range(0, held, 50)]
        return sum((net(x).argmax(-1) == y).sum().item() for x, y in parts) / held


class Forecast(nn.Module):
    def __init__(self, ahead):
        super().__init__()
        self.lstm, self.norm = nn.LSTM(1, 32, 2, batch_first=True), nn.LayerNorm(32)
        self.ahead = nn.Linear(32, ahead)

    def forward(self, x):
        return self.ahead(self.norm(self.lstm(x)[0][:, -1])) + x[:, -1]


def lstm(setting):
    """The root of the mean square over the last fifth."""
    series = setting.arrays("sunspots")["series"].astype(np.float64)
    expect("sunspots", series.shape, (2820,))
    past, ahead, border = 72, 12, int(0.8 * len(series))
    known = series[:border]
    scaled = ((series - known.mean()) / known.std()).astype(np.float32)

    def windows(start, end):
        span = np.lib.stride_tricks.sliding_window_view(scaled[start:end], past + ahead)
        return setting.put(span[:, :past, None], span[:, past:])

    net = Forecast(ahead).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    learn = windows(0, border)
    for _ in range(setting.few(20)):
        for x, y in batches(learn, 32):
            descend(F.mse_loss(net(x), y), optimizer, clip=1)
    test = windows(border - past, len(series))
    return math.sqrt(mean_over(net, test, 64, lambda x, y: (net(x) - y).square()))


recipes = {
    "characters": (characters, "loss"),
    "text-classification": (text_classification, "test accuracy"),
    "lstm": (lstm, "test error"),
}
