/**
 * Where stored values lie when several of them are one tensor to the outside: the operands of a
 * concatenation along the leading axis are runs of its memory, so each is written in its place and
 * the concatenation costs nothing. That is how an optimizer keeps all moments of a parameter in one
 * tensor, which is one binding.
 */
import { addDim, type Dim, isOp, isStatic, sizeOf, type Tensor } from "@kiln-ml/ir";
import { aliasRoot, isLeaf, isVirtual } from "../access.ts";
import { nodesOf, type Program, rootsOf, type Storage } from "../program.ts";

export interface Stored {
  /** Nodes that must be stored. */
  readonly required: ReadonlySet<Tensor>;
  /** The required nodes that lie inside another tensor. */
  readonly storedIn: ReadonlyMap<Tensor, Storage>;
}

/** What a program's outputs and updates ask to be stored, and where. */
export function storageOf(program: Program): Stored {
  const roots = new Set(
    [...rootsOf(program), ...givenToRegions(program)].map(aliasRoot).filter((t) => !isLeaf(t)),
  );
  const required = new Set(roots);
  const storedIn = new Map<Tensor, Storage>();
  for (const { value, within } of program.outputs)
    if (within) storedIn.set(aliasRoot(value), within);
  for (const root of roots) {
    if (storedIn.has(root)) continue;
    const parts = partsOf(root);
    if (!parts || parts.some((p) => required.has(p.tensor))) continue;
    if (new Set(parts.map((p) => p.tensor)).size !== parts.length) continue;
    required.delete(root);
    for (const p of parts) {
      required.add(p.tensor);
      storedIn.set(p.tensor, { tensor: root, offset: p.offset });
    }
  }
  return { required, storedIn };
}

/** What nodes with regions, and kernels of the user, read. */
const givenToRegions = (program: Program): Tensor[] =>
  nodesOf(program).flatMap((t) => (t.regions.length || t.op === "customKernel" ? t.operands : []));

/** The nodes under a concatenation whose memory runs one after the other, and where each starts. */
export function partsOf(t: Tensor): Storage[] | undefined {
  if (!isOp(t, "concat")) return undefined;
  const { axis } = t.attrs;
  if (!t.shape.slice(0, axis).every((d) => d === 1)) return undefined;
  let offset: Dim = 0;
  const parts: Storage[] = [];
  for (const operand of t.operands) {
    const tensor = aliasRoot(operand);
    // What regions and kernels of the user give lies where their node says, whole.
    if (tensor.op === "result" || tensor.op === "customKernel") return undefined;
    if (isLeaf(tensor) || isVirtual(tensor) || !isStatic(sizeOf(tensor.shape))) return undefined;
    parts.push({ tensor, offset });
    offset = addDim(offset, sizeOf(tensor.shape));
  }
  return parts;
}
