/** `net.c`: kernels, plan and interface of one artifact of the native target in one file of C. */
import { type Artifact, packedBytes, printShape, type TensorSpec } from "@kiln-ml/artifact";
import { nativeHeader, nativeSorting } from "@kiln-ml/runtime/native";
import { comment, inWordsOf, literal } from "./c-text.ts";
import { dimsText, movesText, placesText, shapesText, stepsText } from "./plan-text.ts";
import { copyText, functionsText, openingText, readText, supportText } from "./support-text.ts";
import { embeddedText, firstAddress, firstLine, type Kept } from "./weights.ts";

export interface ProgramOptions {
  readonly prefix: string;
  readonly lanes: number;
  /** Whether the weights are part of the program. */
  readonly embed: boolean;
}

const signature = "(char *mem, const int32_t *args, long from, long to, long stack)";

/** Kernels belong to the file alone. */
function kernelsText({ kernels }: Artifact): string[] {
  const declared = kernels.flatMap(({ phases }) =>
    phases!.map(({ entry }) => `static void ${entry}${signature} KERNEL;`),
  );
  return [...declared, "", ...kernels.flatMap(({ text }) => [text, ""])];
}

/** Sorting, where a kernel calls it: declared before the header, which knows no file of its own. */
function sortingText({ kernels }: Artifact): { declared: string[]; defined: string[] } {
  const asked = kernels.some(({ text }) => /\bsort_(i32|f64)\(/.test(text));
  if (!asked) return { declared: [], defined: [] };
  const declared = ["sort_i32", "sort_f64"].map(
    (name) => `static void ${name}(char *, long, long, long, long, long, long) KERNEL;`,
  );
  return { declared, defined: [nativeSorting] };
}

function tensorRow({ name, dtype, shape }: TensorSpec, id: number): string {
  const parts = [literal(name), literal(dtype), packedBytes(dtype), shape.length];
  return `  {${parts.join(", ")}, ${literal(printShape(shape))}, ${id}},`;
}

function tablesText({ signature: s }: Artifact, kept: Kept, prefix: string): string[] {
  const all = [...s.inputs, ...s.outputs, ...s.states];
  const names = s.dims.map(({ name }) => literal(name));
  return [
    `enum { DIMS = ${s.dims.length}, INPUTS = ${s.inputs.length}, OUTPUTS = ${s.outputs.length}, STATES = ${s.states.length} };`,
    `static const ${prefix}_tensor tensors[] = {`,
    ...all.map(tensorRow),
    "  {0, 0, 0, 0, 0, 0}};",
    `static const char *const dim_names[] = {${[...names, "0"].join(", ")}};`,
    `static const long state_places[] = {${[...kept.states, 0].join(", ")}};`,
    "",
  ];
}

function shapeText(artifact: Artifact): string[] {
  return [
    "static int extents_of(int id, const int64_t *dims, int64_t *shape) {",
    ...dimsText(artifact),
    "  switch (id) {",
    ...shapesText(artifact),
    "  default:",
    '    return refuse("no such tensor");',
    "  }",
    "  (void)shape;",
    "  return 0;",
    "}",
    "",
  ];
}

function runText(artifact: Artifact, kept: Kept, prefix: string): string[] {
  const moves = movesText(artifact, kept);
  const unused = (name: string, list: readonly unknown[]): string[] =>
    list.length ? [] : [`  (void)${name};`];
  return [
    `int ${prefix}_run(${prefix}_model *model, const int64_t *dims, const void *const *inputs,`,
    "        void *const *outputs) {",
    ...dimsText(artifact),
    ...placesText(artifact, kept),
    ...moves.in,
    ...unused("inputs", artifact.signature.inputs),
    ...stepsText(artifact, kept),
    ...moves.out,
    ...unused("outputs", artifact.signature.outputs),
    "  return 0;",
    "}",
    "",
  ];
}

/** The whole file. */
export function programText(artifact: Artifact, kept: Kept, options: ProgramOptions): string {
  const { prefix, lanes, embed } = options;
  const line = `static const char weights_line[] = ${literal(firstLine(kept))};`;
  const sorting = sortingText(artifact);
  const lines = [
    comment(`${artifact.name}, compiled by Kiln. Built as its Makefile says: -fwrapv and`),
    comment("-ffp-contract=off are part of what its numbers are."),
    `#define LANES ${lanes}`,
    `#define KEPT_FROM ${firstAddress}`,
    `#define KEPT_END ${kept.end}`,
    `#include "${prefix}.h"`,
    "#include <limits.h>",
    openingText,
    ...sorting.declared,
    nativeHeader,
    ...sorting.defined,
    ...kernelsText(artifact),
    inWordsOf(supportText, prefix),
    ...(embed ? [embeddedText(kept), copyText] : [line, readText]),
    ...tablesText(artifact, kept, prefix),
    ...shapeText(artifact),
    inWordsOf(functionsText, prefix),
    ...runText(artifact, kept, prefix),
  ];
  return lines.join("\n");
}
