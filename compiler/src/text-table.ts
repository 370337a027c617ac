/**
 * The texts of an artifact's kernels: equal kernels share one, and names are unique.
 */
import type { KernelText } from "@kiln-ml/artifact";
import type { CompileOptions } from "./compile.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { Started } from "./plan/share.ts";
import type { Target } from "./target.ts";

/** Kernel texts, those of equal kernels once, with names unique in the artifact. */
export class TextTable {
  readonly kernels: KernelText[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly names = new Set<string>();
  private readonly target: Target;
  private readonly options: CompileOptions;

  constructor(target: Target, options: CompileOptions) {
    this.target = target;
    this.options = options;
  }

  add({ kernel, key }: Started): number {
    const known = this.byKey.get(key) ?? this.print(kernel);
    this.byKey.set(key, known);
    return known;
  }

  private print(kernel: Kernel): number {
    // A kernel's name is a wish: the language may need the word for something else.
    const wanted = this.target.reserved?.has(kernel.name) ? `${kernel.name}_` : kernel.name;
    let name = wanted;
    for (let i = 2; this.names.has(name); i++) name = `${wanted}${i}`;
    this.names.add(name);
    const { rounding = "on-store", features = [] } = this.options;
    this.kernels.push(this.target.emit({ ...kernel, name }, { rounding, features }));
    return this.kernels.length - 1;
  }
}
