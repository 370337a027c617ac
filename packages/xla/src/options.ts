/** The options of `xla`, and the process that they ask for. */
import { fileURLToPath } from "node:url";
import { checkOptions, GraphError, kindOf, type OptionNames } from "@kiln-ml/ir";
import type { Mesh, Recipe } from "@kiln-ml/stablehlo";
import type { Hosts } from "./protocol.ts";
import type { Command } from "./sidecar.ts";

export interface XlaOptions {
  /** The devices: `mesh({ data: 8 })`. */
  readonly mesh: Mesh;
  /**
   * How inputs and parameters lie on them: recipes, the first that gives a spec counts; default
   * `dataParallel()`.
   */
  readonly shard?: Recipe | readonly Recipe[];
  /** The Python that has jax; `KILN_PYTHON`, or python3, by default. */
  readonly python?: string;
  /** Devices made of this machine's processor, as many as the mesh has: for trying out. */
  readonly virtual?: boolean;
  /** "cpu", "cuda" or "tpu"; what JAX finds by default. */
  readonly platform?: string;
  /**
   * Several machines, each of which runs the same script; "slurm" reads all of it from Slurm's
   * environment.
   */
  readonly hosts?: Hosts | "slurm";
  /** What speaks the protocol in place of Python and our script: a program and its arguments. */
  readonly command?: readonly string[];
}

const names: OptionNames<XlaOptions> = {
  mesh: 1,
  shard: 1,
  python: 1,
  virtual: 1,
  platform: 1,
  hosts: 1,
  command: 1,
};

/** Throws GraphError for what is no mesh, or hosts that do not count. */
export function checkXla(options: XlaOptions): XlaOptions {
  checkOptions("xla", options, names);
  if (typeof options.mesh?.size !== "number")
    throw new GraphError(
      `xla: the mesh is ${kindOf(options.mesh)}, not a grid of devices\n  give one: xla({ mesh: mesh({ data: 8 }) })`,
    );
  const { hosts } = options;
  if (hosts === undefined || hosts === "slurm") return options;
  const { coordinator, count, index } = hosts;
  const counts = Number.isInteger(count) && Number.isInteger(index) && index >= 0 && index < count;
  if (!counts || !/^[^\s:]+:\d+$/.test(coordinator))
    throw new GraphError(
      `xla: hosts are ${JSON.stringify(hosts)}\n  give { coordinator: "first-host:4321", count: 2, index: 0 }, the index from 0`,
    );
  return options;
}

const script = fileURLToPath(new URL("../python/sidecar.py", import.meta.url));

/** Devices that each of the processes brings. */
function devicesEach({ mesh, hosts }: XlaOptions): number {
  if (hosts === undefined) return mesh.size;
  const count = hosts === "slurm" ? Number(process.env.SLURM_NTASKS ?? 1) : hosts.count;
  return Math.ceil(mesh.size / count);
}

export function commandOf(options: XlaOptions): Command {
  const { python, virtual, platform, command } = options;
  const env: Record<string, string> = { PYTHONUNBUFFERED: "1" };
  if (virtual) {
    const count = `--xla_force_host_platform_device_count=${devicesEach(options)}`;
    env.XLA_FLAGS = `${process.env.XLA_FLAGS ?? ""} ${count}`.trim();
  }
  const found = virtual ? "cpu" : platform;
  if (found) env.JAX_PLATFORMS = found;
  if (command) return { program: command[0]!, args: command.slice(1), env };
  return { program: python ?? process.env.KILN_PYTHON ?? "python3", args: [script], env };
}
