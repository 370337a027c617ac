/** The memory plan of an inspection: slots, and the values that live in them from step to step. */
import { type Artifact, type Extent, evaluateExtent, storageBytes } from "@kiln-ml/artifact";
import type { PlannedLaunch } from "@kiln-ml/compiler/explain";
import type { Life, Memory, TensorType } from "@kiln-ml/inspector";
import { evaluateDim, type Tensor } from "@kiln-ml/ir";
import type { NodeTable } from "./nodes.ts";

type Dims = Readonly<Record<string, number>>;
type Signature = { readonly [K in "inputs" | "outputs" | "states"]: readonly TensorType[] };

export function memoryOf(
  artifact: Artifact,
  signature: Signature,
  lives: readonly Life[],
  dims: Dims,
): Memory {
  const value = (e: Extent): number => Math.max(0, evaluateExtent(e, dims));
  const slots = artifact.plan.slots.map((s) => Math.max(0, ...s.sizes.map(value)));
  const sum = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);
  const bytes = (list: readonly TensorType[]): number => sum(list.map((t) => t.bytes));
  return {
    slots,
    lives,
    temporaryBytes: sum(slots),
    inputBytes: bytes(signature.inputs),
    outputBytes: bytes(signature.outputs),
    stateBytes: bytes(signature.states),
  };
}

/** A write of another value ends a life and begins the next; steps of loops count once, where they stand. */
export function livesOf(
  launches: readonly PlannedLaunch[],
  { target }: Artifact,
  nodes: NodeTable,
  dims: Dims,
): Life[] {
  type Open = { tensor: Tensor | undefined; life: Life };
  const open = new Map<number, Open>();
  const lives: Open[] = [];
  const begin = (slot: number, step: number, tensor: Tensor | undefined, bytes: number): void => {
    const node = tensor ? { node: nodes.idOf(tensor) } : {};
    const entry = { tensor, life: { slot, from: step, to: step, bytes, ...node } };
    open.set(slot, entry);
    lives.push(entry);
  };
  for (const [step, { lowered, places }] of launches.entries())
    for (const [i, place] of places.entries()) {
      if (place.in !== "slot") continue;
      const tensor = lowered.tensors[i];
      const now = open.get(place.index);
      const param = lowered.kernel.params[i]!;
      const writes = param.access !== "read";
      if (!now || (writes && now.tensor !== tensor))
        begin(place.index, step, tensor, bytesOf(param, target, dims));
      else now.life = { ...now.life, to: step };
    }
  return lives.map(({ life }) => life);
}

type Param = PlannedLaunch["lowered"]["kernel"]["params"][number];

function bytesOf({ size, dtype }: Param, target: Artifact["target"], dims: Dims): number {
  try {
    return evaluateDim(size, dims) * storageBytes(dtype, target);
  } catch {
    // The step of a loop has no value here.
    return 0;
  }
}
