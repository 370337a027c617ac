"""PyTorch's whole networks, eager and compiled, without TF32: the works are the first argument, as
JSON, each with a name, a kind, its extents and whether it runs under autocast in halves. Prints
`peer, work, time ms, ...` a row, tab separated; one that fails says so."""

import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SAMPLE_S = 0.15


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.causal = heads, causal

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, w))


class Block(nn.Module):
    def __init__(self, width, heads, before):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, before)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.before = before

    def forward(self, x):
        if not self.before:
            y = self.norm1(x + self.attention(x))
            return self.norm2(y + self.down(F.gelu(self.up(y))))
        y = x + self.attention(self.norm1(x))
        return y + self.down(F.gelu(self.up(self.norm2(y))))


class Trunk(nn.Module):
    def __init__(self, width, heads, layers, tokens, vocabulary, causal):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.blocks = nn.Sequential(*[Block(width, heads, causal) for _ in range(layers)])
        self.norm, self.causal = nn.LayerNorm(width), causal

    def forward(self, x):
        first = self.tokens(x) + self.places.weight
        return self.norm(self.blocks(first)) if self.causal else self.blocks(self.norm(first))


class Gpt(nn.Module):
    def __init__(self, width, heads, layers, tokens, vocabulary):
        super().__init__()
        self.trunk = Trunk(width, heads, layers, tokens, vocabulary, True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.trunk(x)).flatten(0, 1)


class Lstm(nn.Module):
    def __init__(self, width, layers, vocabulary):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.cells = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.cells(self.table(x))[0]).flatten(0, 1)


def twice(inputs, outputs):
    layers = []
    for n in (inputs, outputs):
        layers += [nn.Conv2d(n, outputs, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        widths = [width << i for i in range(4)]
        self.down = nn.ModuleList([twice(w // 2 if i else 3, w) for i, w in enumerate(widths)])
        self.bottom = twice(widths[-1], 2 * widths[-1])
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths])
        self.join = nn.ModuleList([twice(2 * w, w) for w in widths])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        bridges = []
        for layer in self.down:
            bridges.append(layer(x))
            x = F.max_pool2d(bridges[-1], 2)
        x = self.bottom(x)
        for i in range(3, -1, -1):
            x = self.join[i](torch.cat([bridges[i], self.up[i](x)], 1))
        return self.head(x)


def adamw(params):
    return torch.optim.AdamW(params, lr=3e-4, **({"fused": True} if DEVICE == "cuda" else {}))


def momentum(params):
    return torch.optim.SGD(params, lr=0.01, momentum=0.9, weight_decay=1e-4)


def training(net, loss, rule, data, half, compiled):
    net = net.to(DEVICE)
    optimizer = rule(net.parameters())

    def forward(x, y):
        with torch.autocast(DEVICE, dtype=torch.float16, enabled=half):
            return loss(net(x).float(), y)

    forward = torch.compile(forward) if compiled else forward

    def step():
        optimizer.zero_grad(set_to_none=True)
        value = forward(*data)
        value.backward()
        optimizer.step()
        return value

    return step


def inference(net, data, half, compiled):
    net = net.to(DEVICE).eval()
    net = torch.compile(net) if compiled else net

    def run():
        with torch.no_grad(), torch.autocast(DEVICE, dtype=torch.float16, enabled=half):
            return net(*data)

    return run


def tokens(batch, length, vocabulary):
    return torch.randint(vocabulary, (batch, length), device=DEVICE)


def images(batch, size):
    return torch.rand(batch, 3, size, size, device=DEVICE) * 2 - 1


def gpt(half, compiled, batch, width, heads, layers, length, vocabulary):
    x, y = tokens(batch, length, vocabulary), tokens(batch, length, vocabulary).flatten()
    net = Gpt(width, heads, layers, length, vocabulary)
    return training(net, F.cross_entropy, adamw, (x, y), half, compiled)


def bert(half, compiled, batch, width, heads, layers, length, vocabulary):
    net = Trunk(width, heads, layers, length, vocabulary, False)
    return inference(net, (tokens(batch, length, vocabulary),), half, compiled)


def lstm(half, compiled, batch, width, layers, length, vocabulary):
    x, y = tokens(batch, length, vocabulary), tokens(batch, length, vocabulary).flatten()
    return training(Lstm(width, layers, vocabulary), F.cross_entropy, adamw, (x, y), half, compiled)


def classified(make, rule):
    def step(half, compiled, batch, size):
        data = (images(batch, size), torch.arange(batch, device=DEVICE))
        return training(make(size), F.cross_entropy, rule, data, half, compiled)

    return step


def resnet(size):
    import torchvision

    return torchvision.models.resnet50()


def vit(size):
    import torchvision

    return torchvision.models.vit_b_16(image_size=size)


def unet(half, compiled, batch, size, width):
    mask = (torch.rand(batch, 1, size, size, device=DEVICE) > 0.5).float()
    data = (images(batch, size), mask)
    return training(UNet(width), F.binary_cross_entropy_with_logits, adamw, data, half, compiled)


def resnet_infer(half, compiled, batch, size):
    return inference(resnet(size), (images(batch, size),), half, compiled)


KINDS = {
    "gpt": gpt,
    "bert": bert,
    "lstm": lstm,
    "resnet": classified(resnet, momentum),
    "resnetInfer": resnet_infer,
    "vit": classified(vit, adamw),
    "unet": unet,
}


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def timed(step, times):
    wait()
    start = time.perf_counter()
    for _ in range(times):
        step()
    wait()
    return (time.perf_counter() - start) / times


def row(work, compiled):
    try:
        torch.manual_seed(0)
        step = KINDS[work["kind"]](work["half"], compiled, *work["extents"])
        first = timed(step, 1)
        timed(step, 3)
        repeats = max(1, min(20, int(SAMPLE_S / timed(step, 2))))
        times = sorted(timed(step, repeats) * 1e3 for _ in range(7))
        return f"{times[3]:.4f} ms\tmedian of 7, {repeats} repeats, first {first:.1f} s"
    except Exception as error:
        return "absent: " + " ".join(f"{type(error).__name__}: {error}".split())[:300]
    finally:
        torch._dynamo.reset()
        if DEVICE == "cuda":
            torch.cuda.empty_cache()


for compiled in (False, True):
    for work in json.loads(sys.argv[1]):
        peer = "torch compile" if compiled else "torch"
        print(f"{peer}\t{work['name']}\t{row(work, compiled)}", flush=True)
