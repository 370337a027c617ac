/**
 * The memory plan of an artifact as text: slots, steps with the place of every argument, and copies. For people and golden
 * tests; nothing reads it back.
 *
 *   slot 0: 4*N bytes
 *   0 exp_sum(x, → slot 0)  4*N+4 bytes, 2*N flops
 *   copy slot 0 to w: 16 bytes
 */
import {
  type Artifact,
  type BufferRef,
  type Flow,
  printExtent,
  type Step,
} from "@kiln-ml/artifact";

export function printPlan(artifact: Artifact): string {
  const { slots, copies } = artifact.plan;
  const place = (p: BufferRef) => placeText(artifact, p);
  const lines = [
    ...slots.map((s, i) => `slot ${i}: ${s.sizes.map((e) => printExtent(e)).join(" or ")} bytes`),
    ...inFlow(artifact.plan, place, (step, i) => {
      const { name, bindings } = artifact.kernels[step.kernel]!;
      const args = step.args.map((p, j) => `${marks[bindings[j]!.access]}${place(p)}`).join(", ");
      const bytes = printExtent(step.bytes);
      return `${i} ${name}(${args})  ${bytes} bytes, ${printExtent(step.flops)} flops`;
    }),
    ...copies.map(
      ({ from, to, bytes }) => `copy ${place(from)} to ${place(to)}: ${printExtent(bytes)} bytes`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** Lines of steps, those that run under a condition or more than once indented below it. */
function inFlow(
  { steps, flow }: Artifact["plan"],
  place: (p: BufferRef) => string,
  line: (step: Step, i: number) => string,
): string[] {
  const lines = (list: readonly Flow[], indent: string): string[] =>
    list.flatMap((f) => {
      if (typeof f === "number") return `${indent}${line(steps[f]!, f)}`;
      const inside = (part: readonly Flow[]) => lines(part, `${indent}  `);
      if ("loop" in f)
        return [`${indent}for ${f.loop.dim} < ${printExtent(f.loop.trips)}`, ...inside(f.body)];
      if ("if" in f)
        return [
          `${indent}if ${place(f.if)}`,
          ...inside(f.then),
          `${indent}else`,
          ...inside(f.else),
        ];
      const most = f.while.most === undefined ? "" : `, at most ${f.while.most} times`;
      return [
        `${indent}while ${place(f.while.flag)}${most}, from`,
        ...inside(f.while.test),
        `${indent}do`,
        ...inside(f.body),
      ];
    });
  return lines(flow ?? steps.map((_, i) => i), "");
}

const marks = { read: "", write: "→ ", readwrite: "↔ ", scratch: "scratch " } as const;

function placeText({ signature }: Artifact, { in: space, index }: BufferRef): string {
  if (space === "input") return signature.inputs[index]!.name;
  if (space === "output") return signature.outputs[index]!.name;
  if (space === "state") return signature.states[index]!.name;
  return `${space} ${index}`;
}
