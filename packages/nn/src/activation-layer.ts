/**
 * What layers that apply one function have in common.
 */
import { checkTensor, type Tensor } from "@kiln-ml/ir";
import { Module } from "./module.ts";

/** A layer without parameters that applies one function. */
export class Activation extends Module {
  private readonly fn: (x: Tensor) => Tensor;
  private readonly options: string;

  /** `args` are those of the class; they are printed unless `options` says otherwise. */
  constructor(
    run: (x: Tensor) => Tensor,
    args: readonly unknown[] = [],
    options = args.join(", "),
  ) {
    super(args);
    this.fn = run;
    this.options = options;
  }

  override forward(x: Tensor): Tensor {
    checkTensor("activation", x);
    return this.fn(x);
  }

  override describe(): string {
    return this.options;
  }
}
