/** `--extents`: what the symbols of an ONNX file are, so that it compiles ahead of its inputs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { GraphError } from "@kiln-ml/ir";
import { writeModel } from "@kiln-ml/onnx";
import { loadOnnx } from "kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { int64, modelOf } from "../onnx/small-model.ts";
import { Project } from "./kiln.ts";

const project = new Project("extents");
const path = join(project.folder, "small.onnx");
// An extent without a name is called by its place.
const model = modelOf({
  inputs: { x: ["rows", ""] },
  initializers: { to: int64([4, 3]) },
  nodes: [{ op: "Reshape", inputs: ["x", "to"] }],
});
writeFileSync(path, writeModel(model));

test("numbers take the place of symbols, with names and without", () => {
  const args = ["small.onnx", "-o", "small.kiln", "--target", "js"];
  const { code, err, out } = project.kiln("compile", ...args, "--extents", "rows=6,x_1=2");
  assert.is(err, "");
  assert.match(out, /^wrote small\.kiln: small for js, /);
  assert.is(code, 0);
  const { out: shown } = project.kiln("inspect", "small.kiln", "--stage", "signature");
  assert.match(shown, "f32[6,2]");
  assert.match(shown, "f32[4,3]");
});

test("one may be an expression in others", () => {
  const relu = modelOf({ inputs: { x: ["rows", ""] }, nodes: [{ op: "Relu", inputs: ["x"] }] });
  writeFileSync(join(project.folder, "relu.onnx"), writeModel(relu));
  const how = ["--stage", "signature", "--extents", "rows=6*k,x_1=2"];
  const { err, out } = project.kiln("inspect", "relu.onnx", ...how);
  assert.is(err, "");
  assert.match(out, /f32\[(6\*k|6k|k\*6),2\]/);
});

test("a name that the file does not have is refused", () => {
  const { code, err } = project.kiln("bench", "small.onnx", "--extents", "row=6");
  assert.is(err, "kiln bench: the model has no dim row\n  its dims are rows, x_1\n");
  assert.is(code, 2);
});

test("an extent that is none is told by its name", () => {
  const bytes = writeModel(model);
  for (const given of ["-1", "2*", "--", "(3", "k k", "", -1, 1.5, 2 ** 60])
    assert.throws(
      () => loadOnnx(bytes, { dims: { rows: given } }),
      (e: Error) =>
        e instanceof GraphError &&
        e.message ===
          `loadOnnx: the extent rows must be a whole number or an expression in symbols, got ${JSON.stringify(given)}\n  such as { "rows": 64 }, or "32*h"`,
    );
  const { err, code } = project.kiln("bench", "small.onnx", "--extents", "__proto__=3");
  assert.match(err, "the model has no dim __proto__");
  assert.is(code, 2);
});

test.run();
