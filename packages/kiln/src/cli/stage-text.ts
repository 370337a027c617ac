/** Stages of the compiler as text: programs as IR, and the groups that became kernels. */
import { leavesOf, printKernel, type Stage } from "@kiln-ml/compiler";
import type { Tensor } from "@kiln-ml/ir";

/** What prints graphs; that of the script's own copy of the package. */
interface Printer {
  printGraph(
    graph: { params: readonly Tensor[]; results: readonly Tensor[] },
    options: { name: string; updates: Map<Tensor, Tensor> },
  ): string;
  printShape(shape: Tensor["shape"]): string;
}

export function programText(printer: Printer, name: string, { program }: Stage): string {
  if (!program) return "";
  const results = program.outputs.map((o) => o.value);
  const identifier = name.replace(/\W/g, "_");
  return printer.printGraph(
    { params: leavesOf(program), results },
    { name: identifier, updates: new Map(program.updates) },
  );
}

/** One line a kernel: what it computes, and what it stores. */
export function groups({ kernels = [] }: Stage): string {
  const lines = kernels.map(({ group, kernel }, i) => {
    const ops = [...group.members.keys()].map((t) => t.op);
    const beside = [...group.operandReductions.map((s) => s.group), ...group.guests].length;
    const extra = beside ? ` and ${beside} beside` : "";
    return `${String(i).padStart(3)} ${kernel.name} (${group.kind}): ${summary(ops)}${extra}`;
  });
  return `== groups: ${kernels.length} kernels\n${lines.join("\n")}\n`;
}

/** The kernels as schedules made them, those of one structure once, and the moves that did so. */
export function kernelIr({ kernels = [] }: Stage): string {
  const made = new Map(kernels.map(({ kernel, recipe }) => [kernel, recipe]));
  const texts = [...made].map(([kernel, recipe]) =>
    recipe ? `recipe ${recipe}\n${printKernel(kernel)}` : printKernel(kernel),
  );
  return `== kernel-ir: ${texts.length} kernels\n${texts.join("\n")}`;
}

/** Ops in order, repeated ones counted. */
function summary(ops: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const op of ops) counts.set(op, (counts.get(op) ?? 0) + 1);
  return [...counts].map(([op, n]) => (n > 1 ? `${op}×${n}` : op)).join(" ");
}
