"""Functions and lines: pinn, neural-ode, linear-regression, xor-keras, notebook, housing."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import batches, cosine, descend, expect, mean_over, random_numbers, split

VISCOSITY = 0.05


def exact(x, t):
    """The solution of Cole and Hopf, by quadrature."""
    at = np.arange(-400, 401)
    reach = 6 * math.sqrt(2 * VISCOSITY * t)
    places = x - reach * at / 400
    exponent = -(np.cos(np.pi * places) + 1) / (2 * np.pi * VISCOSITY)
    weight = np.exp(exponent - (reach * at) ** 2 / 160_000 / (4 * VISCOSITY * t))
    return -(np.sin(np.pi * places) * weight).sum() / weight.sum()


def pinn(setting):
    """The error relative to the exact solution, at 101 places and four times."""
    device, steps = setting.device, setting.few(3000, 3)
    net = nn.Sequential(
        nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(),
        nn.Linear(32, 1)).to(device)
    solution = lambda x, t: -(math.pi * x).sin() + t * (1 - x.square()) * net(torch.cat([x, t], 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    schedule = cosine(optimizer, steps, 1e-4)
    for _ in range(steps):
        x = (2 * torch.rand(1024, 1, device=device) - 1).requires_grad_()
        t = torch.rand(1024, 1, device=device).requires_grad_()
        u = solution(x, t)
        slope, speed = torch.autograd.grad(u.sum(), [x, t], create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        descend((speed + u * slope - VISCOSITY * bend).square().mean(), optimizer, schedule)
    times, places = [0.25, 0.5, 0.75, 1], -1 + np.arange(101) / 50
    truth = np.array([exact(x, t) for t in times for x in places])
    with torch.no_grad():
        columns = setting.put(np.tile(places, 4)[:, None], np.repeat(times, 101)[:, None])
        found = solution(*columns)[:, 0].cpu().double().numpy()
    return math.sqrt(((found - truth) ** 2).sum() / (truth ** 2).sum())


def paths(starts, count, dt=0.1):
    """Damped pendulums, f64[count, N, 2], by ten half steps in the place of each of ours."""
    pendulum = lambda p: np.stack([p[:, 1], -2 * np.sin(p[:, 0]) - 0.2 * p[:, 1]], 1)
    at, found = np.asarray(starts), []
    for _ in range(count):
        for _ in range(10):
            at = at + pendulum(at + pendulum(at) * dt / 20) * dt / 10
        found.append(at)
    return np.stack(found)


def neural_ode(setting):
    """The largest error on a new path, twice as long."""
    dt, steps = 0.1, setting.few(1200, 2)
    field = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 2)).to(setting.device)

    def solve(x, count):
        found = []
        for _ in range(count):
            k1 = field(x)
            k2 = field(x + k1 * (dt / 2))
            k3 = field(x + k2 * (dt / 2))
            k4 = field(x + k3 * dt)
            x = x + (k1 + 2 * k2 + 2 * k3 + k4) * (dt / 6)
            found.append(x)
        return torch.stack(found)

    starts = 3 * random_numbers(1)(128).reshape(64, 2) - 1.5
    x, y = setting.put(starts, paths(starts, 25))
    optimizer = torch.optim.Adam(field.parameters(), lr=0.01)
    schedule = cosine(optimizer, steps, 1e-4)
    for _ in range(steps):
        descend(F.mse_loss(solve(x, 25), y), optimizer, schedule)
    start = np.array([[1.2, -0.4]])
    with torch.no_grad():
        seen = solve(setting.put(start), 50).cpu().double().numpy()
    return float(np.abs(seen - paths(start, 50)).max())


def line(setting, optimizer_of, x, y, steps):
    net = nn.Linear(1, 1).to(setting.device)
    optimizer = optimizer_of(net.parameters())
    x, y = setting.put(x[:, None], y[:, None])
    for _ in range(steps):
        descend(F.mse_loss(net(x), y), optimizer)
    return net.weight.item()


def linear_regression(setting):
    x = np.array([-1.0, 0, 1, 2])
    return line(setting, lambda p: torch.optim.SGD(p, lr=0.1), x, 2 * x + 1, 200)


def notebook(setting):
    x = np.arange(20) / 10 - 1
    return line(setting, lambda p: torch.optim.Adam(p, lr=0.1), x, 3 * x + 1, 300)


def xor(setting):
    """What it says of 1 and 1."""
    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
    net = net.to(setting.device)
    pairs = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    x, y = setting.put(pairs, (pairs.sum(1, keepdims=True) == 1).astype(float))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(300):
        descend(F.binary_cross_entropy(net(x), y), optimizer)
    return net(x)[3].item()


def districts(setting):
    """Columns, at their median where a cell is missing, of mean 0 and deviation 1; the place."""
    found = setting.arrays("housing")
    expect("housing", found["numbers"].shape, (20640, 8))
    columns = []
    for column in found["numbers"].astype(np.float64).T:
        known = np.sort(column[~np.isnan(column)])
        full = np.where(np.isnan(column), known[len(known) >> 1], column)
        columns.append((full - full.mean()) / full.std())
    places = np.eye(int(found["sizes"][0]))[found["places"]]
    rows = np.concatenate([np.stack(columns, 1), places], 1).astype(np.float32)
    prices = found["prices"] / np.float32(100_000)
    return [setting.put(rows[p], prices[p]) for p in split(found["order"], [0.8, 0.1, 0.1])]


def housing(setting):
    """R2 on the test set; ends where eight epochs in a row have no better error of validation."""
    learn, check, test = districts(setting)
    net = nn.Sequential(
        nn.Linear(learn[0].shape[1], 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, 1), nn.Flatten(0)).to(setting.device)
    epochs = setting.few(30)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule = cosine(optimizer, epochs * -(-len(learn[0]) // 64))
    best, waited = float("inf"), 0
    for _ in range(epochs):
        for x, y in batches(learn, 64):
            descend(F.huber_loss(net(x), y), optimizer, schedule)
        error = mean_over(net, check, 256, lambda x, y: (net(x) - y).abs())
        best, waited = (error, 0) if error < best else (best, waited + 1)
        if waited >= 8:
            break
    square = mean_over(net, test, 256, lambda x, y: (net(x) - y).square())
    return 1 - square / test[1].double().var(unbiased=False).item()


recipes = {
    "pinn": (pinn, "relative error"),
    "neural-ode": (neural_ode, "largest error"),
    "linear-regression": (linear_regression, "slope"),
    "xor-keras": (xor, "1 xor 1"),
    "notebook": (notebook, "slope"),
    "housing": (housing, "test R²"),
}
