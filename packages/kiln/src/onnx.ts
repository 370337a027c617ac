/**
 * ONNX models that run: `loadOnnx` reads a file, and a model compiles itself for the inputs it is given. What the import must know and
 * only a run can tell (a `shape` input, the number of elements that are not zero) is computed on the target first.
 */
import "./devices/move.ts";
import "./eager/tensor-data.ts";
import type { Artifact } from "@kiln-ml/artifact";
import {
  checkOptions,
  DeviceError,
  GraphError,
  type HostArray,
  KilnError,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import {
  type Check,
  checkGraph,
  Demand,
  dtypeOf,
  type ElementType,
  elementTypeOf,
  ImportedModel,
  type Known,
  readModel,
  type TypeDef,
  typed,
  type Value,
  type ValueDef,
} from "@kiln-ml/onnx";
import type { KernelTiming, RunOptions } from "@kiln-ml/runtime/loader";
import { compile } from "./compile/compile.ts";
import type { CompileOptions } from "./compile/compile-options.ts";
import type { ExportOptions } from "./compile/export.ts";
import type { InputSpec } from "./compile/inputs.ts";
import { DeclaredExtents } from "./onnx/dims.ts";
import { type OnnxOptions, onnxOptions } from "./onnx/options.ts";
import { flagged, lookAt, numbersOf } from "./onnx/overflow.ts";
import { type Feeds, isFinal, keptStages, questionOf, remember, type Stage } from "./onnx/stage.ts";
import {
  copyOf,
  type Form,
  feedsOf,
  formOf,
  inputValue,
  leavesOf,
  type OnnxValue,
  readValue,
  tensorsOf,
} from "./onnx/values.ts";

export { exportOnnx, type OnnxExportOptions } from "./onnx/export.ts";
export type { OnnxOptions } from "./onnx/options.ts";
export type { OnnxTensor, OnnxValue } from "./onnx/values.ts";

type Inputs = Readonly<Record<string, OnnxValue>>;
/** What each input is, in the order of the call. */
type Forms = readonly (readonly [string, Form])[];
type Spec = Record<string, InputSpec>;

/** Reads a model; compiles nothing yet. Throws ArtifactError for damaged files, GraphError for unsupported ops. */
export function loadOnnx(bytes: Uint8Array, options: OnnxOptions = {}): OnnxModel {
  const { file, external, dims, ...compiling } = checkOptions("loadOnnx", options, onnxOptions);
  const model = readModel(bytes, {
    ...(file === undefined ? {} : { file }),
    ...(external ? { external } : {}),
  });
  return new OnnxModel(new ImportedModel(checkGraph(model, file)), compiling, dims ?? {});
}

export class OnnxModel {
  readonly #imported: ImportedModel;
  readonly #options: CompileOptions;
  readonly #extents: DeclaredExtents;
  readonly #stages = new Map<string, Stage>();
  /** Programs compiled of stages that are no longer kept. */
  #dropped = 0;
  /** Set once a symbolic import failed: programs are then compiled for the extents at hand. */
  #static: string | undefined;

  constructor(
    imported: ImportedModel,
    options: CompileOptions,
    dims: Readonly<Record<string, number | string>>,
  ) {
    this.#imported = imported;
    // An op of ONNX has a float32 result, which places and ties depend on.
    this.#options = { name: imported.model.graph.name || "model", rounding: "each-op", ...options };
    this.#extents = new DeclaredExtents(imported.model.graph.inputs, dims);
  }

  /** Inputs that a run must give. */
  get inputs(): readonly ValueDef[] {
    return this.#imported.inputs;
  }

  get outputs(): readonly ValueDef[] {
    return this.#imported.outputs;
  }

  /** The weights by name, for an optimizer, `stateBytes` and `loadState`; those that the graph uses. */
  get parameters(): ReadonlyMap<string, Tensor> {
    return this.#imported.parameters;
  }

  /** Programs compiled so far. */
  get compiles(): number {
    let n = 0;
    for (const { run } of this.#stages.values()) n += run.compiles;
    return n + this.#dropped;
  }

  /** Why programs are compiled for each set of extents, if they are. */
  get specialised(): string | undefined {
    return this.#static;
  }

  /** The outputs as nodes of the graph being built, for use inside `compile`: training, or a larger model. */
  apply(inputs: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
    const given = new Map<string, Value>();
    for (const [name, t] of Object.entries(inputs))
      given.set(name, typed(t, this.#typeOf(name) ?? elementTypeOf(t.dtype)));
    // By entries, since a name of the file may be that of a property of every object.
    return Object.fromEntries(
      [...this.#imported.apply(given)].map(([name, value]) => {
        if (value.kind !== "tensor")
          throw new GraphError(`onnx: output ${name} is ${value.kind}; apply gives tensors only`);
        return [name, value.tensor];
      }),
    );
  }

  /** Runs the model; `options` bound it where its loops are not trusted to end. Compiles what it meets for the first time. */
  async run(inputs: Inputs, options?: RunOptions): Promise<Record<string, OnnxValue>> {
    const { stage, results: tree } = await this.#reach(inputs, options);
    await lookAt(stage.checks, tree);
    const results = [...stage.outputs!.keys()].flatMap((name) => tree[name] ?? []);
    const arrays: HostArray[] = [];
    for (const t of results) arrays.push(await t.data());
    const shapes = results.map((t) => t.shape as readonly number[]);
    const next = { at: 0 };
    const outputs: [string, OnnxValue][] = [];
    for (const [name, value] of stage.outputs!)
      outputs.push([name, readValue(value, arrays, shapes, next)]);
    for (const t of results) t.dispose();
    return Object.fromEntries(outputs);
  }

  /**
   * Compiles and loads what a run comes to, as far as the file alone tells: for declared extents, and where values decide about
   * the rest of the graph, up to these. A run then finds it. What cannot be compiled is left to a run, which says why.
   */
  async prepare(): Promise<void> {
    const shapes = declaredShapes(this.inputs);
    if (!shapes) return;
    const symbolic = shapes.some((shape) => shape.some((d) => typeof d !== "number"));
    const forms = this.#declaredForms();
    const spec = () => this.#symbolicSpec();
    const stage = this.#stage(keyOf(forms, symbolic ? undefined : shapes), forms, new Map(), spec);
    try {
      await stage.run.prepare();
    } catch (error) {
      if (!(error instanceof KilnError) || error instanceof DeviceError) throw error;
      if (symbolic && stage.failure !== undefined) this.#static = stage.failure;
    }
  }

  /** Gives back what its programs and weights take on the device. The next run starts from the file again. */
  async dispose(): Promise<void> {
    const stages = [...this.#stages.values()];
    this.#stages.clear();
    for (const { run } of stages) {
      this.#dropped += run.compiles;
      await run.dispose();
    }
  }

  /** Runs once with the kernels timed. */
  async profile(inputs: Inputs): Promise<KernelTiming[]> {
    const { stage, feeds } = await this.#reach(inputs);
    return stage.run.profile(feeds);
  }

  /**
   * The model as a function of its inputs in order, with their types as declared: what `compile` and `exportArtifact` take.
   *
   * Throws GraphError where an input is no tensor or has no declared shape.
   */
  get program(): {
    readonly fn: (...inputs: Tensor[]) => Record<string, Tensor>;
    readonly inputs: readonly InputSpec[];
  } {
    const { inputs } = this;
    return {
      fn: (...given) =>
        this.apply(Object.fromEntries(inputs.map(({ name }, i) => [name, given[i]!]))),
      inputs: Object.values(this.#symbolicSpec()),
    };
  }

  /** The program as an artifact. Rejects with GraphError if import needs values that only a run can tell. */
  async artifact(options: ExportOptions = {}): Promise<Artifact> {
    const spec = () => this.#symbolicSpec();
    const stage = this.#stage("artifact", this.#declaredForms(), new Map(), spec, false);
    const artifact = await stage.run.artifact(options);
    // The program of a stage with a demand computes what is demanded, and nothing else.
    if (stage.demand !== undefined)
      throw new GraphError(
        `onnx: ${stage.demand} depends on inputs, so the model has no single program\n  run it through loadOnnx, or make that input an initializer`,
      );
    return artifact;
  }

  #typeOf(name: string): ElementType | undefined {
    const type = this.inputs.find((v) => v.name === name)?.type;
    return type?.kind === "tensor" ? type.type : undefined;
  }

  /** Runs stages until one gives the outputs. */
  async #reach(inputs: Inputs, options?: RunOptions) {
    const given = this.#inOrder(inputs);
    const forms = given.map(([name, value], i) => [name, formOf(value, `i${i}`)] as const);
    let feeds = feedsOf(given);
    const known = new Map<string, readonly number[]>();
    let own = false;
    for (;;) {
      options?.signal?.throwIfAborted();
      const symbolic = this.#static === undefined && this.#isSymbolic(feeds);
      const stage = this.#next(forms, feeds, known, symbolic);
      // Another program may follow, and the caller may write into an array by then.
      if (!own && !isFinal(stage)) [own, feeds] = [true, copyOf(feeds)];
      const question = questionOf(stage, feeds);
      const answer = question === undefined ? undefined : stage.answers.get(question);
      if (answer) {
        known.set(stage.demand!, answer);
        continue;
      }
      let results: Record<string, Tensor | Tensor[]>;
      try {
        results = await stage.run.run([feeds], options);
      } catch (error) {
        // What an import cannot tell of symbols it may tell of numbers; if not, the error is the same.
        if (!symbolic || stage.failure === undefined) throw error;
        this.#static = stage.failure;
        continue;
      }
      if (stage.demand === undefined) return { stage, results, feeds };
      const value = results.demand as Tensor;
      const values = await numbersOf(value);
      known.set(stage.demand, values);
      remember(stage.answers, questionOf(stage, feeds), values);
    }
  }

  /** The inputs in the order of the file, which feeds are numbered by. Throws GraphError for names that the model does not have. */
  #inOrder(inputs: Inputs): (readonly [string, OnnxValue])[] {
    const names = this.#imported.model.graph.inputs.map((v) => v.name);
    const unknown = Object.keys(inputs).find((name) => !names.includes(name));
    if (unknown !== undefined)
      throw new GraphError(
        `onnx: the model has no input ${unknown}\n  it has ${[...new Set(names)].join(", ")}`,
      );
    return names.flatMap((name) =>
      Object.hasOwn(inputs, name) ? [[name, inputs[name]!] as const] : [],
    );
  }

  #next(forms: Forms, feeds: Feeds, known: Known, symbolic: boolean): Stage {
    const spec = () => (symbolic ? this.#symbolicSpec() : specOf(forms, feeds));
    const shapes = symbolic ? undefined : Object.values(feeds).map((f) => f.shape);
    return this.#stage(keyOf(forms, shapes, known), forms, known, spec);
  }

  /** The stage of a key; its types are asked for when it is made. */
  #stage(key: string, forms: Forms, known: Known, specOfStage: () => Spec, checked = true): Stage {
    let stage = this.#stages.get(key);
    // The most recently used are the last.
    if (stage) this.#stages.delete(key);
    else {
      // The caller goes on adding to what is known.
      const then: Known = new Map(known);
      const made: Stage = {
        answers: new Map(),
        checked,
        run: compile((x: Record<string, Tensor>) => this.#trace(made, forms, x, then), {
          ...this.#options,
          inputs: [specOfStage()],
        }),
      };
      stage = made;
    }
    this.#stages.set(key, stage);
    for (const [oldest, { run }] of this.#stages) {
      if (this.#stages.size <= keptStages) break;
      this.#dropped += run.compiles;
      this.#stages.delete(oldest);
    }
    return stage;
  }

  #trace(
    stage: Stage,
    forms: Forms,
    x: Record<string, Tensor>,
    known: Known,
  ): Record<string, Tensor | Tensor[]> {
    const inputs = new Map(forms.map(([name, form]) => [name, inputValue(form, x)] as const));
    try {
      delete stage.demand;
      const checks: Check[] = [];
      stage.outputs = this.#imported.apply(inputs, known, checks);
      const results = [...stage.outputs].map(([name, v]) => [
        name,
        v.kind === "tensor" ? v.tensor : tensorsOf(v),
      ]);
      stage.checks = stage.checked ? checks : [];
      return { ...Object.fromEntries(results), ...flagged(stage.checks) };
    } catch (error) {
      if (!(error instanceof Demand)) {
        stage.failure = error instanceof Error ? error.message : String(error);
        throw error;
      }
      stage.demand = error.key;
      const needed = new Set(topologicalOrder([error.tensor]));
      stage.depends = Object.keys(x).filter((feed) => needed.has(x[feed]!));
      return { demand: error.tensor };
    }
  }

  /** Types of the inputs as declared; only where all are tensors. */
  #declaredForms(): Forms {
    return this.inputs.map(({ name, type }, i) => {
      if (type?.kind !== "tensor")
        throw new GraphError(`onnx: input ${name} is not declared as a tensor`);
      return [name, { kind: "tensor", type: type.type, feed: `i${i}` }];
    });
  }

  /** True if the file declares symbolic extents, nothing but tensors, and no extent at hand is 0. */
  #isSymbolic(feeds: Feeds): boolean {
    const given = Object.values(feeds);
    const types = this.inputs.map((v) => v.type);
    return (
      given.length === types.length &&
      types.every((type) => type?.kind === "tensor" && type.shape !== undefined) &&
      types.some((t) => t?.kind === "tensor" && t.shape!.some((d) => typeof d !== "number")) &&
      given.every(({ shape }) => !shape.includes(0))
    );
  }

  #symbolicSpec(): Spec {
    return Object.fromEntries(
      this.inputs.map(({ name, type }, i) => [`i${i}`, { ...this.#declared(name, type), name }]),
    );
  }

  #declared(name: string, type: TypeDef | undefined) {
    if (type?.kind !== "tensor" || !type.shape)
      throw new GraphError(`onnx: input ${name} has no declared shape`);
    const shape = type.shape.map((d, axis) => this.#extents.of(d, name, axis));
    return { dtype: dtypeOf(type.type, `onnx: input ${name}`), shape };
  }
}

/** What tells stages apart: forms, extents unless they are symbols, and what is known. */
function keyOf(
  forms: Forms,
  shapes: readonly (readonly unknown[])[] | undefined,
  known: Known = new Map(),
): string {
  const values = [...known].map(([key, v]) => `${key}=${v.join()}`).join(";");
  return `${JSON.stringify(forms)}|${shapes ? JSON.stringify(shapes) : "symbolic"}|${values}`;
}

/** The shapes that a file declares for its inputs, if all are tensors that have one. */
function declaredShapes(inputs: readonly ValueDef[]) {
  const shapes = inputs.map(({ type }) => (type?.kind === "tensor" ? type.shape : undefined));
  return shapes.every((shape) => shape !== undefined) ? shapes : undefined;
}

/** Types of the inputs at hand, extents and all. */
function specOf(forms: Forms, feeds: Feeds): Spec {
  const spec: Spec = {};
  for (const [name, form] of forms)
    for (const { feed, type } of leavesOf(form))
      spec[feed] = {
        shape: feeds[feed]!.shape,
        dtype: dtypeOf(type),
        name: feed === name ? name : `${name}.${feed}`,
      };
  return spec;
}
