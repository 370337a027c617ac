"""Runs Kiln's programs with JAX on a mesh of devices, as the process that starts it asks.

Frames come and go over file descriptor 3: u32 length of the header, u32 0, the header in JSON, then
parts of bytes. Arrays and programs have numbers that Kiln gives them. What comes in is StableHLO
text and values of tensors; nothing else is run. Needs jax and numpy.

A part in the header is a count of bytes, or [path, bytes] of a file in shared memory: Kiln keeps
its own until it is answered, and says by `taken` how many of ours it has read.
"""
import json
import mmap
import os
import socket
import struct
import sys

PROTOCOL = 2
SHARED_FROM = 1 << 18
OLDEST = (0, 11)
OPS = ("hello", "put", "get", "load", "run")


class Refused(Exception):
    """What is told to Kiln as it is, with the way out on its second line."""


class Pipe:
    def __init__(self, number):
        self.read_end = os.fdopen(os.dup(number), "rb", buffering=1 << 20)
        self.write_end = os.fdopen(number, "wb", buffering=1 << 20)
        self.shares, self.held = False, []

    def exactly(self, count):
        data = self.read_end.read(count)
        if len(data) != count:
            sys.exit(0)  # Kiln is gone
        return data

    def receive(self):
        length, _ = struct.unpack("<II", self.exactly(8))
        header = json.loads(self.exactly(length))
        for _ in range(header.get("taken", 0)):
            os.close(self.held.pop(0))
        return header, [self.exactly(p) if isinstance(p, int) else mapped(*p) for p in header["parts"]]

    def send(self, header, parts=()):
        parts = [memoryview(p).cast("B") if p.nbytes else b"" for p in parts]
        entries = [self.stored(p) if self.shares and len(p) >= SHARED_FROM else len(p) for p in parts]
        text = json.dumps({**header, "parts": entries}).encode()
        self.write_end.write(struct.pack("<II", len(text), 0) + text)
        for part, entry in zip(parts, entries):
            if isinstance(entry, int):
                self.write_end.write(part)
        self.write_end.flush()

    def stored(self, part):
        """Where it lies in shared memory until Kiln has taken it; its size where there is none."""
        number = None
        try:
            number, at = os.memfd_create("kiln"), 0
            while at < len(part):
                at += os.write(number, part[at : at + (1 << 30)])
        except (AttributeError, OSError):
            if number is not None:
                os.close(number)
            return len(part)
        self.held.append(number)
        return [f"/proc/{os.getpid()}/fd/{number}", len(part)]


def mapped(path, size):
    """A file of Kiln's as memory, which stays as long as somebody reads it."""
    number = os.open(path, os.O_RDONLY)
    try:
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        return mmap.mmap(number, size, flags=flags, prot=mmap.PROT_READ)
    finally:
        os.close(number)


def sees(part):
    """The first byte of what Kiln offers in shared memory, or None."""
    try:
        return mapped(*part)[0]
    except OSError:
        return None


def require_free(coordinator):
    """The runtime below ends the process by a signal if another listens at its port."""
    port = int(coordinator.rsplit(":", 1)[1])
    try:
        socket.create_server(("", port)).close()
    except OSError as problem:
        way = "name another port in the coordinator of every host"
        raise Refused(f"xla: port {port} of {coordinator} is taken: {os.strerror(problem.errno)}\n  {way}") from problem


def versions():
    """JAX, or Refused with how to get it."""
    python = sys.executable or "python3"
    install = f'\n  install it: {python} -m pip install --upgrade "jax>={OLDEST[0]}.{OLDEST[1]}" numpy'
    try:
        import jax
        import jaxlib
        import numpy
    except ImportError as problem:
        raise Refused(f"xla: {python} has no {problem.name}{install}") from problem
    found = tuple(int(n) for n in jaxlib.__version__.split(".")[:2])
    if found < OLDEST:
        raise Refused(f"xla: jaxlib is {jaxlib.__version__}, {OLDEST[0]}.{OLDEST[1]} or newer is needed{install}")
    return jax, jaxlib, numpy


class Loaded:
    """A program, and how its arguments and results lie."""

    def __init__(self, executable, args, results):
        self.executable, self.args, self.results = executable, args, results


class Engine:
    def __init__(self, pipe):
        self.pipe, self.arrays, self.programs = pipe, {}, {}
        self.failed = None  # the number of the last run that failed, and why

    def hello(self, header, _parts):
        self.jax, jaxlib, self.np = versions()
        import ml_dtypes

        jax, np = self.jax, self.np
        self.dtypes = {
            "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
            "i32": np.int32, "u32": np.uint32, "i8": np.int8, "u8": np.uint8, "bool": np.bool_,
        }
        jax.config.update("jax_enable_x64", True)
        self.hosts(header.get("hosts"))
        devices = jax.devices()
        shape = [n for _, n in header["axes"]]
        size = int(np.prod(shape))
        if len(devices) >= size:
            grid = np.array(devices[:size]).reshape(shape)
            self.mesh = jax.sharding.Mesh(grid, [name for name, _ in header["axes"]])
        about = {"device": devices[0].device_kind, "devices": len(devices), "platform": devices[0].platform}
        seen = sees(header["shared"]) if "shared" in header else None
        self.pipe.shares = seen is not None
        about["shared"] = seen
        return {"protocol": PROTOCOL, "jaxlib": jaxlib.__version__, **about}, []

    def hosts(self, hosts):
        """Joins the processes of the other machines."""
        if hosts is None:
            return
        if hosts != "slurm" and hosts["index"] == 0:
            require_free(hosts["coordinator"])
        try:
            if hosts == "slurm":
                self.jax.distributed.initialize()
            else:
                self.jax.distributed.initialize(hosts["coordinator"], hosts["count"], hosts["index"])
        except Exception as problem:
            line = str(problem).strip().split("\n")[0][:200]
            where = "Slurm's environment" if hosts == "slurm" else hosts["coordinator"]
            way = "let all of them start within five minutes, and name a port that is free on the first"
            raise Refused(f"xla: the hosts do not meet at {where}: {line}\n  {way}") from problem

    def sharding(self, spec):
        axes = [tuple(a) if isinstance(a, list) else a for a in spec]
        return self.jax.sharding.NamedSharding(self.mesh, self.jax.sharding.PartitionSpec(*axes))

    def host(self, entry, data):
        return self.np.frombuffer(data, self.dtypes[entry["dtype"]]).reshape(entry["shape"])

    def placed(self, value, sharding):
        """On the devices, each of which gets its own part; each host brings those of its devices."""
        jax = self.jax
        if not isinstance(value, self.np.ndarray):
            same = value.sharding == sharding or value.sharding.is_equivalent_to(sharding, value.ndim)
            return value if same else jax.device_put(value, sharding)
        if jax.process_count() == 1:
            return jax.device_put(value, sharding)
        return jax.make_array_from_callback(value.shape, sharding, lambda index: value[index])

    def put(self, header, parts):
        self.arrays[header["id"]] = self.host(header, parts[0])
        return {}, []

    def get(self, header, _parts):
        value = self.arrays[header["id"]]
        if not isinstance(value, self.np.ndarray):
            if value.is_fully_addressable:
                value = self.np.asarray(value)
            elif value.is_fully_replicated:
                value = self.np.asarray(value.addressable_data(0))
            else:
                from jax.experimental import multihost_utils

                value = multihost_utils.process_allgather(value, tiled=True)
        return {}, [self.np.ascontiguousarray(value).view(self.np.uint8) if value.size and value.ndim
                    else self.np.frombuffer(value.tobytes(), self.np.uint8)]

    def load(self, header, parts):
        from jax.extend.backend import get_backend, get_compile_options

        devices = list(self.mesh.devices.flat)
        ids = self.np.array([d.id for d in devices]).reshape(1, -1)
        options = get_compile_options(num_replicas=1, num_partitions=len(devices), device_assignment=ids)
        # A half is rounded at every op, as on Kiln's own targets.
        options.env_option_overrides = [("xla_allow_excess_precision", False)]
        executable = get_backend().compile_and_load(parts[0][:].decode(), devices, options)
        args = [(a, self.sharding(a["spec"])) for a in header["args"]]
        results = [(tuple(r["shape"]), self.sharding(r["spec"])) for r in header["results"]]
        self.programs[header["program"]] = Loaded(executable, args, results)
        return {}, []

    def run(self, header, parts):
        """Dispatches a program.

        Kiln sends a run before it knows of the one before: after a failure that run is left out too.
        """
        number = header["number"]
        if self.failed and self.failed[0] == number - 1:
            self.failed = (number, self.failed[1])
            raise self.failed[1]
        try:
            return self.dispatch(header, parts)
        except Exception as problem:
            self.failed = (number, problem)
            raise

    def dispatch(self, header, parts):
        program = self.programs[header["program"]]
        arrays = []
        for given, (entry, sharding) in zip(header["args"], program.args):
            if "part" in given:
                arrays.append(self.placed(self.host(entry, parts[given["part"]]), sharding))
                continue
            number = given["id"]
            self.arrays[number] = array = self.placed(self.arrays[number], sharding)
            arrays.append(array)
        shards = program.executable.execute_sharded(arrays).disassemble_into_single_device_arrays()
        join = self.jax.make_array_from_single_device_arrays
        for number, (shape, sharding), per_device in zip(header["results"], program.results, shards):
            self.arrays[number] = join(shape, sharding, per_device)
        return {}, []

    def answer(self, header, parts):
        for number in header.get("free", ()):
            self.arrays.pop(number, None)
        if header["op"] not in OPS:
            raise Refused(f"xla: there is no request {header['op']}\n  install the same version of both ends")
        return getattr(self, header["op"])(header, parts)


def main():
    pipe = Pipe(3)
    engine = Engine(pipe)
    while True:
        header, parts = pipe.receive()
        try:
            answer, out = engine.answer(header, parts)
        except Refused as problem:
            answer, out = {"error": {"kind": "refused", "message": str(problem)}}, []
        except Exception as problem:  # whatever the engine says is told, and Kiln decides
            line = " ".join(str(problem).strip().split("\n")[0].split())[:400] or type(problem).__name__
            what = f"xla: {header['op']}: {line}\n  {type(problem).__name__} of the engine; it goes on, from states that are known"
            answer, out = {"error": {"kind": "engine", "message": what}}, []
        pipe.send({"seq": header["seq"], **answer}, out)


if __name__ == "__main__":
    main()
