"""A training step fed by a loop in Python: python loop.py SIDECAR FOLDER DEVICES STEPS.

FOLDER has step.mlir and step.json, {"args": […], "results": […], "states": the places of states
among the arguments, each with that of its result}. Batches are made beforehand. Prints a line of
JSON: milliseconds a step, the median of five groups.
"""
import importlib.util
import json
import pathlib
import statistics
import sys
import time
import types

sidecar, folder, devices, steps = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
spec = importlib.util.spec_from_file_location("sidecar", sidecar)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
engine = module.Engine(types.SimpleNamespace(shares=False))
engine.hello({"axes": [["data", devices]]}, [])
about = json.loads((folder / "step.json").read_text())
args, results, states = about["args"], about["results"], dict(about["states"])
engine.load({"program": 0, "args": args, "results": results}, [(folder / "step.mlir").read_bytes()])
rng = engine.np.random.default_rng(0)


def value(entry, k):
    size = int(engine.np.prod(entry["shape"]))
    noise = rng.standard_normal(size) * 0.02 if entry["dtype"] in ("f32", "f16", "bf16") else rng.integers(0, 10, size)
    return noise.astype(engine.dtypes[entry["dtype"]])


for at, _ in states.items():
    engine.arrays[at] = engine.host(args[at], value(args[at], at))
batches = [[value(a, k) for i, a in enumerate(args) if i not in states] for k in range(4)]
number = {at: k for k, at in enumerate(i for i in range(len(args)) if i not in states)}
given = [{"id": i} if i in states else {"part": number[i]} for i in range(len(args))]
kept = {result: at for at, result in states.items()}
named = [kept.get(i, 1000000 + i) for i in range(len(results))]
loss, times = named[0], []
for group in range(6):
    begun = time.perf_counter()
    for k in range(steps):
        engine.dispatch({"program": 0, "args": given, "results": named}, batches[k % 4])
    engine.get({"id": loss}, [])
    times.append((time.perf_counter() - begun) * 1000 / steps)
print(json.dumps({"ms": statistics.median(times[1:])}))
