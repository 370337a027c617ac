/** `--why-recompiled`: a line for each program that a function compiles after its first, with what made it another. */
import type { CompiledProgram } from "../devices/settings.ts";

/** What is told of a compilation: `f: compiled again (2): …`; nothing of the first. */
export function whyRecompiled(
  name: string,
  made: CompiledProgram,
  earlier: readonly CompiledProgram[],
): string | undefined {
  if (!earlier.length) return undefined;
  return `${name}: compiled again (${earlier.length + 1}): ${reasonOf(made, earlier)}`;
}

function reasonOf(made: CompiledProgram, earlier: readonly CompiledProgram[]): string {
  if (earlier.at(-1) === made) return "its parameters were moved to another device";
  const alike = earlier.filter((e) => e.key === made.key);
  if (!alike.length)
    return "the arguments have another structure, rank or dtype, or another static value";
  const pattern = String(made.pattern);
  const last = alike.at(-1)!;
  const same = alike.find((e) => String(e.pattern) === pattern);
  if (same && !same.traced.premises.every((holds) => holds()))
    return "a setting that it reads has changed, as training or what is frozen";
  if (same) return "its device was opened anew";
  const extents = `extents are [${made.pattern}], after [${last.pattern}]`;
  return made.pattern.some((p) => typeof p === "string")
    ? `${extents}; symbols stand for those that change from here on`
    : extents;
}
