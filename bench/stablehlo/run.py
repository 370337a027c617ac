"""Runs the programs of this folder with jaxlib on one device and compares with Kiln's reference.

  python run.py [NAME ...]      all programs by default; JAX_PLATFORMS=cpu for the processor

One line a program with its largest error, then `N passed, N failed`; the exit status is 1 if one failed. The error of an
element is |got - want| / max(1, |want|), and both infinite or both NaN is none; integers and booleans must be equal.
"""
import glob
import json
import os
import sys

import jax
import jaxlib
import ml_dtypes
import numpy as np
from jax.extend.backend import get_backend, get_compile_options

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8, "bool": np.bool_,
}
# What the dtype keeps, and what functions of it lose on the way.
LIMITS = {"f64": 1e-9, "f32": 1e-4, "f16": 4e-3, "bf16": 3e-2}

folder = os.path.dirname(os.path.abspath(__file__))
jax.config.update("jax_enable_x64", True)
device = jax.devices()[0]


def read(entry, data):
    dtype = np.dtype(DTYPES[entry["dtype"]])
    count = int(np.prod(entry["shape"], dtype=np.int64))
    return np.frombuffer(data, dtype, count, entry["offset"]).reshape(entry["shape"])


def error(got, want, dtype):
    """The largest error and its place."""
    if want.size == 0:
        return 0.0, 0
    if dtype not in LIMITS:
        wrong = (got != want).reshape(-1)
        return (float("inf") if wrong.any() else 0.0), int(wrong.argmax())
    with np.errstate(all="ignore"):
        g, w = got.astype(np.float64).reshape(-1), want.astype(np.float64).reshape(-1)
        off = np.abs(g - w) / np.maximum(1, np.abs(w))
        off = np.where((g == w) | (np.isnan(g) & np.isnan(w)), 0.0, off)
    off = np.where(np.isnan(off), np.inf, off)
    return float(off.max()), int(off.argmax())


def compile_text(text):
    assignment = np.array([[device.id]])
    options = get_compile_options(num_replicas=1, num_partitions=1, device_assignment=assignment)
    # Halves are to be rounded at every op, as Kiln rounds them.
    options.env_option_overrides = [("xla_allow_excess_precision", False)]
    return get_backend().compile_and_load(text, [device], options)


def run(name):
    with open(os.path.join(folder, name + ".mlir")) as file:
        program = compile_text(file.read())
    with open(os.path.join(folder, name + ".json")) as file:
        about = json.load(file)
    with open(os.path.join(folder, name + ".bin"), "rb") as file:
        data = file.read()
    arrays = [jax.device_put(read(a, data), device) for a in about["args"]]
    for _ in range(about["steps"]):
        shards = program.execute_sharded(arrays).disassemble_into_single_device_arrays()
        results = [s[0] for s in shards]
        aliases = [a.get("alias") for a in about["args"]]
        arrays = [x if k is None else results[k] for x, k in zip(arrays, aliases)]
    worst, bad = 0.0, []
    for entry, array in zip(about["results"], results):
        want, got = read(entry, data), np.asarray(array)
        off, at = error(got, want, entry["dtype"])
        worst = max(worst, off)
        if off > LIMITS.get(entry["dtype"], 0.0):
            pair = f"{got.reshape(-1)[at]} for {want.reshape(-1)[at]}"
            bad.append(f"{entry['name']}[{at}] {entry['dtype']}: {pair}")
    return worst, bad


def main():
    names = sys.argv[1:] or sorted(os.path.basename(p)[:-5] for p in glob.glob(os.path.join(folder, "*.mlir")))
    failed = 0
    for name in names:
        try:
            worst, bad = run(name)
        except Exception as problem:  # a program that the engine refuses is one that failed
            worst, bad = float("nan"), [str(problem).strip().split("\n")[0][:300]]
        failed += bool(bad)
        print(f"{'BAD' if bad else 'ok '} {name}: largest error {worst:.1e}" + "".join(f"\n      {b}" for b in bad), flush=True)
    print(f"{len(names) - failed} passed, {failed} failed ({jax.default_backend()}, jaxlib {jaxlib.__version__})")
    sys.exit(1 if failed else 0)


main()
