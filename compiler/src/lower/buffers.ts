/**
 * The parameters of one kernel: a name for every tensor it reads or writes. Names come from the
 * program where it has them, so that kernel text can be read.
 */
import { type Dim, type Dtype, sizeOf, type Tensor } from "@kiln-ml/ir";
import type { Param } from "../kernel/kernel.ts";
import { bufferName } from "../kernel/names.ts";

export class Buffers {
  private readonly names = new Map<Tensor, string>();
  private readonly taken = new Set<string>();
  readonly params: { tensor: Tensor | undefined; param: Param }[] = [];

  /** The buffer's name; the first mention adds a parameter. */
  read(t: Tensor): string {
    return this.mention(t, "read");
  }

  write(t: Tensor): string {
    return this.mention(t, "write");
  }

  private mention(t: Tensor, access: "read" | "write"): string {
    const name = this.names.get(t);
    if (name === undefined) return this.add(t, access);
    const at = this.params.findIndex((p) => p.tensor === t);
    const { param } = this.params[at]!;
    if (param.access !== access)
      this.params[at] = { tensor: t, param: { ...param, access: "readwrite" } };
    return name;
  }

  /** Scratch memory of `size` elements. */
  scratch(wanted: string, dtype: Dtype, size: Dim): string {
    const name = this.free(wanted);
    this.params.push({
      tensor: undefined,
      param: { name, dtype, size, access: "scratch", width: 1 },
    });
    return name;
  }

  private add(t: Tensor, access: "read" | "write"): string {
    const name = this.free(nameOfBuffer(t));
    this.names.set(t, name);
    const param: Param = { name, dtype: t.dtype, size: sizeOf(t.shape), access, width: 1 };
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

/** Words that a target's language, or the schedules, use for something else. */
const reserved =
  /^(?:[ijkmnrcgftyq]\d*|at\d+|acc.*|t\d+|array|as|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|f16|f32|false|fn|for|function|i32|if|import|in|let|loop|main|new|null|override|private|ptr|return|static|struct|super|switch|this|throw|true|try|typeof|u32|uniform|var|vec[234]|void|while|with|yield|global|input|output|sampler|storage|target|texture|Math|Float32Array|Int32Array)$/;

/** The name that a tensor's buffer has if nothing else has it. */
export function nameOfBuffer(t: Tensor): string {
  const given = t.attrs.name;
  // Without the numbers of a path (`blocks.3.fc.weight`), layers of one shape have kernels of one
  // text.
  const path = typeof given === "string" ? given.replace(/(^|\.)\d+(?=\.)/g, "") : t.op;
  const safe = path
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^_+|_+$/g, "")
    .replace(/^(?=\d)/, "_");
  return reserved.test(safe) || safe === "" ? `${safe}_` : safe;
}
