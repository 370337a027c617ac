"""Graphs: gcn and gat on Cora, gin on MUTAG, esol; by plain scatters."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from harness import accuracy, batches, cosine, descend, expect, rates


def summed(values, places, count):
    """Rows of `values` added up by place."""
    out = values.new_zeros(count, *values.shape[1:])
    return out.index_add_(0, places, values)


def glorot(*shape):
    w = nn.Parameter(torch.empty(*shape))
    nn.init.xavier_uniform_(w)
    return w


class GCNConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = glorot(outputs, inputs), nn.Parameter(torch.zeros(outputs))

    def forward(self, x, source, target):
        degree = 1 + summed(torch.ones_like(target, dtype=x.dtype), target, len(x))
        scale = degree.rsqrt()
        m = x @ self.weight.T
        along = (scale[source] * scale[target]).unsqueeze(-1)
        own = m * scale.square().unsqueeze(-1) + self.bias
        return own + summed(m[source] * along, target, len(x))


class GATConv(nn.Module):
    def __init__(self, inputs, outputs, heads=1):
        super().__init__()
        self.heads, self.outputs = heads, outputs
        self.weight = glorot(heads * outputs, inputs)
        self.of_source, self.of_target = glorot(heads, outputs), glorot(heads, outputs)
        self.bias = nn.Parameter(torch.zeros(heads * outputs))

    def forward(self, x, source, target):
        n = len(x)
        loops = torch.arange(n, device=x.device)
        source, target = torch.cat([source, loops]), torch.cat([target, loops])
        h = (x @ self.weight.T).view(n, self.heads, self.outputs)
        given, asked = (h * self.of_source).sum(-1), (h * self.of_target).sum(-1)
        scores = F.leaky_relu(given[source] + asked[target], 0.2)
        # A shift by the largest score of all, which the shares do not depend on.
        weights = (scores - scores.max().detach()).exp()
        shares = weights / summed(weights, target, n)[target]
        return summed(h[source] * shares.unsqueeze(-1), target, n).reshape(n, -1) + self.bias


class Citations(nn.Module):
    def __init__(self, features, classes, attends):
        super().__init__()
        self.attends, self.drop = attends, nn.Dropout(0.6 if attends else 0.5)
        self.first = GATConv(features, 8, 8) if attends else GCNConv(features, 16)
        self.second = GATConv(64, classes) if attends else GCNConv(16, classes)

    def forward(self, x, source, target):
        hidden = self.first(self.drop(x), source, target)
        active = F.elu(hidden) if self.attends else hidden.relu()
        return self.second(self.drop(active), source, target)


def cora(setting, attends):
    found = setting.arrays("cora")
    nodes, features, classes = (int(n) for n in found["sizes"])
    expect("cora's sizes", found["sizes"], (2708, 1433, 7))
    x = np.zeros((nodes, features), np.float32)
    x[found["nodes"], found["words"]] = 1
    x /= np.bincount(found["nodes"], minlength=nodes).clip(1)[:, None]
    x, edges, labels, train, test = setting.put(
        x.astype(np.float32), found["edges"], found["labels"], found["train"], found["test"])
    source, target = torch.cat([edges[:, 0], edges[:, 1]]), torch.cat([edges[:, 1], edges[:, 0]])
    net = Citations(features, classes, attends).to(setting.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.005 if attends else 0.01, weight_decay=5e-4)
    for _ in range(setting.few(200, 3)):
        descend(F.cross_entropy(net(x, source, target)[train], labels[train]), optimizer)
    net.eval()
    with torch.no_grad():
        return accuracy(net(x, source, target)[test], labels[test])


class Packed:
    """Graphs of which any are packed into one: nodes, edges, the graph of each node, targets."""

    def __init__(self, setting, found):
        self.setting, self.found = setting, found
        self.firsts = np.concatenate([[0], np.cumsum(found["counts"])])
        self.edges = np.concatenate([[0], np.cumsum(found["bonds"])])

    def __call__(self, chosen):
        f, counts = self.found, self.found["counts"][chosen]
        rows = np.concatenate([np.arange(self.firsts[g], self.firsts[g + 1]) for g in chosen])
        spans = [slice(self.edges[g], self.edges[g + 1]) for g in chosen]
        before = np.concatenate([[0], np.cumsum(counts)])
        counted = lambda end: np.concatenate([f[end][s] + b for s, b in zip(spans, before)])
        graph = np.repeat(np.arange(len(chosen)), counts)
        inputs = f["nodes"][rows], counted("from"), counted("to"), graph
        return self.setting.put(*inputs, f["target"][chosen])


def perceptron(inputs, width):
    return nn.Sequential(
        nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(),
        nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU())


class Gin(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.layers = nn.ModuleList(perceptron(32 if i else kinds, 32) for i in range(4))
        self.readouts = nn.ModuleList(nn.Linear(w, 2) for w in [kinds, 32, 32, 32, 32])
        self.drop = nn.Dropout(0.5)

    def forward(self, x, source, target, graph, count):
        states = [x]
        for layer in self.layers:
            h = states[-1]
            states.append(layer(h + summed(h[source], target, len(h))))
        parts = zip(self.readouts, states)
        return sum(self.drop(readout(summed(h, graph, count))) for readout, h in parts)


def gin(setting):
    """The mean of ten folds, each after its last epoch."""
    found = setting.arrays("mutag")
    expect("mutag", found["counts"].shape, (188,))
    packed, folds, accuracies = Packed(setting, found), found["folds"], []
    for fold in range(setting.few(10, 2)):
        net = Gin(found["nodes"].shape[1]).to(setting.device)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        schedule = rates(optimizer, lambda k: 0.5 ** (k // 350))
        train = [torch.from_numpy(np.flatnonzero(folds != fold))]
        for _ in range(setting.few(100)):
            for (chosen,) in batches(train, 32):
                x, source, target, graph, labels = packed(chosen.numpy())
                loss = F.cross_entropy(net(x, source, target, graph, len(chosen)), labels.long())
                descend(loss, optimizer, schedule)
        net.eval()
        with torch.no_grad():
            x, source, target, graph, labels = packed(np.flatnonzero(folds == fold))
            accuracies.append(accuracy(net(x, source, target, graph, len(labels)), labels.long()))
    return float(np.mean(accuracies))


class Molecules(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.embed = nn.Linear(features, 64)
        self.messages = nn.ModuleList(nn.Linear(128, 64) for _ in range(3))
        self.updates = nn.ModuleList(nn.GRUCell(64, 64) for _ in range(3))
        self.readout = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, source, target, graph, count):
        h = self.embed(x).relu()
        for message, update in zip(self.messages, self.updates):
            pairs = torch.cat([h[source], h[target]], 1)
            h = update(summed(message(pairs).relu(), target, len(h)), h)
        total = summed(h, graph, count)
        atoms = summed(torch.ones_like(h[:, :1]), graph, count)
        return self.readout(torch.cat([total / atoms, total * 0.1], 1)).squeeze(-1)


def esol(setting):
    found = setting.arrays("esol")
    expect("esol", found["nodes"].shape[1:], (16,))
    packed, order, held = Packed(setting, found), found["order"], len(found["order"]) // 10
    learn = [torch.from_numpy(order[held:])]
    net = Molecules(16).to(setting.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    epochs = setting.few(60)
    schedule = cosine(optimizer, epochs * -(-len(learn[0]) // 32))

    def loss_of(chosen):
        *inputs, target = packed(chosen)
        return F.mse_loss(net(*inputs, len(chosen)), target)

    for _ in range(epochs):
        for (chosen,) in batches(learn, 32):
            descend(loss_of(chosen.numpy()), optimizer, schedule, clip=1)
    net.eval()
    with torch.no_grad():
        return loss_of(order[:held]).sqrt().item()


recipes = {
    "gcn": (lambda setting: cora(setting, False), "test accuracy"),
    "gat": (lambda setting: cora(setting, True), "test accuracy"),
    "gin": (gin, "accuracy over ten folds"),
    "esol": (esol, "test error, log mol/l"),
}
