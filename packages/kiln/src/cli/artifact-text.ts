/** An artifact as text: its signature, kernels, memory plan and costs. */
import {
  type Artifact,
  type BufferRef,
  type Extent,
  evaluateExtent,
  type Flow,
  loopsAround,
  type Modules,
} from "@kiln-ml/artifact";
import { bytesText, type Dims, extentText, specText, weightBytes } from "./extents.ts";
import { table } from "./table.ts";
import { inLine } from "./terminal.ts";

export function signature(a: Artifact, dims: Dims): string {
  const { inputs, outputs, states } = a.signature;
  const symbols = a.signature.dims.map((d) => `${d.name} in [${d.min}, ${d.max ?? "inf"}]`);
  const lines = [
    ...symbols.map((text) => `  dim ${text}`),
    ...inputs.map((spec) => `  input ${specText(spec, dims)}`),
    ...outputs.map((spec) => `  output ${specText(spec, dims)}`),
    ...states.map((s) => `  state ${specText(s, dims)}${s.written ? ", written" : ""}`),
  ];
  const weights = Object.keys(a.weights).length;
  const held = weights ? `, ${weights} weights of ${bytesText(weightBytes(a))}` : "";
  return `== ${inLine(a.name)} for ${a.target}${held}\n${lines.join("\n")}\n`;
}

export function kernels(a: Artifact, dims: Dims): string {
  const texts = a.kernels
    .filter((k) => k.text !== "")
    .map((k) => `-- ${k.name}\n${k.text.trimEnd()}\n`);
  const head = `== kernels: ${a.kernels.length}\n`;
  if (!a.modules) return head + texts.join("\n");
  return [head + modulesText(a.modules), phasesText(a, dims), ...texts].join("\n");
}

const modulesText = ({ plain, relaxed }: Modules): string =>
  `  module of ${bytesText(plain.length)}, ${bytesText(relaxed.length)} with relaxed SIMD\n`;

/** A row for each phase; the stack stands in the first row of its kernel. */
function phasesText(a: Artifact, dims: Dims): string {
  const rows = a.kernels.flatMap((k) =>
    (k.phases ?? []).map((p, i) => [
      i ? "" : k.name,
      p.entry,
      extentText(p.units, dims),
      i ? "" : extentText(k.stack ?? 0, dims),
    ]),
  );
  return `${table([["kernel", "phase", "units", "stack bytes"], ...rows])}\n`;
}

export function plan(a: Artifact, dims: Dims): string {
  const { slots, steps, copies } = a.plan;
  const spaces = slots.map(
    (s, i) => `  slot ${i}: ${s.sizes.map((e) => extentText(e, dims)).join(" or ")} bytes`,
  );
  const rows = flowLines(a, dims, (i, indent) => {
    const step = steps[i]!;
    const kernel = a.kernels[step.kernel]!;
    const args = step.args.map((place, j) => {
      const { access } = kernel.bindings[j]!;
      const mark = access === "read" ? "" : access === "write" ? "→" : "↔";
      return `${mark}${placeText(a, place)}`;
    });
    return `  ${String(i).padStart(3)} ${indent}${kernel.name}(${args.join(", ")})`;
  });
  const moved = copies.map((c) => `  copy ${placeText(a, c.from)} to ${placeText(a, c.to)}`);
  const total = temporaryBytes(
    slots.map((s) => s.sizes),
    dims,
  );
  const size = total === undefined ? "" : `, ${bytesText(total)} of temporaries`;
  return `== plan: ${steps.length} steps, ${slots.length} slots${size}\n${[...spaces, ...rows, ...moved].join("\n")}\n`;
}

/** Lines of steps, those that run under a condition or more than once indented below it. */
function flowLines(a: Artifact, dims: Dims, line: (i: number, indent: string) => string): string[] {
  const { steps, flow } = a.plan;
  const lines = (list: readonly Flow[], indent: string): string[] =>
    list.flatMap((f) => {
      if (typeof f === "number") return line(f, indent);
      const head = (text: string) => `      ${indent}${text}`;
      const inside = (part: readonly Flow[]) => lines(part, `${indent}  `);
      if ("loop" in f) return [head(`${extentText(f.loop.trips, dims)} times`), ...inside(f.body)];
      if ("if" in f)
        return [
          head(`if ${placeText(a, f.if)}`),
          ...inside(f.then),
          head("else"),
          ...inside(f.else),
        ];
      const most = f.while.most === undefined ? "" : `, at most ${f.while.most} times`;
      return [
        head(`while ${placeText(a, f.while.flag)}${most}, from`),
        ...inside(f.while.test),
        head("do"),
        ...inside(f.body),
      ];
    });
  return lines(flow ?? steps.map((_, i) => i), "");
}

function placeText(a: Artifact, { in: space, index }: BufferRef): string {
  const { inputs, outputs, states } = a.signature;
  if (space === "input") return inLine(inputs[index]!.name);
  if (space === "output") return inLine(outputs[index]!.name);
  if (space === "state") return inLine(states[index]!.name);
  return `${space} ${index}`;
}

/** The bytes of all slots; undefined while a symbol has no value. */
function temporaryBytes(
  sizes: readonly (readonly Parameters<typeof evaluateExtent>[0][])[],
  dims: Dims,
): number | undefined {
  try {
    return sizes.reduce((sum, s) => sum + Math.max(0, ...s.map((e) => evaluateExtent(e, dims))), 0);
  } catch {
    return undefined;
  }
}

export function costs(a: Artifact, dims: Dims): string {
  const around = loopsAround(a.plan);
  const all = (e: Extent, i: number) =>
    extentText(
      around[i]!.reduce<Extent>((n, trips) => ["*", n, trips], e),
      dims,
    );
  const rows = a.plan.steps.map((step, i) => [
    `${i}`,
    a.kernels[step.kernel]!.name,
    all(step.bytes, i),
    all(step.flops, i),
  ]);
  return `== costs\n${table([["step", "kernel", "bytes", "flops"], ...rows])}\n`;
}
