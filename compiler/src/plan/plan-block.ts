/**
 * Plans the steps of one program, whole or of a region. The programs of a node's regions share the
 * slots of the program around them, and their leaves and results lie where the node's operands and
 * results do. What must be moved between steps of a region is moved by kernels.
 */
import { type BufferRef, storageBytes } from "@kiln-ml/artifact";
import { type Dim, mulDim, type Tensor } from "@kiln-ml/ir";
import { aliasRoot, isLeaf } from "../access.ts";
import { heldDtype } from "../kernel/types.ts";
import { type Control, isLaunch, type Nested, type Step } from "./control.ts";
import type { Ordered } from "./order.ts";
import { bytesOf, type PlannedStep, type Planner, sameBuffer } from "./planned.ts";

export interface Block {
  readonly steps: PlannedStep[];
  readonly placeOf: (t: Tensor) => BufferRef;
  /** Gives back the slots of what lives to the end. */
  readonly end: () => void;
}

/**
 * Steps of an ordered program whose tensors of `fixed` have their places; `asked` is still there
 * when all have run.
 */
export function planBlock(
  planner: Planner,
  ordered: Ordered,
  fixed: ReadonlyMap<Tensor, BufferRef>,
  asked: readonly Tensor[],
): Block {
  const { slots, target } = planner;
  const home = homes(ordered.steps, fixed, asked);
  const homeOf = (t: Tensor): Tensor => home.get(t) ?? t;
  const lastUse = lastUses(ordered.steps, homeOf);
  for (const t of asked) lastUse.set(homeOf(aliasRoot(t)), Infinity);
  const slotOf = new Map<Tensor, number>();
  const placeOf = (tensor: Tensor): BufferRef => {
    const t = homeOf(tensor);
    return fixed.get(t) ?? { in: "slot", index: slotOf.get(t)! };
  };
  const put = (tensor: Tensor, bytes: Dim): BufferRef => {
    const t = homeOf(tensor);
    if (!fixed.has(t) && !slotOf.has(t)) slotOf.set(t, slots.take(bytes));
    return placeOf(t);
  };
  const steps = ordered.steps.flatMap((k, step): PlannedStep[] => {
    const scratch: number[] = [];
    let made: PlannedStep[];
    if (!isLaunch(k)) {
      for (const t of k.results) put(t, bytesOf(t, target));
      made = planControl(planner, k, (t) => placeOf(aliasRoot(t)));
    } else {
      const places = k.kernel.params.map((p, i): BufferRef => {
        const t = k.tensors[i];
        const bytes = mulDim(p.size, storageBytes(heldDtype(p), target));
        if (t) return put(t, bytes);
        const index = slots.take(bytes);
        scratch.push(index);
        return { in: "slot", index };
      });
      made = [{ is: "kernel", lowered: k, places }];
    }
    for (const i of scratch) slots.free(i);
    for (const t of usedBy(k)) {
      const slot = slotOf.get(homeOf(t));
      if (slot !== undefined && lastUse.get(homeOf(t)) === step) slots.free(slot);
    }
    return made;
  });
  const end = () => {
    for (const [t, slot] of slotOf) if (lastUse.get(t) === Infinity) slots.free(slot);
  };
  return { steps, placeOf, end };
}

/** What a kernel binds, or what goes into regions and comes out of them. */
const usedBy = (k: Step): Tensor[] =>
  isLaunch(k) ? [...new Set(k.tensors.filter((t) => t !== undefined))] : [...k.reads, ...k.results];

function lastUses(steps: readonly Step[], homeOf: (t: Tensor) => Tensor): Map<Tensor, number> {
  const last = new Map<Tensor, number>();
  for (const [step, k] of steps.entries()) for (const t of usedBy(k)) last.set(homeOf(t), step);
  return last;
}

/**
 * A value that nothing needs but a loop that begins with it lies where the loop's result is going
 * to be: there is nothing to copy.
 */
function homes(
  steps: readonly Step[],
  fixed: ReadonlyMap<Tensor, BufferRef>,
  asked: readonly Tensor[],
): Map<Tensor, Tensor> {
  const found = new Map<Tensor, Tensor>();
  const begins = steps.flatMap((k) => (isLaunch(k) ? [] : k.begins));
  if (begins.length === 0) return found;
  const uses = new Map<Tensor, number>();
  const use = (t: Tensor) => uses.set(t, (uses.get(t) ?? 0) + 1);
  for (const t of asked) use(aliasRoot(t));
  for (const k of steps)
    for (const t of isLaunch(k) ? k.reads : k.node.operands.map(aliasRoot)) use(t);
  const written = new Map(steps.filter(isLaunch).flatMap((k) => [...k.writes]));
  for (const [from, to] of begins) {
    const root = aliasRoot(from);
    const own = written.get(root) === root && !isLeaf(root);
    if (own && !fixed.has(root) && uses.get(root) === 1) found.set(root, to);
  }
  return found;
}

function planControl(
  planner: Planner,
  control: Control,
  placeOf: (t: Tensor) => BufferRef,
): PlannedStep[] {
  const { slots } = planner;
  const fixed = new Map<Tensor, BufferRef>();
  for (const [inner, outer] of control.outside) fixed.set(inner, placeOf(outer));
  const nest = (region: Nested) => planNested(planner, region, fixed);
  const begin = control.begins.flatMap(([from, to]) =>
    move(planner, from, placeOf(from), placeOf(to)),
  );
  if (control.is === "scan")
    return [
      ...begin,
      { is: "loop", symbol: control.symbol, trip: control.trip, body: nest(control.body) },
    ];
  if (control.is === "cond") {
    const flag = placeOf(control.node.operands[0]!);
    return [{ is: "if", flag, then: nest(control.then), otherwise: nest(control.otherwise) }];
  }
  const { value } = control.test.program.outputs[0]!;
  const index = slots.take(planner.target === "webgpu" ? 4 : 1);
  const flag: BufferRef = { in: "slot", index };
  fixed.set(aliasRoot(value), flag);
  const { most } = control;
  const loop: PlannedStep = {
    is: "while",
    test: nest(control.test),
    flag,
    most,
    body: nest(control.body),
  };
  slots.free(index);
  return [...begin, loop];
}

/**
 * The steps of a region, and then those that move the new values of what it carries to where the
 * next step reads them.
 */
function planNested(
  planner: Planner,
  { program, ordered }: Nested,
  outside: ReadonlyMap<Tensor, BufferRef>,
): PlannedStep[] {
  const fixed = new Map(outside);
  for (const [value, param] of ordered.inPlace) fixed.set(value, outside.get(param)!);
  const asked = program.updates.map(([, value]) => value);
  const block = planBlock(planner, ordered, fixed, asked);
  const moves = program.updates.flatMap(([param, value]) =>
    move(planner, value, block.placeOf(aliasRoot(value)), outside.get(param)!),
  );
  block.end();
  return [...block.steps, ...moves];
}

function move({ copy }: Planner, like: Tensor, from: BufferRef, to: BufferRef): PlannedStep[] {
  if (sameBuffer(from, to)) return [];
  const lowered = copy(like);
  const places = lowered.kernel.params.map((p) => (p.access === "read" ? from : to));
  return [{ is: "kernel", lowered, places }];
}
