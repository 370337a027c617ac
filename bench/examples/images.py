"""Pictures: unet on membranes, images on CIFAR-10's JPEGs, contrastive on digits."""
import io
import math
import tarfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from digits import digits_of
from harness import accuracy, batches, cosine, descend, expect, hits, mean_over


def conv_norm(inputs, outputs):
    conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
    return [conv, nn.BatchNorm2d(outputs), nn.ReLU()]


def twice(inputs, outputs):
    return nn.Sequential(*conv_norm(inputs, outputs), *conv_norm(outputs, outputs))


class UNet(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        widths = [width << i for i in range(depth)]
        self.down = nn.ModuleList(twice(w // 2 if i else 1, w) for i, w in enumerate(widths))
        self.bottom = twice(widths[-1], 2 * widths[-1])
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths)
        self.join = nn.ModuleList(twice(2 * w, w) for w in widths)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        bridges = []
        for layer in self.down:
            bridges.append(layer(x))
            x = F.max_pool2d(bridges[-1], 2)
        x = self.bottom(x)
        for i in reversed(range(len(self.down))):
            x = self.join[i](torch.cat([bridges[i], self.up[i](x)], 1))
        return self.head(x)


def coin(x):
    return (torch.rand(len(x)) < 0.5).to(x.device)[:, None, None, None]


def crop(x, height, width, padding=0):
    """A part of each picture, with zeros around it, at a place of its own."""
    x = F.pad(x, (padding,) * 4)
    rows = torch.randint(0, x.shape[2] - height + 1, (len(x), 1)) + torch.arange(height)
    columns = torch.randint(0, x.shape[3] - width + 1, (len(x), 1)) + torch.arange(width)
    samples = torch.arange(len(x))[:, None, None]
    places = [t.to(x.device) for t in (samples, rows[:, :, None], columns[:, None, :])]
    return x.permute(0, 2, 3, 1)[places[0], places[1], places[2]].permute(0, 3, 1, 2)


def overlap(scores, mask):
    p = scores.sigmoid().flatten(1)
    t = mask.flatten(1)
    dice = 1 - (2 * (p * t).sum(1) + 1) / ((p + t).sum(1) + 1)
    return F.binary_cross_entropy_with_logits(scores, mask) + dice.mean()


def unet(setting):
    """Dice over all pixels of the first six slices."""
    found = setting.arrays("membranes")
    expect("membranes", found["images"].shape, (30, 512, 512))
    pictures = np.stack([found["images"], found["labels"]], 1).astype(np.float32) / 255
    held, learn = setting.put(pictures[:6]), setting.put(pictures[6:])
    steps = setting.few(300, 2)
    net = UNet().to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule, done = cosine(optimizer, steps), 0
    while done < steps:
        for (both,) in batches([learn], 4):
            both = crop(both, 128, 128)
            both = torch.where(coin(both), both.flip(3), both)
            both = torch.where(coin(both), both.flip(2), both)
            loss = overlap(net(both[:, :1]), (both[:, 1:] > 0.5).float())
            descend(loss, optimizer, schedule)
            done += 1
            if done >= steps:
                break
    net.eval()
    with torch.no_grad():
        seen = torch.cat([net(slice_[None, :1]).sigmoid() > 0.5 for slice_ in held])
    cells = held[:, 1:] > 127.5 / 255
    return (2 * (seen & cells).sum() / (seen.sum() + cells.sum())).item()


def pictures_of(setting):
    """u8[N, 32, 32, 3] and classes, in the order of folders and names, to learn and to test."""
    from PIL import Image
    found = {"train": [], "test": []}
    with tarfile.open(setting.path("cifar10.tar.gz")) as archive:
        for member in archive.getmembers():
            if member.name.endswith(".jpg"):
                part, kind, name = member.name.split("/")[-3:]
                found[part].append((kind, name, archive.extractfile(member).read()))
    kinds = sorted({kind for kind, _, _ in found["train"]})
    for part, want in (("train", 5000), ("test", 1000)):
        expect(f"pictures to {part}", (len(found[part]), len(kinds)), (want, 10))
        files = sorted(found[part])
        pixels = [np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB")) for _, _, jpeg in files]
        labels = np.array([kinds.index(kind) for kind, _, _ in files])
        x = np.stack(pixels).transpose(0, 3, 1, 2).astype(np.float32) / 255
        yield setting.put(x, labels)


def block(inputs, outputs):
    conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    return [conv, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]


def images(setting):
    learn, test = pictures_of(setting)
    net = nn.Sequential(
        *block(3, 16), *block(16, 32), *block(32, 64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.01)
    scaled = lambda x: (x - 0.47) / 0.25
    for _ in range(setting.few(15)):
        net.train()
        for x, y in batches(learn, 32):
            cut = crop(torch.where(coin(x), x.flip(3), x), 32, 32, padding=2)
            descend(F.cross_entropy(net(scaled(cut)), y), optimizer)
    measure = hits(net)
    return mean_over(net, test, 80, lambda x, y: measure(scaled(x), y))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.norm2 = nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32)
        self.features = nn.Linear(32 * 7 * 7, 64)
        self.head = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        low = self.norm1(self.conv1(x)).relu()
        return self.features(self.norm2(self.conv2(low)).relu().flatten(1)).relu()


def view(x):
    """Turned by up to 20 degrees, moved by a tenth, scaled by 0.8 to 1.2, a square of 8 blank."""
    n, _, h, w = x.shape
    even = lambda low, high: (low + (high - low) * torch.rand(n, 1, 1)).to(x.device)
    angle, inverse = even(-1, 1) * 20 * math.pi / 180, 1 / even(0.8, 1.2)
    tx, ty = even(-0.1, 0.1) * w, even(-0.1, 0.1) * h
    a, b = angle.cos() * inverse, angle.sin() * inverse
    dy = torch.arange(h, device=x.device)[None, :, None] - (h - 1) / 2
    dx = torch.arange(w, device=x.device)[None, None, :] - (w - 1) / 2
    px = a * (dx - tx) + b * (dy - ty)
    py = a * (dy - ty) - b * (dx - tx)
    grid = torch.stack([px / ((w - 1) / 2), py / ((h - 1) / 2)], -1)
    moved = F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True)
    top, left = (even(0, 1) * h).floor() - 4, (even(0, 1) * w).floor() - 4
    columns = torch.arange(w, device=x.device)
    rows = torch.arange(h, device=x.device)[None, :, None]
    inside = (rows >= top) & (rows < top + 8) & (columns >= left) & (columns < left + 8)
    return moved.masked_fill(inside[:, None], 0)


def info_nce(a, b, temperature=0.2):
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T / temperature
    own = torch.arange(len(a), device=a.device)
    return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2


def contrastive(setting):
    """The accuracy of a linear classifier of 100 labels on what the encoder found."""
    learn, few, test = digits_of(setting, [0.85, 0.01, 0.1])
    net = Encoder().to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for _ in range(setting.few(15)):
        for (x, _) in batches(learn, 128, drop_last=True):
            shaped = x.view(-1, 1, 28, 28)
            a, b = (net.head(net(view(shaped))) for _ in range(2))
            descend(info_nce(a, b), optimizer)
    net.eval()
    with torch.no_grad():
        near, far = (net(x.view(-1, 1, 28, 28)) for x, _ in (few, test))
    linear = nn.Linear(64, 10).to(setting.device)
    optimizer = torch.optim.AdamW(linear.parameters(), lr=0.01, weight_decay=0.01)
    for _ in range(200):
        descend(F.cross_entropy(linear(near), few[1]), optimizer)
    return accuracy(linear(far), test[1])


recipes = {
    "unet": (unet, "Dice on 6 slices"),
    "images": (images, "test accuracy"),
    "contrastive": (contrastive, "test accuracy of the features"),
}
