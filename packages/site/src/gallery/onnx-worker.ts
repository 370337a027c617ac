/** Opens a dropped ONNX file, runs it, and inspects the program that it becomes, off the page's thread. */
import { type CompiledFunction, compile, type Tensor } from "kiln-ml";
import { type OpenedModel, openModel } from "kiln-ml/model";
import { loadOnnx } from "kiln-ml/onnx";
import { openTarget } from "./device.ts";
import { filled } from "./fill.ts";
import type { Filled, FromOnnx, Output, Port, ToOnnx } from "./onnx-messages.ts";

interface Scope {
  postMessage(message: FromOnnx): void;
  addEventListener(kind: "message", listen: (event: { readonly data: ToOnnx }) => void): void;
}
const scope = globalThis as unknown as Scope;
const post = (message: FromOnnx): void => scope.postMessage(message);

interface Opened {
  readonly model: OpenedModel;
  readonly inputs: readonly Port[];
  readonly bytes: Uint8Array;
}
let opened: Opened | undefined;

async function open({ bytes, target }: Extract<ToOnnx, { kind: "open" }>): Promise<void> {
  const device = await openTarget(target);
  // Without targets: the device that was opened is the default, a software adapter too.
  const model = await openModel(bytes);
  const portOf = ({ name, dtype, shape }: OpenedModel["inputs"][number]): Port => ({
    name,
    dtype,
    shape: shape.map((d) => d ?? "?"),
  });
  const inputs = model.inputs.map(portOf);
  opened = { model, inputs, bytes };
  post({ kind: "opened", device, inputs, outputs: model.outputs.map(portOf) });
}

type Filling = Readonly<Record<string, Filled>>;

async function run({ model, inputs, bytes }: Opened, filling: Filling): Promise<void> {
  const given = Object.fromEntries(
    inputs.map((port) => [port.name, filled(port.dtype, filling[port.name]!)]),
  );
  const started = performance.now();
  await model.run(given);
  const again = performance.now();
  const results = await model.run(given);
  const ended = performance.now();
  const outputs = Object.entries(results).map(
    ([name, { data, shape, dtype }]): Output => ({
      name,
      shape,
      dtype,
      data: Array.from(data as ArrayLike<number>, Number),
    }),
  );
  post({ kind: "ran", outputs, firstMs: again - started, ms: ended - again });
  await inspect(bytes, inputs, given);
}

/** The model once more as a compiled function, for these extents. One whose shapes a run decides has no single program to show. */
async function inspect(bytes: Uint8Array, inputs: readonly Port[], given: Record<string, Given>) {
  const model = loadOnnx(bytes);
  const names = inputs.map(({ name }) => name);
  const types = inputs.map(({ name, dtype }) => ({
    shape: given[name]!.shape,
    dtype: dtype === "i64" ? "i32" : dtype,
  }));
  const fn = compile(
    (...xs: Tensor[]) => model.apply(Object.fromEntries(xs.map((x, i) => [names[i]!, x]))),
    { inputs: types as never, name: "model" },
  ) as unknown as CompiledFunction<readonly never[], unknown>;
  post({ kind: "inspection", inspection: await fn.inspect() });
}

type Given = ReturnType<typeof filled>;

async function answer(message: ToOnnx): Promise<void> {
  if (message.kind === "open") await open(message);
  else if (opened) await run(opened, message.inputs);
}

scope.addEventListener("message", ({ data }) => {
  answer(data).catch((error: Error) =>
    post({ kind: "failed", text: `${error.name}: ${error.message}` }),
  );
});
