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
  type Dim,
  GraphError,
  type HostArray,
  KilnError,
  ShapeError,
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
  typed,
  type Value,
  type ValueDef,
} from "@kiln-ml/onnx";
import type { KernelTiming, RunOptions } from "@kiln-ml/runtime/loader";
import { compile } from "./compile/compile.ts";
import type { CompileOptions } from "./compile/compile-options.ts";
import type { ExportOptions } from "./compile/export.ts";
import { declare, type InputSpec, inputTree, isSpec } from "./compile/inputs.ts";
import { traceFunction } from "./compile/traced.ts";
import { DeclaredExtents } from "./onnx/dims.ts";
import { declaredShapes, type Forms, keyOf, type Spec, specOf } from "./onnx/forms.ts";
import { type OnnxOptions, onnxOptions } from "./onnx/options.ts";
import { flagged, lookAt, numbersOf } from "./onnx/overflow.ts";
import { type Feeds, isFinal, questionOf, remember, type Stage, Stages } from "./onnx/stage.ts";
import {
  copyOf,
  feedsOf,
  formOf,
  inputValue,
  type OnnxValue,
  readValue,
  tensorsOf,
} from "./onnx/values.ts";

export { exportOnnx, type OnnxExportOptions } from "./onnx/export.ts";
export type { OnnxOptions } from "./onnx/options.ts";
export type { OnnxTensor, OnnxValue } from "./onnx/values.ts";

type Inputs = Readonly<Record<string, OnnxValue>>;

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
  readonly #stages = new Stages();
  /** Why programs are compiled for the extents at hand, by the symbols that are 0: the symbolic import failed. */
  readonly #static = new Map<string, string>();
  /** Whether what is to be learnt of extents has been. */
  #explored = false;

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
    return this.#stages.compiles;
  }

  /** Why programs are compiled for each set of extents, if they are. */
  get specialised(): string | undefined {
    return this.#static.get("");
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
          throw new GraphError(
            `${this.#imported.dialect.name}: output ${name} is ${value.kind}; apply gives tensors only`,
          );
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
    const key = keyOf(forms, symbolic ? "" : shapes);
    for (;;) {
      const stage = this.#stage(key, forms, new Map(), spec);
      try {
        return await stage.run.prepare();
      } catch (error) {
        if (!(error instanceof KilnError) || error instanceof DeviceError) throw error;
        if (!symbolic || !this.#goesOn(stage, "")) return;
      }
    }
  }

  /** Gives back what its programs and weights take on the device. The next run starts from the file again. */
  async dispose(): Promise<void> {
    for (const { run } of this.#stages.drop(() => true)) await run.dispose();
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
        `${this.#imported.dialect.name}: ${stage.demand} depends on inputs, so the model has no single program\n  run it through ${this.#imported.dialect.loader}, or make that input an initializer`,
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
      if (Object.values(feeds).some((f) => f.shape.includes(0))) this.#explore(forms);
      const empty = this.#emptyIn(feeds);
      const stage = this.#next(forms, feeds, known, empty);
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
        if (!empty || stage.failure === undefined) throw error;
        this.#goesOn(stage, [...empty].join());
        continue;
      }
      if (stage.demand === undefined) return { stage, results, feeds };
      const value = results.demand as Tensor;
      const values = await numbersOf(value);
      known.set(stage.demand, values);
      remember(stage.answers, questionOf(stage, feeds), values);
    }
  }

  /** Imports with all symbols once, for what is to be learnt before some of them are 0. */
  #explore(forms: Forms): void {
    const spec = () => inputTree([this.#symbolicSpec()], isSpec, declare);
    while (!this.#explored && !this.#static.has("")) {
      const stage = { answers: new Map(), checked: false } as Partial<Stage> as Stage;
      try {
        traceFunction(
          (x: Record<string, Tensor>) => this.#trace(stage, forms, x, new Map()),
          spec(),
        );
        this.#explored = true;
      } catch (error) {
        if (!this.#goesOn(stage, "")) this.#explored = true;
        if (!(error instanceof KilnError)) throw error;
      }
    }
  }

  /**
   * After an import with symbols that failed: true if it is worth another, as something was learnt. Else programs are compiled for the
   * numbers, since what an import cannot tell of symbols it may tell of them; if not, the error is the same.
   */
  #goesOn(stage: Stage, empty: string): boolean {
    if (stage.failure === undefined) return false;
    const [a, b] = stage.apart ?? [];
    // Where a symbol is 0, others look equal that are not.
    const learnt = a !== undefined && b !== undefined && !empty && this.#extents.learn(a, b);
    if (!learnt) {
      this.#static.set(empty, stage.failure);
      return false;
    }
    this.#stages.drop((key) => key.includes("|symbolic "));
    return true;
  }

  /** The inputs in the order of the file, which feeds are numbered by. Throws GraphError for names that the model does not have. */
  #inOrder(inputs: Inputs): (readonly [string, OnnxValue])[] {
    const names = this.#imported.model.graph.inputs.map((v) => v.name);
    const unknown = Object.keys(inputs).find((name) => !names.includes(name));
    if (unknown !== undefined)
      throw new GraphError(
        `${this.#imported.dialect.name}: the model has no input ${unknown}\n  it has ${[...new Set(names)].join(", ")}`,
      );
    return names.flatMap((name) =>
      Object.hasOwn(inputs, name) ? [[name, inputs[name]!] as const] : [],
    );
  }

  #next(forms: Forms, feeds: Feeds, known: Known, empty: ReadonlySet<string> | undefined): Stage {
    const spec = () => (empty ? this.#symbolicSpec(empty) : specOf(forms, feeds));
    const shapes = empty ? [...empty].join() : Object.values(feeds).map((f) => f.shape);
    return this.#stage(keyOf(forms, shapes, known), forms, known, spec);
  }

  /** The stage of a key; its types are asked for when it is made. */
  #stage(key: string, forms: Forms, known: Known, specOfStage: () => Spec, checked = true): Stage {
    return this.#stages.of(key, () => {
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
      return made;
    });
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
        if (error instanceof ShapeError) stage.apart = error.apart as [Dim, Dim] | undefined;
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
        throw new GraphError(
          `${this.#imported.dialect.name}: input ${name} is not declared as a tensor`,
        );
      return [name, { kind: "tensor", type: type.type, feed: `i${i}` }];
    });
  }

  /**
   * The symbols that are 0 in a run with symbols; undefined where there is none to be had: the file declares no symbolic extents, or
   * something else than tensors, or the extents at hand do not fit.
   */
  #emptyIn(feeds: Feeds): ReadonlySet<string> | undefined {
    const shapes = Object.values(feeds).map((f) => f.shape as readonly number[]);
    const declared = declaredShapes(this.inputs);
    if (!declared || shapes.length !== declared.length) return undefined;
    if (!declared.some((shape) => shape.some((d) => typeof d !== "number"))) return undefined;
    // A rank or a number that is not as declared is told of by the run.
    const fits = declared.every((shape, i) => shape.length === shapes[i]!.length);
    const empty = fits ? this.#extents.emptyIn(this.inputs, shapes) : new Set<string>();
    return empty && !this.#static.has([...empty].join()) ? empty : undefined;
  }

  #symbolicSpec(empty?: ReadonlySet<string>): Spec {
    return Object.fromEntries(
      this.inputs.map((def, i) => [`i${i}`, { ...this.#declared(def, empty), name: def.name }]),
    );
  }

  #declared(def: ValueDef, empty?: ReadonlySet<string>) {
    const shape = this.#extents.shapeOf(def, empty);
    if (def.type?.kind !== "tensor" || !shape)
      throw new GraphError(
        `${this.#imported.dialect.name}: input ${def.name} has no declared shape`,
      );
    return {
      dtype: dtypeOf(def.type.type, `${this.#imported.dialect.name}: input ${def.name}`),
      shape,
    };
  }
}
