/** `kiln compile --target stablehlo`: a program as a folder that JAX runs without Kiln. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import type { Program } from "@kiln-ml/compiler";
import {
  type Argument,
  dataParallel,
  exportStableHlo,
  fsdp,
  type Mesh,
  mesh,
  meshText,
  type Recipe,
  tensorParallel,
} from "@kiln-ml/stablehlo";
import type { Model } from "./model.ts";
import { readme, runScript } from "./stablehlo-run.ts";
import { say } from "./terminal.ts";
import { dimsFrom, type Parsed, UsageError } from "./usage.ts";

type Front = typeof import("../index.ts");

const recipes: Readonly<Record<string, () => Recipe>> = {
  data: () => dataParallel(),
  fsdp: () => fsdp(),
  tensor: () => tensorParallel(),
};

/** `data=4,model=2`; one device if nothing is said. */
function meshFrom(value: Parsed["values"][string]): Mesh {
  const axes: Record<string, number> = {};
  for (const part of String(value ?? "data=1").split(",")) {
    const [name, n] = part.split("=");
    if (!name || !/^\d+$/.test(n ?? "") || Number(n) < 1)
      throw new UsageError(`kiln compile: --mesh must be like data=4,model=2, got ${value}`);
    axes[name] = Number(n);
  }
  return mesh(axes);
}

function recipesFrom(value: Parsed["values"][string]): Recipe[] {
  const names = String(value ?? "data").split(",");
  for (const name of names)
    if (!Object.hasOwn(recipes, name))
      throw new UsageError(
        `kiln compile: --shard knows ${Object.keys(recipes).join(", ")}, got ${name}`,
      );
  const chosen = names.map((name) => recipes[name]!());
  // Parameters that are cut by layers still need a batch that is.
  return names.includes("tensor") && names.length === 1 ? [...chosen, dataParallel()] : chosen;
}

/** The program of a model, as it is traced. */
async function programOf(front: Front, { fn, inputs, name }: Model): Promise<Program> {
  let program: Program | undefined;
  const compiled = front.compile(fn as never, {
    inputs,
    target: "js",
    name,
    observe: (stage, found) => {
      if (stage === "graph") program = found.program as Program;
    },
  });
  await compiled.artifact({ target: "js", weights: false });
  return program!;
}

/** Names that are there once. */
function unique(args: readonly Argument[]): string[] {
  const seen = new Map<string, number>();
  return args.map(({ name }) => {
    const n = seen.get(name) ?? 0;
    seen.set(name, n + 1);
    return n ? `${name}#${n}` : name;
  });
}

/** Writes the folder. Throws UsageError for options that do not fit. */
export async function writeStableHlo(
  front: Front,
  model: Model,
  out: string,
  values: Parsed["values"],
): Promise<number> {
  const grid = meshFrom(values.mesh);
  const shard = recipesFrom(values.shard);
  const dims = dimsFrom("compile", values.dims);
  const program = await programOf(front, model);
  const { text, args, results } = exportStableHlo(program, { dims, mesh: grid, shard });
  const names = unique(args);
  const first = program.outputs.length;
  const updateOf = new Map(program.updates.map(([param], i) => [param, first + i] as const));
  const manifest = {
    mesh: Object.entries(grid.axes),
    args: args.map(({ kind, dtype, shape, spec, alias, leaf }, i) => {
      const update = updateOf.get(leaf);
      return { name: names[i], kind, dtype, shape, spec, alias, update };
    }),
    results: results.map(({ name, dtype, shape, spec }, i) => {
      return { name, dtype, shape, spec, update: i >= first };
    }),
  };
  const states = args.flatMap(({ kind, leaf }, i) =>
    kind === "input" ? [] : [[names[i]!, leaf] as const],
  );
  const files: Record<string, string | Uint8Array> = {
    "step.mlir": text,
    "weights.safetensors": await front.stateBytes(new Map(states)),
    "manifest.json": `${JSON.stringify(manifest, null, 1)}\n`,
    "run.py": runScript,
    "README.md": readme(model.name, meshText(grid), grid.size),
  };
  await mkdir(out, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await writeFileAtomic(join(out, name), bytes);
  }
  say(
    `wrote ${out}: ${model.name} for XLA on ${grid.size} devices (${meshText(grid)}), ${args.length} arguments, ${results.length} results\n  run it where jax is: python3 ${join(out, "run.py")}\n`,
  );
  return 0;
}
