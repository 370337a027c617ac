/**
 * What the parts of an artifact must say about each other: names are distinct, indexes are in range, every dim is
 * bound, sizes are sizes, a step writes only what may be written. Runs after the form of each field was checked, when
 * an artifact is written and when it is read, so that an executable can trust all of it.
 */
import type { BufferRef, Constant, Extent, Flow, Step, TensorSpec } from "./artifact.ts";
import { dimsOf, evaluateExtent } from "./extent.ts";
import type { KernelEntry, Manifest } from "./manifest.ts";
import { distinct, isCount, refuse, show } from "./schema.ts";
import { storageBytes, type TargetName, targetFields, targets } from "./targets.ts";

type Sizes = (e: Extent, at: string) => void;

/** Throws ArtifactError unless the manifest fits itself, its constants and its weights. */
export function verify(
  m: Manifest,
  constants: readonly Constant[],
  weights: Readonly<Record<string, Constant>>,
): void {
  const sizes = verifySignature(m);
  const counters = verifyFlow(m, constants.length, sizes);
  verifyKernels(m, sizes, counters);
  verifyPlan(m, constants.length, sizes);
  verifyWeights(m, weights);
}

function verifySignature({ signature, target }: Manifest): Sizes {
  const { dims, inputs, outputs, states, requirements = [] } = signature;
  const declared = new Set(dims.map((d) => d.name));
  const sizes: Sizes = (e, at) => {
    const names = dimsOf(e);
    for (const name of names)
      if (!declared.has(name))
        refuse(at, `names dim ${name}, which the signature does not declare`);
    if (names.size > 0) return;
    const size = evaluateExtent(e, {});
    if (!isCount(size)) refuse(at, `is ${size}, not an integer from 0 to 2^53 - 1`);
  };
  distinct(
    dims.map((d) => d.name),
    "signature.dims",
  );
  for (const [i, d] of dims.entries())
    if (d.max !== null && d.max < d.min)
      refuse(`signature.dims[${i}].max`, `is ${d.max}, below min ${d.min}`);
  for (const [list, specs] of Object.entries({ inputs, outputs, states })) {
    distinct(
      specs.map((s) => s.name),
      `signature.${list}`,
    );
    for (const [i, s] of specs.entries())
      verifyTensor(s, `signature.${list}[${i}].shape`, target, sizes);
  }
  for (const [i, { value }] of requirements.entries()) {
    const at = `signature.requirements[${i}].value`;
    const names = dimsOf(value);
    if (names.size === 0) refuse(at, "names no dim");
    for (const name of names)
      if (!declared.has(name))
        refuse(at, `names dim ${name}, which the signature does not declare`);
  }
  const bound = new Set<string>();
  for (const s of inputs) for (const e of s.shape) dimsOf(e, bound);
  for (const [i, d] of dims.entries())
    if (!bound.has(d.name))
      refuse(`signature.dims[${i}]`, `is ${d.name}, which no input's shape contains`);
  return sizes;
}

function verifyTensor(s: TensorSpec, at: string, target: TargetName, sizes: Sizes): void {
  let bytes = storageBytes(s.dtype, target);
  for (const [axis, e] of s.shape.entries()) {
    sizes(e, `${at}[${axis}]`);
    // A size of 0 makes the tensor empty, but the others must still multiply without overflow.
    if (dimsOf(e).size === 0) bytes *= Math.max(evaluateExtent(e, {}), 1);
  }
  if (!isCount(bytes)) refuse(at, `is ${show(s.shape)}, whose bytes exceed 2^53 - 1`);
}

/**
 * The steps come in their order, each once; a kernel asks only for counters of loops around it. Gives the counters that
 * each kernel may ask for at all its steps.
 */
function verifyFlow(
  m: Manifest,
  constants: number,
  sizes: Sizes,
): ReadonlyMap<number, Set<string>> {
  const { steps, flow } = m.plan;
  const places = placesOf(m, constants);
  const counters = new Map<number, Set<string>>();
  const names = new Set(m.signature.dims.map((d) => d.name));
  let next = 0;
  const enter = (list: readonly Flow[], at: string, around: ReadonlySet<string>): void => {
    for (const [i, f] of list.entries()) one(f, `${at}[${i}]`, around);
  };
  const one = (f: Flow, at: string, around: ReadonlySet<string>): void => {
    if (typeof f === "number") {
      if (f !== next++) refuse(at, `is step ${f}, where step ${next - 1} of ${steps.length} comes`);
      const { kernel } = steps[f] ?? refuse(at, `is step ${f} of ${steps.length}`);
      const before = counters.get(kernel) ?? around;
      counters.set(kernel, new Set([...around].filter((d) => before.has(d))));
    } else if ("loop" in f) {
      const { dim, trips } = f.loop;
      if (names.has(dim) || around.has(dim)) refuse(`${at}.loop.dim`, `is ${dim}, which is taken`);
      sizes(trips, `${at}.loop.trips`);
      enter(f.body, `${at}.body`, new Set([...around, dim]));
    } else if ("while" in f) {
      flag(f.while.flag, `${at}.while.flag`);
      enter(f.while.test, `${at}.while.test`, around);
      enter(f.body, `${at}.body`, around);
    } else {
      flag(f.if, `${at}.if`);
      enter(f.then, `${at}.then`, around);
      enter(f.else, `${at}.else`, around);
    }
  };
  const flag = places.read;
  if (flow) {
    enter(flow, "plan.flow", new Set());
    if (next !== steps.length) refuse("plan.flow", `names ${next} of ${steps.length} steps`);
  }
  return counters;
}

function verifyKernels(
  m: Manifest,
  sizes: Sizes,
  counters: ReadonlyMap<number, ReadonlySet<string>>,
): void {
  // File systems may not tell upper from lower case.
  distinct(
    m.kernels.map((k) => k.name.toLowerCase()),
    "kernels",
  );
  for (const [i, k] of m.kernels.entries()) {
    const at = `kernels[${i}]`;
    distinct([...k.bindings.map((b) => b.name), ...k.dims], `${at}.bindings and dims`);
    for (const [j, name] of k.dims.entries())
      if (!counters.get(i)?.has(name)) sizes(name, `${at}.dims[${j}]`);
    verifyFields(m.target, k, at);
    for (const [j, e] of (k.workgroups ?? []).entries()) sizes(e, `${at}.workgroups[${j}]`);
    verifyPhases(k, at, sizes);
  }
  distinct(
    m.kernels.flatMap((k) => k.phases ?? []).map((p) => p.entry),
    "the phases of kernels",
  );
}

function verifyFields(target: TargetName, k: KernelEntry, at: string): void {
  const { fields } = targets[target];
  for (const field of targetFields) {
    const needed = fields.includes(field);
    if (needed === (k[field] !== undefined)) continue;
    refuse(`${at}.${field}`, needed ? "is missing" : `is not for target ${target}`);
  }
}

function verifyPhases(k: KernelEntry, at: string, sizes: Sizes): void {
  if (k.phases?.length === 0) refuse(`${at}.phases`, "is empty");
  for (const [j, p] of (k.phases ?? []).entries()) sizes(p.units, `${at}.phases[${j}].units`);
  if (k.stack !== undefined) sizes(k.stack, `${at}.stack`);
}

function verifyPlan(m: Manifest, constants: number, sizes: Sizes): void {
  const { slots, steps, copies } = m.plan;
  const places = placesOf(m, constants);
  for (const [i, slot] of slots.entries()) {
    if (slot.sizes.length === 0) refuse(`plan.slots[${i}].sizes`, "is empty");
    for (const [j, e] of slot.sizes.entries()) sizes(e, `plan.slots[${i}].sizes[${j}]`);
  }
  for (const [i, step] of steps.entries()) {
    const at = `plan.steps[${i}]`;
    verifyArgs(step, m.kernels, places, at);
    verifyStarts(step, m, at);
    sizes(step.bytes, `${at}.bytes`);
    sizes(step.flops, `${at}.flops`);
  }
  for (const [i, { from, to, bytes }] of copies.entries()) {
    const at = `plan.copies[${i}]`;
    places.read(from, `${at}.from`);
    places.write(to, `${at}.to`);
    if (keyOf(from) === keyOf(to)) refuse(at, `copies ${keyOf(to)} to itself`);
    sizes(bytes, `${at}.bytes`);
  }
  for (const [i, s] of m.signature.outputs.entries())
    if (!places.written.has(`output ${i}`) && !s.shape.includes(0))
      refuse(`signature.outputs[${i}]`, "is written by no step and no copy");
}

/** Arrays of a js kernel begin at multiples of their elements. What is too far is found when the sizes are known. */
function verifyStarts({ kernel, args, starts }: Step, m: Manifest, at: string): void {
  if (starts === undefined) return;
  if (!targets[m.target].starts) refuse(`${at}.starts`, `is not for target ${m.target}`);
  if (starts.length !== args.length)
    refuse(`${at}.starts`, `has ${starts.length} numbers for ${args.length} places`);
  for (const [i, { dtype }] of m.kernels[kernel]!.bindings.entries())
    if (starts[i]! % storageBytes(dtype, m.target) !== 0)
      refuse(`${at}.starts[${i}]`, `is ${starts[i]}, which does not divide into elements`);
}

const keyOf = (p: BufferRef): string => `${p.in} ${p.index}`;

interface Places {
  /** Throws if there is no such place. */
  readonly read: (p: BufferRef, at: string) => void;
  /** Throws if there is no such place or it may not change. */
  readonly write: (p: BufferRef, at: string) => void;
  readonly written: ReadonlySet<string>;
}

function placesOf({ plan, signature }: Manifest, constants: number): Places {
  const { inputs, outputs, states } = signature;
  const lengths: Record<BufferRef["in"], number> = {
    slot: plan.slots.length,
    input: inputs.length,
    output: outputs.length,
    state: states.length,
    constant: constants,
  };
  const written = new Set<string>();
  const read = (p: BufferRef, at: string): void => {
    if (p.index >= lengths[p.in])
      refuse(`${at}.index`, `is ${p.index} of ${lengths[p.in]} ${p.in}s`);
  };
  const write = (p: BufferRef, at: string): void => {
    read(p, at);
    if (p.in === "input" || p.in === "constant" || (p.in === "state" && !states[p.index]!.written))
      refuse(at, `writes ${keyOf(p)}, which may not change`);
    written.add(keyOf(p));
  };
  return { read, write, written };
}

function verifyArgs(
  { kernel: index, args }: Step,
  kernels: Manifest["kernels"],
  places: Places,
  at: string,
): void {
  const kernel = kernels[index];
  if (!kernel) refuse(`${at}.kernel`, `is ${index} of ${kernels.length} kernels`);
  const { bindings } = kernel;
  if (args.length !== bindings.length)
    refuse(`${at}.args`, `has ${args.length} places for ${bindings.length} bindings`);
  for (const [j, p] of args.entries())
    (bindings[j]!.access === "read" ? places.read : places.write)(p, `${at}.args[${j}]`);
  distinct(args.map(keyOf), `${at}.args`);
}

function verifyWeights(m: Manifest, weights: Readonly<Record<string, Constant>>): void {
  const states = new Map(m.signature.states.map((s) => [s.name, s]));
  for (const [name, w] of Object.entries(weights)) {
    const s = states.get(name);
    if (!s) refuse("signature.states", `has no ${show(name)}, for which there are weights`);
    const [want, have] = [s, w].map((t) => `${t.dtype}[${t.shape.join(",")}]`);
    if (want !== have)
      refuse("signature.states", `says ${show(name)} is ${want}, its weights are ${have}`);
  }
}
