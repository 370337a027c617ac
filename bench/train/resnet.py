"""The step of resnet-step.ts in PyTorch, eager, on one thread: the ResNet of n blocks a stage for
CIFAR-10 (He et al. 2016, section 4.2) and ResNet-18 with a first convolution of 3×3. Reads a number
of steps a line, answers with a line of JSON."""

import json
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        same = stride == 1 and inputs == width
        self.down = None if same else nn.Sequential(
            nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.down is None else self.down(x)))


def resnet(widths, blocks):
    layers = [nn.Conv2d(3, widths[0], 3, 1, 1, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    inputs = widths[0]
    for stage, width in enumerate(widths):
        for i in range(blocks):
            layers.append(Block(inputs, width, 2 if stage and i == 0 else 1))
            inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


name, batch = sys.argv[1], int(sys.argv[2])
net = resnet([16, 32, 64], 3) if name == "resnet20" else resnet([64, 128, 256, 512], 2)
images = torch.sin(torch.arange(batch * 3 * 32 * 32).double() * 1.7).float().reshape(batch, 3, 32, 32)
labels = torch.arange(batch) % 10
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def step():
    optimizer.zero_grad()
    loss = F.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    return loss


def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (used.ru_utime + used.ru_stime)


print(json.dumps({"about": f"PyTorch {torch.__version__}"}), flush=True)
for line in sys.stdin:
    count = int(line)
    cpu, wall = cpu_ms(), time.perf_counter()
    for _ in range(count):
        loss = step()
    value = loss.item()
    ms = {"cpu": (cpu_ms() - cpu) / count, "wall": 1e3 * (time.perf_counter() - wall) / count}
    print(json.dumps({**ms, "loss": value}), flush=True)
