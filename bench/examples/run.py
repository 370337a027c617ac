"""Trains PyTorch by the recipes of the examples, on their data and splits, with several seeds.

    node --conditions=@kiln-ml/source --import tsx bench/examples/pack.ts runs/recipes
    python3 bench/examples/run.py --data runs/recipes --out results.json [--only gcn,gat]
    npm run examples -- --pytorch results.json

Each recipe and seed is a process of one thread, several at once. A line of JSON for each as it
ends, {"name", "seed", "value", "seconds", ...}, or with "error" in place of "value"; all of them,
as far as they have come, are in --out. Needs torch and numpy; `images` also Pillow. `auto` puts
those on a GPU that gain from it: loops of small products are quicker on a core than by launches.
"""
import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time

RECIPES = {
    "pole": ["dqn"],
    "equations": ["neural-ode", "pinn", "housing", "linear-regression", "xor-keras", "notebook"],
    "generative": ["diffusion", "wgan", "vae"],
    "graphs": ["gin", "esol", "gat", "gcn"],
    "sequences": ["text-classification", "lstm", "characters"],
    "images": ["images", "unet", "contrastive"],
    "signals": ["eegnet", "sounds"],
    "digits": ["digits", "custom-loop", "custom-renderer", "lightning", "custom-gradient", "page",
               "many-accelerators"],
}
ON_GPU = {"diffusion", "wgan", "vae", "gat", "gcn", "text-classification", "lstm", "images", "unet",
          "contrastive", "eegnet", "sounds"}
# Minutes on a core: all of its seeds come first.
LONG = {"dqn"}
MODULES = {name: module for module, names in RECIPES.items() for name in names}


def run_one(name, seed, folder, device, trial):
    """In a process of its own."""
    import importlib
    import random

    import numpy as np
    import torch
    from harness import Setting

    torch.set_num_threads(1)
    # Products of f32 are of f32, as ours.
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for set_seed in (torch.manual_seed, np.random.seed, random.seed):
        set_seed(seed)
    if device == "auto":
        device = "cuda" if name in ON_GPU and torch.cuda.is_available() else "cpu"
    recipe, measures = importlib.import_module(MODULES[name]).recipes[name]
    started = time.perf_counter()
    value = float(recipe(Setting(folder, device, trial)))
    where = torch.cuda.get_device_name() if device.startswith("cuda") else "one core"
    seconds = round(time.perf_counter() - started, 1)
    print(json.dumps({"name": name, "seed": seed, "value": value, "seconds": seconds,
                      "measures": measures, "where": where, "torch": torch.__version__}))


def attempt(name, seed, options, left):
    """What the process of one recipe and seed says, or why it says nothing."""
    command = [sys.executable, os.path.abspath(__file__), "--one", name, "--seed", str(seed),
               "--data", options.data, "--device", options.device]
    threads = {key: "1" for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    started = time.perf_counter()
    try:
        done = subprocess.run(command + ["--trial"] * options.trial, env={**os.environ, **threads},
                              capture_output=True, text=True, timeout=min(options.limit, left))
        lines = done.stdout.strip().splitlines()
        if done.returncode == 0 and lines:
            return json.loads(lines[-1])
        error = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    except subprocess.TimeoutExpired:
        error = "took too long"
    except Exception as failure:  # One that cannot run does not keep the others from it.
        error = repr(failure)
    seconds = round(time.perf_counter() - started, 1)
    return {"name": name, "seed": seed, "error": error, "seconds": seconds}


def keep(path, results):
    """Whole or not at all, so that a run that is stopped leaves what it has."""
    order = list(MODULES)
    results = sorted(results, key=lambda r: (order.index(r["name"]), r["seed"]))
    with open(path + ".part", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    os.replace(path + ".part", path)


def run_all(names, options):
    jobs, results, lock = queue.Queue(), [], threading.Lock()
    pairs = [(name, seed) for seed in range(1, options.seeds + 1) for name in names]
    for pair in sorted(pairs, key=lambda pair: pair[0] not in LONG):
        jobs.put(pair)
    end = time.perf_counter() + options.within

    def work():
        while True:
            try:
                name, seed = jobs.get_nowait()
            except queue.Empty:
                return
            left = end - time.perf_counter()
            none = {"name": name, "seed": seed, "error": "no time was left", "seconds": 0}
            result = attempt(name, seed, options, left) if left > 0 else none
            with lock:
                results.append(result)
                print(json.dumps(result), flush=True)
                keep(options.out, results)

    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failed = sum("error" in r for r in results)
    print(f"{len(results) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, help="the folder that pack.ts wrote")
    parser.add_argument("--out", default="results.json")
    parser.add_argument("--only", default="", help="names, with commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto", help="auto, cuda or cpu")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--limit", type=float, default=420, help="seconds for one")
    parser.add_argument("--within", type=float, default=520, help="seconds for all")
    parser.add_argument("--trial", action="store_true", help="few steps, to see that all runs")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.data = os.path.abspath(options.data)
    if options.one:
        run_one(options.one, options.seed, options.data, options.device, options.trial)
        return 0
    names = [n for n in options.only.split(",") if n] or list(MODULES)
    unknown = [n for n in names if n not in MODULES]
    if unknown:
        parser.error(f"there is no recipe {', '.join(unknown)}: {', '.join(MODULES)}")
    return run_all(names, options)


if __name__ == "__main__":
    sys.exit(main())
