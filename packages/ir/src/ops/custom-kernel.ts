/**
 * Kernels of the user: a node whose loops are text of a target's language, which the compiler puts
 * into a kernel of its own as it stands. It knows the type of the result and nothing of the values,
 * so that nothing is fused into such a kernel.
 */
import type { Dim } from "../dim.ts";
import { type Dtype, isHalf } from "../dtype.ts";
import { checkOptions, DtypeError, GraphError, type OptionNames } from "../errors.ts";
import { checkExtentKind, kindOf } from "../kind.ts";
import type { Attrs, ResultType, Tensor } from "../node.ts";
import { defineOp } from "../op.ts";
import { checkShape, type Shape, sizeOf } from "../shape.ts";
import { currentValue } from "../trace.ts";
import { type CustomVjp, customVjp } from "../transforms/custom-vjp.ts";
import { apply, checkTensor } from "./apply.ts";

defineOp({
  name: "customKernel",
  family: "control",
  infer(_operands, _attrs, node) {
    if (!node) throw new GraphError("customKernel: the type of the result is missing");
    return { dtype: node.dtype, shape: node.shape };
  },
  vjp(_g, y) {
    const where = y.site ? ` (${y.site})` : "";
    throw new GraphError(
      `grad: customKernel ${String(y.attrs.name)} has no vjp${where}\n  give it one, or put stopGradient around it if it is to count as a constant`,
    );
  },
});

export interface CustomKernelOptions {
  /** What profiles and errors call it; an identifier. */
  readonly name: string;
  /** What the texts call the operands, in order. The result is `y`. */
  readonly operands: readonly string[];
  /** The type of the result from those of the operands; that of the first one by default. */
  readonly result?: (...xs: Tensor[]) => { readonly dtype?: Dtype; readonly shape: Shape };
  /**
   * Statements of JavaScript that fill `y`: operands and `y` are typed arrays. For the target js.
   */
  readonly js?: string;
  /**
   * Statements of WGSL, run for each i32 `i` from 0 to `threads`: operands and `y` are storage
   * arrays. For the target webgpu.
   */
  readonly wgsl?: string;
  /** How often the WGSL runs; for each element of the result by default. */
  readonly threads?: (...xs: Tensor[]) => Dim;
  /** Invocations in a workgroup; default 64. */
  readonly workgroupSize?: number;
  /** Cotangents of the operands, as for `customVjp`. Without it there is no gradient. */
  readonly vjp?: CustomVjp;
}

const names: OptionNames<CustomKernelOptions> = {
  name: 1,
  operands: 1,
  result: 1,
  js: 1,
  wgsl: 1,
  threads: 1,
  workgroupSize: 1,
  vjp: 1,
};

/**
 * A function of tensors whose loops the user wrote: y = the kernel of the operands, in one launch.
 *
 * In the texts each operand and `y` is an array, row-major; of `x` there are also `x_size`, its
 * elements, and `x_shape`, its extents, which may be symbols. An array may be longer than its
 * tensor. Every element of `y` must be written, and nothing else. Operands and result are f32, i32
 * or u32; on js f64 too.
 *
 * → a function of as many tensors. A program with it compiles for targets that it has text for, and
 * its artifact needs nothing more. `vmap` runs it for one place after the other. As
 * `torch.library.custom_op` with a kernel.
 *
 * Throws GraphError if there is no text, a name is no identifier, the number of operands differs,
 * or the program is compiled for a target without text; DtypeError for other dtypes.
 *
 * @example
 *   const cube = customKernel({
 *     name: "cube",
 *     operands: ["x"],
 *     js: "for (let i = 0; i < y_size; i++) y[i] = x[i] ** 3;",
 *     wgsl: "y[i] = x[i] * x[i] * x[i];",
 *     vjp: ([g], _y, x) => [g.mul(x.square()).mul(3)],
 *   });
 *   cube(tensor([1, 2, 3])) // [1, 8, 27]
 */
export function customKernel(options: CustomKernelOptions): (...xs: Tensor[]) => Tensor {
  checkOptions("customKernel", options, names);
  checkTexts(options);
  checkNames(options);
  const make = (...xs: Tensor[]): Tensor => {
    if (xs.length !== options.operands.length)
      throw new GraphError(
        `${options.name}: the kernel has ${options.operands.length} operands, got ${xs.length}\n  pass one for each: ${options.operands.join(", ")}`,
      );
    for (const x of xs) checkTensor(options.name, x);
    return node(options, xs.map(currentValue));
  };
  return options.vjp ? customVjp(make, options.vjp) : make;
}

/**
 * Names that the texts have besides: `y`, `i`, `threads`, and those with these beginnings and ends.
 */
const taken = /^(?:y|i|threads|dims|workgroup|invocation|dim_.*|.*_(?:size|shape))$/;

function checkNames({ name, operands, workgroupSize: w }: CustomKernelOptions): void {
  if (typeof name !== "string" || !/^[A-Za-z]\w*$/.test(name))
    throw new GraphError(
      `customKernel: the name must be an identifier, got ${kindOf(name)}\n  use letters, digits and _`,
    );
  if (!Array.isArray(operands) || operands.length === 0)
    throw new GraphError(
      `customKernel: operands must be a list of names, got ${kindOf(operands)}\n  name each operand as the texts do`,
    );
  for (const [i, operand] of operands.entries())
    if (!/^[A-Za-z]\w*$/.test(operand) || taken.test(operand) || operands.indexOf(operand) < i)
      throw new GraphError(
        `customKernel: ${name} cannot call an operand ${kindOf(operand)}\n  use identifiers, each once; y, i, threads, and names such as x_size and dim_n are taken`,
      );
  if (w !== undefined && !(Number.isInteger(w) && w > 0 && w <= 256))
    throw new GraphError(
      `customKernel: workgroupSize of ${name} is ${kindOf(w)}\n  it is a whole number from 1 to 256`,
    );
}

function checkTexts({ name, js, wgsl }: CustomKernelOptions): void {
  if (typeof js !== "string" && typeof wgsl !== "string")
    throw new GraphError(
      `customKernel: ${kindOf(name)} has no text\n  give it js, wgsl or both, as statements`,
    );
}

function node(options: CustomKernelOptions, xs: readonly Tensor[]): Tensor {
  const { name, operands, js, wgsl, workgroupSize = 64 } = options;
  const { dtype = xs[0]!.dtype, shape } = options.result?.(...xs) ?? xs[0]!;
  checkShape(name, shape);
  for (const d of [...xs.map((x) => x.dtype), dtype])
    if (isHalf(d) || !["f32", "i32", "u32", "f64"].includes(d))
      throw new DtypeError(
        `${name}: a kernel of the user takes and gives f32, i32, u32 or f64, got ${d}\n  convert it before and after`,
      );
  const threads = options.threads?.(...xs) ?? sizeOf(shape);
  checkExtentKind(name, "threads", threads);
  const texts = { ...(js === undefined ? {} : { js }), ...(wgsl === undefined ? {} : { wgsl }) };
  const attrs: Attrs = { name, operands: operands.join(), threads, workgroupSize, ...texts };
  return apply("customKernel", xs, attrs, { dtype, shape } satisfies ResultType);
}
