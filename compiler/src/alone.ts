/**
 * One kernel as an artifact: what it reads are inputs, what it writes outputs, flat. To time a kernel, not to compute anything
 * with it. A dim of the kernel is told by an input of its own.
 */
import {
  type Artifact,
  artifactVersion,
  type BufferRef,
  type Limits,
  type TensorSpec,
} from "@kiln-ml/artifact";
import type { Choices } from "./choices.ts";
import { toExtent } from "./kernel/extent.ts";
import type { Kernel, Param } from "./kernel/kernel.ts";
import { plainName } from "./kernel/names.ts";
import type { Lowered } from "./lower/lower.ts";
import { allAtStart } from "./plan/share.ts";
import type { EmitOptions, Target } from "./target.ts";

type Options = Partial<EmitOptions> & { readonly limits?: Limits };

/** Notes the choice that a kernel's schedule had, if it had one. */
export function noteChoice(
  { choice, kernel }: Lowered,
  target: Target,
  options: Options & { readonly choices: Choices | undefined },
): void {
  if (!choice) return;
  const { kernel: other, ...rest } = choice;
  const artifact = (option: string): Artifact => artifactOf(other(option), target, options);
  options.choices?.note({ ...rest, of: "kernel", name: kernel.name, artifact });
}

function artifactOf(source: Kernel, target: Target, options: Options): Artifact {
  const { kernel } = allAtStart([source])[0]!;
  const { rounding = "on-store", features = [] } = options;
  const text = target.emit(kernel, { rounding, features });
  const inputs: TensorSpec[] = [];
  const outputs: TensorSpec[] = [];
  const slots: { sizes: ReturnType<typeof toExtent>[] }[] = [];
  const add = <T>(list: T[], item: T): number => list.push(item) - 1;
  const place = (p: Param): BufferRef => {
    const spec = { name: plainName(p.name), dtype: p.dtype, shape: [toExtent(p.size)] };
    if (p.access === "read") return { in: "input", index: add(inputs, spec) };
    if (p.access === "write") return { in: "output", index: add(outputs, spec) };
    // Scratch memory, and what is overwritten: enough for elements of any dtype.
    return { in: "slot", index: add(slots, { sizes: [["*", 8, toExtent(p.size)]] }) };
  };
  const args = kernel.params.map(place);
  for (const name of kernel.dims) inputs.push({ name: `dim.${name}`, dtype: "i32", shape: [name] });
  const step = { kernel: 0, args, bytes: toExtent(kernel.bytes), flops: toExtent(kernel.flops) };
  return {
    version: artifactVersion,
    target: target.name,
    name: kernel.name,
    signature: {
      dims: kernel.dims.map((name) => ({ name, min: 0, max: null })),
      inputs,
      outputs,
      states: [],
    },
    kernels: [text],
    ...(target.link ? { modules: target.link([text]) } : {}),
    plan: { slots, steps: [step], copies: [] },
    constants: [],
    weights: {},
    limits: options.limits ?? target.defaultLimits,
    features,
  };
}
