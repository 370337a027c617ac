/**
 * Every stage of some programs as text, kept to be read and to show what a change to the compiler does:
 * tests/golden/NAME/01-input.ir to 06-plan.txt. `UPDATE_GOLDEN=1` writes them anew.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Artifact, TargetName } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { printGroups } from "../../compiler/src/plan/print-groups.ts";
import { printPlan } from "../../compiler/src/plan/print-plan.ts";
import type { Program } from "../../compiler/src/program.ts";
import { parseProgram, printProgram } from "../support/reference.ts";
import { programs } from "./programs.ts";

interface Compilation {
  readonly simplified: string;
  readonly groups: string;
  readonly plan: string;
  readonly artifact: Artifact;
  /** Kernel IR, a kernel each. */
  readonly lowered: readonly string[];
}

function compileFor(program: Program, target: TargetName): Compilation {
  let [simplified, groups] = ["", ""];
  const lowered = new Set<string>();
  const { artifact } = compileProgram(program, {
    target,
    observe(stage, state) {
      if (stage === "dce") simplified = printProgram(state.program!);
      if (stage === "order") groups = printGroups(state.program!, state.kernels!);
      if (stage === "emit") for (const s of state.started!) lowered.add(printKernel(s.kernel));
    },
  });
  return { simplified, groups, plan: printPlan(artifact), artifact, lowered: [...lowered] };
}

/** The text for each target, once for those that have the same. */
function each(texts: Readonly<Record<string, string>>): string {
  const names = Object.keys(texts);
  return [...new Set(Object.values(texts))]
    .map((text) => `== ${names.filter((n) => texts[n] === text).join(", ")}\n${text}`)
    .join("\n");
}

/** How many kernels' IR is kept: what is the same on several targets stands there once. */
const irKept = 2;

/** Programs whose WAT is kept, and how many of their kernels: it is long, and these show what there is. */
const watKept: Readonly<Record<string, number>> = {
  chain: 1,
  broadcast: 1,
  layerNorm: 1,
  "gelu-matmul": 1,
  "mlp-step": 1,
  embedding: 2,
  "reduce-all": 1,
};

const kernels = (a: Artifact, most = a.kernels.length): string => {
  const comment = a.target === "wasm" ? ";;" : "//";
  const one = (k: Artifact["kernels"][number]) =>
    `${comment} ${k.name}${grid(k)}\n${k.text.trimEnd()}\n`;
  return a.kernels.slice(0, most).map(one).join("\n");
};

const grid = ({ workgroups }: Artifact["kernels"][number]): string =>
  workgroups ? ` on a grid of ${workgroups.map((e) => JSON.stringify(e)).join(" × ")}` : "";

const ir = ({ lowered }: Compilation): string => lowered.slice(0, irKept).join("\n");

function stagesOf(name: string, program: Program): Record<string, string> {
  const js = compileFor(program, "js");
  const wasm = compileFor(program, "wasm");
  const webgpu = compileFor(program, "webgpu");
  return {
    "01-input.ir": printProgram(program),
    "02-simplified.ir": js.simplified,
    "03-groups.txt": each({ js: js.groups, wasm: wasm.groups, webgpu: webgpu.groups }),
    "04-kernels.ir": each({ js: ir(js), wasm: ir(wasm), webgpu: ir(webgpu) }),
    "04-kernels.js": kernels(js.artifact),
    ...(watKept[name] ? { "04-kernels.wat": kernels(wasm.artifact, watKept[name]) } : {}),
    "05-kernels.wgsl": kernels(webgpu.artifact),
    "06-plan.txt": each({ js: js.plan, wasm: wasm.plan, webgpu: webgpu.plan }),
  };
}

function check(path: string, text: string): void {
  if (process.env.UPDATE_GOLDEN) writeFileSync(path, text);
  assert.ok(existsSync(path), `${path} is missing: write it with UPDATE_GOLDEN=1`);
  assert.fixture(text, readFileSync(path, "utf8"), path);
}

for (const [name, build] of Object.entries(programs))
  test(`the stages of ${name} read as they are kept`, () => {
    const folder = `tests/golden/${name}`;
    if (process.env.UPDATE_GOLDEN) mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(stagesOf(name, build())))
      check(`${folder}/${file}`, text);
  });

test("WGSL conditions are joined without control flow", () => {
  const { artifact } = compileFor(programs["conv-block"]!(), "webgpu");
  const { text } = artifact.kernels.find((k) => k.name.startsWith("conv"))!;
  assert.match(text, / & /);
  assert.not.match(text, /&&/);
});

test("a choice that an unrolled index decides is not printed", () => {
  for (const target of ["js", "wasm", "webgpu"] as const) {
    const { artifact } = compileFor(programs["concat-pad"]!(), target);
    assert.not.match(artifact.kernels.map((k) => k.text).join("\n"), /\bfalse\b|\btrue\b/);
  }
});

/** Lines without their numbers, sorted: the text does not say which of two kernels was written first. */
const unordered = (groups: string): string =>
  groups
    .split("\n")
    .map((line) => line.replace(/^\d+ /, ""))
    .sort()
    .join("\n");

for (const [name, build] of Object.entries(programs))
  test(`the text of ${name} reads back as a program of the same groups`, () => {
    const program = build();
    const again = parseProgram(printProgram(program));
    const [want, got] = [compileFor(program, "js"), compileFor(again, "js")];
    assert.is(unordered(got.groups), unordered(want.groups));
  });

test.run();
