/**
 * How layers of `modules.json` are run: against PyTorch's results and gradients by the reference evaluator; and compiled for js and wasm
 * with a batch that is a symbol, against the reference.
 */
import { dim, grad, input, trace } from "@kiln-ml/ir";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { asValue, checkLayer, Session } from "./fixture.ts";
import { layerOf, type ModuleCase } from "./module-cases.ts";

/** Throws unless the layer gives what PyTorch gave, moves its state as there, and compiles to what the reference gives. */
export function agreesWithPyTorch(c: ModuleCase): void {
  const layer = layerOf(c);
  const session = new Session().load(layer, c.state);
  checkLayer(layer, c, session, 2e-6);
  if (c.after) session.check(layer, c.after, 1e-5);
}

/** Throws unless js gives the bits of the reference and wasm is as near as its ops allow, with a batch known at the run. */
export async function compilesWithSymbol(c: ModuleCase): Promise<void> {
  const layer = layerOf(c);
  const dtype = c.dx ? "f32" : "i32";
  const [batch, ...rest] = c.x.shape;
  const x = input("x", dtype, [c.other ? batch! : dim("B"), ...rest]);
  const { value, updates } = trace(() => {
    const y = layer.forward(x);
    const sources = [...(c.dx ? [x] : []), ...layer.parameters()];
    return [y, ...(sources.length ? grad(y.mul(y).sum(), sources) : [])];
  });
  const feeds = new Map([[x, asValue(c.x, dtype)]]);
  const session = new Session().load(layer, c.state);
  for (const p of layer.state().values()) feeds.set(p, session.valueOf(p));
  const outputs = value.map((v, i) => ({ name: `out${i}`, value: v }));
  const program = { inputs: [x], outputs, updates: [...updates] };
  await agreesOnJs(program, feeds, { B: batch! });
  await agreesOnWasm(program, feeds, { B: batch! });
}
