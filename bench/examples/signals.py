"""Signals that the examples make up, with their own random numbers: eegnet, sounds."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import batches, descend, hits, mean_over, normal_numbers, random_numbers, split


def recordings(subject, trials=120, channels=8, samples=128):
    """examples/eegnet.ts: f32[trials, 1, channels, samples] of a subject, and sides."""
    draw, normal = random_numbers(subject + 1), normal_numbers(1000 + subject)
    first, second = draw(2)
    mu, strength = 9 + 3 * first, 1.5 + second
    sides = np.arange(trials) % 2
    phase = 2 * np.pi * draw(trials * channels).reshape(trials, channels, 1)
    rests = (np.arange(channels) < 4).astype(int)[None, :] == sides[:, None]
    amplitude = strength * np.where(rests, 0.3, 1)[:, :, None]
    noise = normal(trials * channels * samples).reshape(trials, channels, samples)
    signal = amplitude * np.sin(2 * np.pi * mu * np.arange(samples) / 128 + phase) + noise
    return signal[:, None].astype(np.float32), sides


class EegNet(nn.Module):
    def __init__(self, channels=8, samples=128):
        super().__init__()
        self.temporal = nn.Conv2d(1, 8, (1, 64), padding="same", bias=False)
        self.temporal_norm = nn.BatchNorm2d(8)
        self.spatial = nn.Conv2d(8, 16, (channels, 1), groups=8, bias=False)
        self.spatial_norm = nn.BatchNorm2d(16)
        self.depthwise = nn.Conv2d(16, 16, (1, 16), groups=16, padding="same", bias=False)
        self.pointwise = nn.Conv2d(16, 16, 1, bias=False)
        self.separable_norm = nn.BatchNorm2d(16)
        self.drop, self.scores = nn.Dropout(0.25), nn.Linear(16 * (samples // 32), 2)

    def forward(self, x):
        space = F.elu(self.spatial_norm(self.spatial(self.temporal_norm(self.temporal(x)))))
        slow = self.drop(F.avg_pool2d(space, (1, 4)))
        separable = F.elu(self.separable_norm(self.pointwise(self.depthwise(slow))))
        return self.scores(self.drop(F.avg_pool2d(separable, (1, 8))).flatten(1))


def eegnet(setting):
    """Learns from subjects 4 to 11, and is tested on 0 to 3."""
    parts = [recordings(subject) for subject in range(12)]
    unseen, learn = (
        setting.put(*(np.concatenate(arrays) for arrays in zip(*chosen)))
        for chosen in (parts[:4], parts[4:]))
    net = EegNet().to(setting.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(setting.few(20)):
        for x, y in batches(learn, 16):
            descend(F.cross_entropy(net(x), y), optimizer)
    return mean_over(net, unseen, 60, hits(net))


def sounds_made(count=250, length=1600, rate=8000):
    """examples/sounds.ts: steady, rising, falling tones and noise, as 16 bits hold them."""
    draw, normal = random_numbers(1), normal_numbers(2)
    share = np.arange(length) / length
    waves = np.empty((4 * count, length), np.float32)
    for i in range(4 * count):
        kind = i % 4
        u = draw(3)
        start, slope, loud = 800 + 1200 * u[0], 700 + 500 * u[1], 0.2 + 0.2 * u[2]
        if kind == 3:
            both = normal(2 * length)
            own, noise = share * both[0::2], both[1::2]
        else:
            direction = (0, 1, -1)[kind]
            own = np.sin(np.cumsum(2 * np.pi * (start + direction * slope * share) / rate))
            noise = normal(length)
        wave = (loud * own + 0.05 * noise).astype(np.float32).astype(np.float64)
        waves[i] = np.trunc(32767 * wave.clip(-1, 1)) / 2**15
    return waves, np.arange(4 * count) % 4


def log_mel(x, rate=8000, size=256, hop=128, mels=24):
    """log max(M |S|^2, 1e-10), M triangles even in HTK's mel from 0 to half the rate."""
    top = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (top * np.arange(mels + 2) / (mels + 1) / 2595) - 1)
    hz = np.arange(size // 2 + 1) * rate / 2 / (size // 2)
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    bands = np.maximum(0, np.minimum((hz - low) / (middle - low), (high - hz) / (high - middle)))
    window = torch.hann_window(size, device=x.device)
    spectra = torch.stft(x, size, hop, window=window, center=True, pad_mode="reflect",
                         return_complex=True)
    power = spectra.real.square() + spectra.imag.square()
    matrix = torch.from_numpy(bands.astype(np.float32)).to(x.device)
    return (matrix @ power).clamp_min(1e-10).log()


def covered(x, axis, most):
    n, extent = x.shape[0], x.shape[axis]
    width = torch.randint(0, most + 1, (n, 1))
    start = (torch.rand(n, 1) * (extent - width + 1)).floor()
    at = torch.arange(extent)[None]
    inside = ((at >= start) & (at < start + width)).to(x.device)
    return inside[:, :, None] if axis == 1 else inside[:, None, :]


def masked(x):
    """A mask of up to 4 bands and one of up to 3 frames, with the mean of the sample."""
    hidden = covered(x, 1, 4) | covered(x, 2, 3)
    return torch.where(hidden, x.mean((1, 2), keepdim=True), x)


def sounds(setting):
    waves, kinds = sounds_made()
    order = setting.arrays("orders")["sounds"]
    learn, test = (setting.put(waves[p], kinds[p]) for p in split(order, [0.8, 0.2]))
    learn, test = ((log_mel(x), y) for x, y in (learn, test))
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * 6 * 3, 4)).to(setting.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    scaled = lambda x: ((x + 3) / 3).unsqueeze(1)
    for _ in range(setting.few(12)):
        net.train()
        for x, y in batches(learn, 16):
            descend(F.cross_entropy(net(scaled(masked(x))), y), optimizer)
    measure = hits(net)
    return mean_over(net, test, 16, lambda x, y: measure(scaled(x), y))


recipes = {
    "eegnet": (eegnet, "accuracy on unseen subjects"),
    "sounds": (sounds, "test accuracy"),
}
