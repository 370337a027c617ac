"""A pole balanced by a deep Q-network: dqn."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import descend

LONGEST, CAPACITY, BATCH = 500, 20_000, 64


def push(state, action):
    """20 ms of the cart, pushed to the left (0) or right (1)."""
    x, v, angle, turn = state
    sin, cos = math.sin(angle), math.cos(angle)
    whole = ((10 if action else -10) + 0.05 * turn * turn * sin) / 1.1
    bend = (9.8 * sin - cos * whole) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
    following = (
        x + 0.02 * v, v + 0.02 * (whole - 0.05 * bend * cos / 1.1),
        angle + 0.02 * turn, turn + 0.02 * bend)
    return following, abs(following[0]) > 2.4 or abs(following[2]) > math.pi / 15


def network(device):
    return nn.Sequential(
        nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)


class Memory:
    """The last steps, as columns: state, action, reward, next state, whether it goes on."""

    def __init__(self, device):
        self.rows, self.device, self.stored = torch.zeros(CAPACITY, 11), device, 0

    def keep(self, state, action, reward, following, goes_on):
        row = torch.tensor([*state, action, reward, *following, goes_on])
        self.rows[self.stored % CAPACITY] = row
        self.stored += 1

    def draw(self):
        held = min(self.stored, CAPACITY)
        rows = self.rows[torch.randint(held, (BATCH,))].to(self.device)
        return rows[:, :4], rows[:, 4].long(), rows[:, 5], rows[:, 6:10], rows[:, 10]


def learn(online, target, optimizer, memory):
    state, action, reward, following, goes_on = memory.draw()
    value = online(state).gather(1, action[:, None]).squeeze(1)
    with torch.no_grad():
        best = online(following).argmax(-1, keepdim=True)
        goal = reward + target(following).gather(1, best).squeeze(1) * goes_on * 0.99
    descend(F.huber_loss(value, goal), optimizer, clip=10)
    with torch.no_grad():
        for t, o in zip(target.parameters(), online.parameters()):
            t.lerp_(o, 0.01)


def dqn(setting):
    """The best average of 20 episodes."""
    online, target = network(setting.device), network(setting.device)
    optimizer = torch.optim.AdamW(online.parameters(), lr=1e-3)
    memory, lengths, best = Memory(setting.device), [], 0.0
    for episode in range(1, setting.few(400, 12) + 1):
        curious = max(0.02, 0.9 * math.exp(-episode / 20))
        state = tuple(0.1 * (random.random() - 0.5) for _ in range(4))
        for t in range(1, LONGEST + 1):
            if random.random() >= curious:
                with torch.no_grad():
                    action = online(torch.tensor([state], device=setting.device)).argmax().item()
            else:
                action = random.randrange(2)
            following, fell = push(state, action)
            memory.keep(state, action, 1, following, 0 if fell else 1)
            if memory.stored >= BATCH:
                learn(online, target, optimizer, memory)
            state = following
            if fell or t == LONGEST:
                lengths.append(t)
                break
        recent = sum(lengths[-20:]) / min(20, len(lengths))
        best = max(best, recent)
        if recent >= 0.95 * LONGEST:
            break
    return best


recipes = {
    "dqn": (dqn, "best average of 20 episodes"),
}
