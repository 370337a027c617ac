/**
 * The parameters of one kernel: a name for every tensor it reads or writes. Names come from the
 * program where it has them, so that kernel text can be read.
 */
import { type Dim, type Dtype, isFloat, sizeOf, type Tensor } from "@kiln-ml/ir";
import type { Param } from "../kernel/kernel.ts";
import { bufferName } from "../kernel/names.ts";

export class Buffers {
  private readonly names = new Map<Tensor, string>();
  private readonly taken = new Set<string>();
  readonly params: { tensor: Tensor | undefined; param: Param }[] = [];

  /**
   * The buffer's name; the first mention adds a parameter. Whether it is read or written is seen
   * in the kernel's statements in the end.
   */
  nameOf(t: Tensor): string {
    return this.names.get(t) ?? this.add(t);
  }

  /** Scratch memory of `size` elements; floats may be kept in more precision if `widened`. */
  scratch(wanted: string, dtype: Dtype, size: Dim, { widened = false } = {}): string {
    const name = this.free(wanted);
    const kept = widened && isFloat(dtype) ? ({ widened: true } as const) : {};
    const param: Param = { name, dtype, size, access: "scratch", width: 1, ...kept };
    this.params.push({ tensor: undefined, param });
    return name;
  }

  private add(t: Tensor): string {
    const name = this.free(nameOfBuffer(t));
    this.names.set(t, name);
    const size = sizeOf(t.shape);
    const param: Param = { name, dtype: t.dtype, size, access: "readwrite", width: 1 };
    this.params.push({ tensor: t, param });
    return name;
  }

  private free(wanted: string): string {
    let name = bufferName(wanted);
    for (let i = 2; this.taken.has(name); i++) name = bufferName(`${wanted}${i}`);
    this.taken.add(name);
    return name;
  }
}

/** Names that schedules give to what is their own: a buffer with another reads better. */
const usual = /^(?:[ijkmnrcgftyq]\d*|at\d+|acc.*|t\d+)$/;

/** The name that a tensor's buffer has if nothing else has it. */
export function nameOfBuffer(t: Tensor): string {
  const given = t.attrs.name;
  // Without the numbers of a path (`blocks.3.fc.weight`), layers of one shape have kernels of one
  // text.
  const path = typeof given === "string" ? given.replace(/(^|\.)\d+(?=\.)/g, "") : t.op;
  const safe = path
    .replace(/[^A-Za-z\d]+/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^_+|_+$/g, "")
    .replace(/^(?=\d)/, "_");
  return usual.test(safe) || safe === "" ? `${safe}_` : safe;
}
