/**
 * The memory plan of an artifact as text: slots, steps with the place of every argument, and copies. For people and golden
 * tests; nothing reads it back.
 *
 *   slot 0: 4*N bytes
 *   0 exp_sum(x, → slot 0)  4*N+4 bytes, 2*N flops
 *   copy slot 0 to w: 16 bytes
 */
import { type Artifact, type Place, printExtent } from "@kiln-ml/artifact";

export function printPlan(artifact: Artifact): string {
  const { slots, steps, copies } = artifact.plan;
  const place = (p: Place) => placeText(artifact, p);
  const lines = [
    ...slots.map((s, i) => `slot ${i}: ${s.sizes.map((e) => printExtent(e)).join(" or ")} bytes`),
    ...steps.map((step, i) => {
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

const marks = { read: "", write: "→ ", readwrite: "↔ ", scratch: "scratch " } as const;

function placeText({ signature }: Artifact, { in: space, index }: Place): string {
  if (space === "input") return signature.inputs[index]!.name;
  if (space === "output") return signature.outputs[index]!.name;
  if (space === "state") return signature.states[index]!.name;
  return `${space} ${index}`;
}
