import { input } from "@kiln-ml/ir";
import { compileProgram } from "../compiler/src/compile.ts";

const show = (name: string, x: any, outs: any[]) => {
  const { artifact } = compileProgram(
    { inputs: [x], outputs: outs.map((value, i) => ({ name: "y" + i, value })), updates: [] },
    { target: "wasm" },
  );
  console.log("=====", name, artifact.kernels.length);
  for (const k of artifact.kernels) {
    console.log(k.text);
    console.log(JSON.stringify(k.phases), JSON.stringify(k.stack), artifact.modules!.plain.length);
  }
};
const x = input("x", "f32", [6, 40]);
show("row", x, [x.cumsum(1).mul(2)]);
const y = input("x", "f32", [4, 40, 36]);
show("cols", y, [y.cumsum(1, { exclusive: true })]);
const z = input("x", "f32", ["N", 1000]);
show("long", z, [z.cumsum(1), z.sum(1)]);
