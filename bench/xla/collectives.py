"""What a program sends between devices: python collectives.py TEXT DEVICES.

Compiles the StableHLO text for so many devices made of the processor, and reads the partitioned
program. Prints a line of JSON: a list of [kind, bytes of the result, devices of a group].
"""
import json
import os
import re
import sys

text, devices = open(sys.argv[1]).read(), int(sys.argv[2])
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
import jax
import numpy as np
from jax.extend.backend import get_backend, get_compile_options

jax.config.update("jax_enable_x64", True)
ids = np.arange(devices).reshape(1, -1)
options = get_compile_options(num_replicas=1, num_partitions=devices, device_assignment=ids)
executable = get_backend().compile_and_load(text, jax.devices(), options)
hlo = executable.hlo_modules()[0].to_string()
bytes_of = {1: "pred s8 u8", 2: "s16 u16 f16 bf16", 4: "s32 u32 f32", 8: "s64 u64 f64"}
width = {name: size for size, names in bytes_of.items() for name in names.split()}
kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
call = re.compile(rf"= (.+?) ({kinds})(?:-start)?\(.*")
found = []
for line in hlo.splitlines():
    m = call.search(line)
    if not m:
        continue
    size = 0
    for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", m[1]):
        size += width[dtype] * int(np.prod([int(d) for d in dims.split(",") if d] or [1]))
    listed = re.search(r"replica_groups=\{\{([\d,]+)\}", line)
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", line)
    group = int(iota[2]) if iota else len(listed[1].split(",")) if listed else devices
    found.append([m[2], size, group])
print(json.dumps(found))
