/**
 * The plan of an artifact as the body of a C function: memory for every place, then a call for each
 * phase of each launch, with loops and branches where the plan has a flow.
 */
import {
  type Artifact,
  type BufferRef,
  type Extent,
  type Flow,
  packedBytes,
  type TensorSpec,
} from "@kiln-ml/artifact";
import { comment, extentText, largest, literal, product } from "./c-text.ts";
import type { Kept } from "./weights.ts";

/** Names that C has for dims: those of the signature, and counters of loops where they are in scope. */
const dimName = (name: string): string =>
  `dim_${name.replace(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16)}_`)}`;
const value = (e: Extent): string => extentText(e, dimName);

export const bytesOf = ({ dtype, shape }: TensorSpec): Extent =>
  product([packedBytes(dtype), ...shape]);

const sizesOf = (plan: Artifact["plan"]): Extent[] => plan.slots.map(({ sizes }) => largest(sizes));

/** The address of a place, as an expression. */
function addressIn(kept: Kept): (ref: BufferRef) => string {
  const fixed = { constant: kept.constants, state: kept.states };
  return ({ in: where, index }) =>
    where === "constant" || where === "state" ? `${fixed[where][index]}` : `${where}_${index}`;
}

/** Statements that give each dim its name, and refuse what the program is not for. */
export function dimsText({ signature }: Artifact): string[] {
  const given = signature.dims.flatMap(({ name, min, max }, i) => [
    `  const double ${dimName(name)} = (double)dims[${i}];`,
    `  if (!(${dimName(name)} >= ${min}.0 && ${dimName(name)} <= ${max ?? 2147483647}.0))`,
    `    return refuse(${literal(`dim ${name} is from ${min} to ${max ?? 2147483647}`)});`,
  ]);
  const asked = (signature.requirements ?? []).flatMap((r) => [
    `  if (!(${value(r.value)} >= 0.0)) return refuse(${literal(r.text)});`,
  ]);
  const names = signature.dims.map(({ name }) => `  (void)${dimName(name)};`);
  const none = names.length ? ['  if (!dims) return refuse("no dims are given");'] : [];
  return [...none, ...given, ...asked, ...(names.length ? names : ["  (void)dims;"])];
}

/** Places of inputs, outputs and slots, one behind the other, then the stacks of threads. */
export function placesText({ signature, plan, kernels }: Artifact, kept: Kept): string[] {
  const place = (name: string, bytes: Extent): string =>
    `  const long ${name} = place(&end, ${value(bytes)});`;
  const used = new Set(plan.steps.map(({ kernel }) => kernel));
  const stack = largest(kernels.flatMap(({ stack = 0 }, i) => (used.has(i) ? [stack] : [])));
  return [
    `  double end = ${kept.end}.0;`,
    ...signature.inputs.map((s, i) => place(`input_${i}`, bytesOf(s))),
    ...signature.outputs.map((s, i) => place(`output_${i}`, bytesOf(s))),
    ...sizesOf(plan).map((size, i) => place(`slot_${i}`, size)),
    `  const double stack_bytes = line_up(${value(stack)});`,
    "  const long stacks = place(&end, stack_bytes * model->threads);",
    "  if (reserve(model, end) != 0) return -1;",
    "  const running run = {model->mem, stacks, (long)stack_bytes, model->threads};",
  ];
}

/** Inputs in, outputs out. Where there are no elements, a pointer may be NULL. */
export function movesText(
  { signature, plan }: Artifact,
  kept: Kept,
): { in: string[]; out: string[] } {
  const address = addressIn(kept);
  const { inputs, outputs } = signature;
  const missing = (list: "inputs" | "outputs") =>
    signature[list].map(
      (s, i) =>
        `  if (!${list}[${i}] && ${value(bytesOf(s))} > 0.0) return refuse(${literal(`${list.slice(0, -1)} ${s.name} is NULL`)});`,
    );
  const move = (to: string, from: string, bytes: Extent): string =>
    `  move(${to}, ${from}, ${value(bytes)});`;
  return {
    in: [
      ...missing("inputs"),
      ...missing("outputs"),
      ...inputs.map((s, i) => move(`run.mem + input_${i}`, `inputs[${i}]`, bytesOf(s))),
    ],
    out: [
      ...plan.copies.map(({ from, to, bytes }) =>
        move(`run.mem + ${address(to)}`, `run.mem + ${address(from)}`, bytes),
      ),
      ...outputs.map((s, i) => move(`outputs[${i}]`, `run.mem + output_${i}`, bytesOf(s))),
    ],
  };
}

const indented = (lines: readonly string[]): string[] => lines.map((l) => `  ${l}`);

/** The calls of all launches in their order. */
export function stepsText(artifact: Artifact, kept: Kept): string[] {
  const { plan } = artifact;
  const address = addressIn(kept);
  const one = (f: Flow): string[] => {
    if (typeof f === "number") return launchText(artifact, f, address);
    if ("if" in f)
      return [
        `if (run.mem[${address(f.if)}]) {`,
        ...list(f.then),
        ...(f.else.length ? ["} else {", ...list(f.else)] : []),
        "}",
      ];
    if ("loop" in f) {
      const name = dimName(f.loop.dim);
      return [
        `for (double ${name} = 0.0; ${name} < ${value(f.loop.trips)}; ${name} += 1.0) {`,
        ...list(f.body),
        "}",
      ];
    }
    const { test, flag, most } = f.while;
    const bound =
      most === undefined ? "for (;;) {" : `for (double t = 0.0; t < ${most}.0; t += 1.0) {`;
    return [bound, ...list(test), `  if (!run.mem[${address(flag)}]) break;`, ...list(f.body), "}"];
  };
  const list = (flow: readonly Flow[]): string[] => indented(flow.flatMap(one));
  return list(plan.flow ?? plan.steps.map((_, i) => i));
}

/** Four operations take about as long as a byte. */
const flopsPerByte = 4;

/** A block with the arguments of a launch and a call for each of its phases. */
function launchText(
  { plan, kernels }: Artifact,
  index: number,
  address: (ref: BufferRef) => string,
): string[] {
  const step = plan.steps[index]!;
  const kernel = kernels[step.kernel]!;
  const places = step.args.map((ref, i) => {
    const start = step.starts?.[i] ?? 0;
    return `(int32_t)(uint32_t)(${address(ref)}${start ? ` + ${start}` : ""})`;
  });
  const dims = kernel.dims.map((name) => `(int32_t)${dimName(name)}`);
  const args = [...places, ...dims];
  const work: Extent =
    typeof step.bytes === "number" && typeof step.flops === "number"
      ? Math.round(step.bytes + step.flops / flopsPerByte)
      : ["+", step.bytes, ["/", step.flops, flopsPerByte]];
  return [
    `{ ${comment(kernel.name)}`,
    `  const int32_t args[] = {${args.length ? args.join(", ") : "0"}};`,
    ...kernel.phases!.map(
      ({ entry, units }) => `  launch(&run, ${entry}, args, ${value(units)}, ${value(work)});`,
    ),
    "}",
  ];
}

/** The extents of all tensors, a case each, for `shape`. */
export function shapesText({ signature }: Artifact): string[] {
  const { inputs, outputs, states } = signature;
  return [...inputs, ...outputs, ...states].flatMap(({ shape }, id) => [
    `  case ${id}:`,
    ...shape.map((e, axis) => `    shape[${axis}] = (int64_t)${value(e)};`),
    "    break;",
  ]);
}
