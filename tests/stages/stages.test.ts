/**
 * Every stage of some programs as text, kept to be read and to show what a change to the compiler does:
 * tests/golden/NAME/01-input.ir to 06-plan.txt. `UPDATE_GOLDEN=1` writes them anew.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Artifact, TargetName } from "@kiln-ml/artifact";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/compile.ts";
import { printGroups } from "../../compiler/src/fuse/print.ts";
import { printPlan } from "../../compiler/src/passes/print-plan.ts";
import type { Program } from "../../compiler/src/program.ts";
import { parseProgram, printProgram } from "../support/reference.ts";
import { programs } from "./programs.ts";

interface Compilation {
  readonly simplified: string;
  readonly groups: string;
  readonly plan: string;
  readonly artifact: Artifact;
}

function compileFor(program: Program, target: TargetName): Compilation {
  let [simplified, groups] = ["", ""];
  const { artifact } = compileProgram(program, {
    target,
    observe(stage, state) {
      if (stage === "dce") simplified = printProgram(state.program!);
      if (stage === "order") groups = printGroups(state.program!, state.kernels!);
    },
  });
  return { simplified, groups, plan: printPlan(artifact), artifact };
}

/** The text for each target, once if it is the same for both. */
const both = (js: string, webgpu: string): string =>
  js === webgpu ? `== js and webgpu\n${js}` : `== js\n${js}\n== webgpu\n${webgpu}`;

const kernels = (a: Artifact): string =>
  a.kernels.map((k) => `// ${k.name}${grid(k)}\n${k.text.trimEnd()}\n`).join("\n");

const grid = ({ workgroups }: Artifact["kernels"][number]): string =>
  workgroups ? ` on a grid of ${workgroups.map((e) => JSON.stringify(e)).join(" × ")}` : "";

function stagesOf(program: Program): Record<string, string> {
  const js = compileFor(program, "js");
  const webgpu = compileFor(program, "webgpu");
  return {
    "01-input.ir": printProgram(program),
    "02-simplified.ir": js.simplified,
    "03-groups.txt": both(js.groups, webgpu.groups),
    "04-kernels.js": kernels(js.artifact),
    "05-kernels.wgsl": kernels(webgpu.artifact),
    "06-plan.txt": both(js.plan, webgpu.plan),
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
    for (const [file, text] of Object.entries(stagesOf(build()))) check(`${folder}/${file}`, text);
  });

test("WGSL conditions are joined without control flow", () => {
  const { artifact } = compileFor(programs["conv-block"]!(), "webgpu");
  const { text } = artifact.kernels.find((k) => k.name.startsWith("conv"))!;
  assert.match(text, / & /);
  assert.not.match(text, /&&/);
});

test("a choice that an unrolled index decides is not printed", () => {
  for (const target of ["js", "webgpu"] as const) {
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
