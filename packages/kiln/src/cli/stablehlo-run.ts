/**
 * What `kiln compile --target stablehlo` writes beside the text: a script for Python that needs
 * nothing of ours, and a page.
 */

/** Runs the folder with JAX alone; at most 60 lines. */
export const runScript: string = `"""Runs step.mlir on the mesh of manifest.json: python run.py [STEPS] [INPUTS.npz]

Inputs are zeros unless a file has them by name. Needs jax 0.11 or newer and numpy. Without accelerators:
JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=DEVICES python run.py
"""
import json
import os
import sys

import jax
import ml_dtypes
import numpy as np
from jax.extend.backend import get_backend, get_compile_options
from jax.sharding import Mesh, NamedSharding, PartitionSpec

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
          "i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8, "bool": np.bool_}
folder = os.path.dirname(os.path.abspath(__file__))
read = lambda name: open(os.path.join(folder, name), "rb").read()
about = json.loads(read("manifest.json"))
jax.config.update("jax_enable_x64", True)

names, shape = [a for a, _ in about["mesh"]], [n for _, n in about["mesh"]]
count = int(np.prod(shape))
if len(jax.devices()) < count:
    sys.exit(f"run.py: the mesh has {count} devices, here are {len(jax.devices())}; see the top of this file")
devices = jax.devices()[:count]
mesh = Mesh(np.array(devices).reshape(shape), names)


def sharding(entry):
    return NamedSharding(mesh, PartitionSpec(*[tuple(a) if isinstance(a, list) else a for a in entry["spec"]]))


def weights():
    data = read("weights.safetensors")
    start = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:start])
    return {k: data[start + v["data_offsets"][0]:start + v["data_offsets"][1]] for k, v in head.items() if k != "__metadata__"}

known, given = weights(), dict(np.load(sys.argv[2])) if len(sys.argv) > 2 else {}


def value(entry):
    dtype = DTYPES[entry["dtype"]]
    if entry["kind"] == "input":
        return np.asarray(given.get(entry["name"], np.zeros(entry["shape"])), dtype).reshape(entry["shape"])
    return np.frombuffer(known[entry["name"]], dtype).reshape(entry["shape"])


options = get_compile_options(1, count, device_assignment=np.array([[d.id for d in devices]]))
options.env_option_overrides = [("xla_allow_excess_precision", False)]  # halves are rounded at every op
program = get_backend().compile_and_load(read("step.mlir").decode(), devices, options)
arrays = [jax.device_put(value(a), sharding(a)) for a in about["args"]]
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
    shards = program.execute_sharded(arrays).disassemble_into_single_device_arrays()
    results = [jax.make_array_from_single_device_arrays(tuple(r["shape"]), sharding(r), s) for r, s in zip(about["results"], shards)]
    arrays = [results[a["update"]] if "update" in a else x for a, x in zip(about["args"], arrays)]
    arrays = [jax.device_put(value(a), sharding(a)) if a["kind"] == "input" else x for a, x in zip(about["args"], arrays)]
    print(step, *[f"{r['name']} = {np.asarray(x)}" for r, x in zip(about["results"], results) if not r["update"]])
`;

export const readme = (name: string, mesh: string, size: number): string => `# ${name} for XLA

Written by \`kiln compile --target stablehlo\` for a mesh of ${size} devices (${mesh}).

| file                  | what it is                                                                        |
| --------------------- | --------------------------------------------------------------------------------- |
| \`step.mlir\`           | the program as StableHLO text, with Shardy's annotations                          |
| \`weights.safetensors\` | values of parameters and data by name                                             |
| \`manifest.json\`       | the mesh; arguments and results in order: names, types, places, aliases           |
| \`run.py\`              | runs it with JAX alone: \`python run.py [STEPS] [INPUTS.npz]\`                      |

    python3 -m pip install "jax>=0.11" numpy
    python3 run.py 10

Without accelerators: \`JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=${size} python3 run.py 10\`
`;
