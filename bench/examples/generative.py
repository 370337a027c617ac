"""What makes digits: vae, wgan, diffusion."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from digits import digits_of
from harness import batches, descend


class Vae(nn.Module):
    def __init__(self, code=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 2 * code))
        self.decoder = nn.Sequential(nn.Linear(code, 256), nn.ReLU(), nn.Linear(256, 784))

    def bound(self, x):
        """-ELBO in nats an image."""
        mean, log_variance = self.encoder(x).chunk(2, -1)
        z = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        pixels = F.binary_cross_entropy_with_logits(self.decoder(z), x, reduction="none").sum(-1)
        distance = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum(-1)
        return (pixels + distance).mean()


def vae(setting):
    learn, test = digits_of(setting, [0.9, 0.1])
    net = Vae().to(setting.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(setting.few(20)):
        for (x, _) in batches(learn, 100):
            descend(net.bound(x), optimizer)
    with torch.no_grad():
        return float(np.mean([net.bound(x).item() for x, _ in batches(test, 100, shuffle=False)]))


def wgan(setting):
    """The distance that the critic tells, of the batch before the last step of the generator."""
    code, size, device = 32, 64, setting.device
    (real_digits,) = digits_of(setting, None)
    generator = nn.Sequential(
        nn.Linear(code, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, 784), nn.Sigmoid()).to(device)
    critic = nn.Sequential(
        nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2),
        nn.Linear(256, 1)).to(device)
    adam = lambda net: torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.9))
    of_critic, of_generator = adam(critic), adam(generator)

    def drawn():
        return generator(torch.randn(size, code, device=device))

    def train_critic(real):
        made = drawn().detach()
        distance = critic(real).mean() - critic(made).mean()
        share = torch.rand(size, 1, device=device)
        between = (real * share + made * (1 - share)).requires_grad_()
        slope = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
        penalty = ((slope.square().sum(-1) + 1e-12).sqrt() - 1).square().mean()
        descend(10 * penalty - distance, of_critic)
        return distance

    steps, done, critics = setting.few(1500, 2), 0, 0
    while done < steps:
        for (real, _) in batches(real_digits, size, drop_last=True):
            found = train_critic(real)
            critics += 1
            if critics % 5:
                continue
            descend(-critic(drawn()).mean(), of_generator)
            done += 1
            if done >= steps:
                break
    return found.item()


class Denoiser(nn.Module):
    def __init__(self, times, pixels):
        super().__init__()
        self.place = nn.Embedding(times, 128)
        self.enter, self.leave = nn.Linear(pixels, 512), nn.Linear(512, pixels)
        block = lambda: nn.ModuleList([
            nn.LayerNorm(512), nn.Linear(128, 512), nn.Linear(512, 512), nn.Linear(512, 512)])
        self.blocks = nn.ModuleList(block() for _ in range(3))

    def forward(self, x, t):
        when, h = F.silu(self.place(t)), self.enter(x)
        for norm, time, wide, back in self.blocks:
            h = h + back(F.silu(wide(norm(h)) + time(when)))
        return self.leave(h)


def diffusion(setting):
    """The loss of each tenth batch of the last epoch. The average of weights is for drawing."""
    times, side, size, device = 200, 14, 128, setting.device
    (all_digits,) = digits_of(setting, None)
    at = lambda s: math.cos(((s / times + 0.008) / 1.008) * (math.pi / 2)) ** 2
    kept = setting.put(np.array([max(1e-4, at(t + 1) / at(0)) for t in range(times)]))
    net = Denoiser(times, side * side).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(setting.few(30)):
        losses = []
        for i, (x, _) in enumerate(batches(all_digits, size, drop_last=True)):
            small = x.view(size, side, 2, side, 2).mean((2, 4)).view(size, side * side)
            t = torch.randint(times, (size,), device=device)
            noise = torch.randn(size, side * side, device=device)
            share = kept[t].unsqueeze(1)
            noisy = (2 * small - 1) * share.sqrt() + noise * (1 - share).sqrt()
            loss = descend(F.mse_loss(net(noisy, t), noise), optimizer, clip=1)
            if i % 10 == 0:
                losses.append(loss.item())
    return float(np.mean(losses))


recipes = {
    "vae": (vae, "test bound, nats"),
    "wgan": (wgan, "distance"),
    "diffusion": (diffusion, "loss"),
}
