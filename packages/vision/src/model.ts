/**
 * The base of all models here: a module that knows where it runs, and trains itself. What a model
 * computes is its own matter; `train` is
 * `fit` of `@kiln-ml/train` with settings that suit classes.
 */
import { augment, DataLoader, type Dataset, type Fields } from "@kiln-ml/data";
import { checkRecord, checkTensor, GraphError, kindOf, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { AdamW } from "@kiln-ml/optim";
import {
  type Backend,
  type Batches,
  type EvaluateOptions,
  evaluate,
  type FitOptions,
  fit,
  type History,
  type Logs,
  type Loss,
  metrics,
  type Predicted,
  predict,
  type StepResult,
} from "@kiln-ml/train";

export interface ModelOptions {
  /** Classes of the result; 1000 by default. */
  readonly classes?: number;
  /** Channels of the images; 3 by default. */
  readonly channels?: number;
  /** Where it runs: "js", "wasm", "native", "webgpu", or "auto", which is the default. */
  readonly backend?: Backend;
}

/** Options of `fit`; those that a model needs have values. */
export interface TrainConfig extends Partial<Omit<FitOptions, "validation">> {
  readonly validation?: ImageData | undefined;
  /** The rate of AdamW, if there is no `optimizer`; 1e-3 by default. */
  readonly lr?: number;
  /** Samples a batch, for a data set that is no loader; 32 by default. */
  readonly batch?: number;
}

/** A loader, or a data set of images and labels. */
export type ImageData = Batches | Dataset<Fields>;

const backends: readonly unknown[] = ["auto", "js", "wasm", "native", "webgpu"];

/** What a constructor's two arguments come to: a backend, options, or both. */
export function optionsOf<T extends ModelOptions>(
  op: string,
  first: Backend | T | undefined,
  second: T | undefined,
): T & { readonly classes: number; readonly channels: number } {
  const given = typeof first === "string" ? { ...second, backend: first } : { ...first };
  const { backend, classes = 1000, channels = 3 } = given as ModelOptions;
  if (backend !== undefined && !backends.includes(backend))
    throw new GraphError(
      `${op}: there is no backend ${String(backend)}\n  take "js", "wasm", "native", "webgpu" or "auto"`,
    );
  return { ...(given as T), classes, channels };
}

/** A model for images, f32[N, C, H, W] or bytes u8[N, H, W, C]. */
export abstract class VisionModel extends nn.Module {
  /** Where it is trained and runs, unless its parameters were moved by `to`. */
  backend: Backend | undefined;

  constructor(backend: Backend | undefined, args: readonly unknown[] = []) {
    super(args);
    this.backend = backend;
  }

  /** The result for images f32[N, C, H, W]. */
  protected abstract compute(x: Tensor): Tensor;

  override forward(x: Tensor): Tensor {
    checkTensor("vision", x);
    return this.compute(imagesOf(x));
  }

  /** The step that `train` compiles: images, labels → the loss. */
  step(images: Tensor, labels: Tensor, loss: Loss): StepResult {
    const output = this.forward(images);
    return { loss: loss(output, labels), output, target: labels };
  }

  /** Sets the mode, as every module does. */
  override train(on?: boolean): this;
  /**
   * Trains on `data` with AdamW and cross-entropy, unless `config` says otherwise; it takes all
   * options of `fit`, and `lr` and `batch`. Resolves to what each epoch measured.
   *
   *     await vision.googlenet("wasm", { classes: 10 }).train(photos, { epochs: 5, validation });
   */
  override train(data: ImageData, config?: TrainConfig): Promise<History>;
  override train(
    data: boolean | ImageData = true,
    config: TrainConfig = {},
  ): this | Promise<History> {
    if (typeof data === "boolean") return super.train(data);
    checkRecord("train", config, "config");
    const { lr = 1e-3, batch = 32, loss = nn.crossEntropy, validation, ...rest } = config;
    return fit(this, loaderOf(data, batch, config.seed ?? 0, true), {
      optimizer: (params) => new AdamW(params, { lr }),
      metrics: [metrics.accuracy()],
      step: (x, y) => this.step(x!, y!, loss),
      target: this.backend,
      ...(validation && { validation: loaderOf(validation, batch, 0, false) }),
      ...rest,
    });
  }

  /** Loss and accuracy over `data`, or the metrics of `config`. */
  evaluate(
    data: ImageData,
    config: EvaluateOptions & { readonly batch?: number } = {},
  ): Promise<Logs> {
    checkRecord("evaluate", config, "config");
    const { batch = 32, loss = nn.crossEntropy, ...rest } = config;
    return evaluate(this, loaderOf(data, batch, 0, false), {
      metrics: [metrics.accuracy()],
      step: (x, y) => this.step(x!, y!, loss),
      target: this.backend,
      ...rest,
    });
  }

  /** What `forward` gives for all images of `data`, in their order. */
  predict(data: ImageData, config: { readonly batch?: number } = {}): Promise<Predicted> {
    checkRecord("predict", config, "config");
    const { batch = 32 } = config;
    return predict(this, loaderOf(data, batch, 0, false), { target: this.backend });
  }
}

/** Bytes [N, H, W, C] as f32[N, C, H, W] of 0 to 1; what is f32 stays. */
export const imagesOf = (x: Tensor): Tensor => (x.dtype === "u8" ? augment.fromBytes(x) : x);

function loaderOf(data: unknown, batch: number, seed: number, shuffle: boolean): Batches {
  if (data instanceof Object && Symbol.asyncIterator in data) return data as Batches;
  if (!(data instanceof Object && "gather" in data))
    throw new GraphError(
      `vision: takes a loader or a data set of images and labels, got ${kindOf(data)}\n  data.fromArrays([images, labels], [[3, 32, 32], []]) makes one, imageFolder another`,
    );
  return new DataLoader(data as Dataset<Fields>, { batch, shuffle, seed });
}
