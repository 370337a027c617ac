/** An artifact as text: its signature, kernels, memory plan and costs. */
import { type Artifact, evaluateExtent, type Modules, type Place } from "@kiln-ml/artifact";
import { bytesText, type Dims, extentText, specText, weightBytes } from "./extents.ts";
import { table } from "./table.ts";

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
  return `== ${a.name} for ${a.target}${held}\n${lines.join("\n")}\n`;
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
  const rows = steps.map((step, i) => {
    const kernel = a.kernels[step.kernel]!;
    const args = step.args.map((place, j) => {
      const { access } = kernel.bindings[j]!;
      const mark = access === "read" ? "" : access === "write" ? "→" : "↔";
      return `${mark}${placeText(a, place)}`;
    });
    return `  ${String(i).padStart(3)} ${kernel.name}(${args.join(", ")})`;
  });
  const moved = copies.map((c) => `  copy ${placeText(a, c.from)} to ${placeText(a, c.to)}`);
  const total = temporaryBytes(
    slots.map((s) => s.sizes),
    dims,
  );
  const size = total === undefined ? "" : `, ${bytesText(total)} of temporaries`;
  return `== plan: ${steps.length} steps, ${slots.length} slots${size}\n${[...spaces, ...rows, ...moved].join("\n")}\n`;
}

function placeText(a: Artifact, { in: space, index }: Place): string {
  const { inputs, outputs, states } = a.signature;
  if (space === "input") return inputs[index]!.name;
  if (space === "output") return outputs[index]!.name;
  if (space === "state") return states[index]!.name;
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
  const rows = a.plan.steps.map((step, i) => [
    `${i}`,
    a.kernels[step.kernel]!.name,
    extentText(step.bytes, dims),
    extentText(step.flops, dims),
  ]);
  return `== costs\n${table([["step", "kernel", "bytes", "flops"], ...rows])}\n`;
}
