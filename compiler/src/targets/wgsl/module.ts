/**
 * The text of a WGSL module around a kernel's statements: what it enables, bindings, declarations
 * and the entry `main`. Only what the statements used is declared, and a feature is enabled only
 * where it is used: without `shader-f16` no module says f16.
 */
import { indented } from "../scope.ts";
import type { Module } from "./emit.ts";

/**
 * What was declared on the way, but for functions whose calls were left out again; each stands
 * before what uses it.
 */
function declared(m: Module): string[] {
  let after = m.e.scope.lines.join("\n");
  const kept: string[] = [];
  for (const [name, text] of [...m.declarations].reverse()) {
    if (!new RegExp(`\\b${name}\\b`).test(after)) continue;
    kept.unshift(text);
    after += text;
  }
  return kept;
}

/** `storage` declares the params, `fields` are those of the uniform struct of dims. */
export function moduleText(
  m: Module,
  storage: readonly string[],
  fields: readonly string[],
): string {
  const builtins = [
    "@builtin(local_invocation_index) invocation: u32",
    ...(m.grid.loops.length ? ["@builtin(workgroup_id) workgroup: vec3<u32>"] : []),
    ...(m.grid.folded ? ["@builtin(num_workgroups) groups: vec3<u32>"] : []),
    ...(m.subgroups
      ? [
          "@builtin(subgroup_size) subgroupSize: u32",
          "@builtin(subgroup_invocation_id) subgroupLane: u32",
        ]
      : []),
    ...(m.matrices ? ["@builtin(subgroup_id) subgroup: u32"] : []),
  ];
  const uniform = fields.length
    ? [
        "struct Dims {",
        ...fields,
        "}",
        `@group(0) @binding(${storage.length}) var<uniform> dims: Dims;`,
      ]
    : [];
  const before = [...storage, ...uniform, ...declared(m).flatMap((d) => ["", d])];
  const f16 = [...before, ...m.e.scope.lines].some((line) => /\bf16\b/.test(line));
  const enabled = [
    ...(f16 ? ["enable f16;"] : []),
    ...(m.subgroups || m.matrices ? ["enable subgroups;"] : []),
    ...(m.matrices ? ["enable chromium_experimental_subgroup_matrix;"] : []),
  ];
  const lines = [
    ...(enabled.length > 0 ? [...enabled, ""] : []),
    ...before,
    "",
    `@compute @workgroup_size(${m.kernel.workgroupSize})`,
    "fn main(",
    ...builtins.map((b) => `  ${b},`),
    ") {",
    ...indented(m.e.scope.lines),
    "}",
    "",
  ];
  return lines.join("\n");
}
