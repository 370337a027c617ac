/**
 * A file of data is data: nothing beside it runs, nothing in it moves the terminal, nothing it
 * links to comes out.
 */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  dimFields,
  entryFields,
  type Fields,
  graphFields,
  modelFields,
  nodeFields,
  opsetFields,
  shapeFields,
  tensorFields,
  tensorTypeFields,
  typeFields,
  valueFields,
} from "../../packages/onnx/src/proto/fields.ts";
import { type Inputs, writeFields } from "../../packages/onnx/src/proto/write-fields.ts";
import { Project } from "./kiln.ts";

type Write = (writer: BinaryWriter) => void;

const part =
  <F extends Fields>(fields: F, inputs: Inputs<F>): Write =>
  (writer) =>
    writeFields(writer, fields, inputs);

const inline = part(tensorFields, { name: "w", dims: [2], type: 1, floats: [1, 2] });

/** y = x + w, with names that an attacker chose. */
function model(input: string, output = "y", w: Write = inline): Uint8Array {
  const dim = part(dimFields, { value: 2 });
  const tensor = part(tensorTypeFields, { type: 1, shape: part(shapeFields, { dims: [dim] }) });
  const value = (name: string) => part(valueFields, { name, type: part(typeFields, { tensor }) });
  const node = part(nodeFields, { op: "Add", inputs: [input, "w"], outputs: [output] });
  const graph = part(graphFields, {
    name: "g",
    nodes: [node],
    inputs: [value(input)],
    outputs: [value(output)],
    initializers: [w],
  });
  const opset = part(opsetFields, { version: 17 });
  const writer = new BinaryWriter();
  part(modelFields, { irVersion: 8, opsets: [opset], graph })(writer);
  return writer.finish();
}

/** The tensor w as bytes of a file beside the model. */
const outside = (location: string): Write =>
  part(tensorFields, {
    name: "w",
    dims: [2],
    type: 1,
    location: 1,
    external: [part(entryFields, { key: "location", value: location })],
  });

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come.
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/;

test("no command runs a package that lies beside a file of data", () => {
  const project = new Project("beside");
  const ran = join(project.folder, "ran");
  const evil = `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "");`;
  for (const name of [
    "kiln-ml",
    "@kiln-ml/ir",
    "@kiln-ml/compiler",
    "esbuild",
    "webgpu",
    "typescript",
  ]) {
    project.write(`node_modules/${name}/index.js`, evil);
    project.write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: "index.js" }));
  }
  const path = join(project.folder, "model.onnx");
  writeFileSync(path, model("x"));
  const commands = [
    ["inspect", path],
    ["compile", path, "-o", join(project.folder, "out.kiln")],
    ["bench", path, "--target", "js", "--runs", "1"],
    ["tune", path, "--target", "js"],
    ["inspect", join(project.folder, "out.kiln")],
  ];
  for (const args of commands) {
    const { code, err } = project.kiln(...args);
    assert.is(err, "", args.join(" "));
    assert.is(code, 0, args.join(" "));
    assert.not(existsSync(ran), args.join(" "));
  }
});

test("a file whose name is no script's is not run as one", () => {
  const project = new Project("names");
  const ran = join(project.folder, "ran");
  const refusals = {
    model:
      "model: is no script, no ONNX file and no model.json\n  name a .ts, .js, .onnx or .json file",
    "model.json": "ArtifactError: model.json: is no JSON: ",
  };
  for (const [name, refusal] of Object.entries(refusals)) {
    const path = project.write(
      name,
      `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "");`,
    );
    const { code, err } = project.kiln("compile", path, "-o", "out.kiln");
    assert.is(err.slice(0, refusal.length), refusal);
    assert.is(code, 1);
  }
  assert.not(existsSync(ran));
});

test("names of files are printed with their escapes in the open", () => {
  const project = new Project("escapes");
  const path = join(project.folder, "model.onnx");
  const hostile = "\x1b]0;title\x07\x1b[2J\x9b31m\u202ex\ry";
  writeFileSync(path, model(hostile, `${hostile}z`));
  const shown = project.kiln("inspect", path, "--stage", "all");
  const refused = project.kiln("compile", path, "-o", join(project.folder, "out.kiln"));
  for (const text of [shown.out, shown.err, refused.out, refused.err])
    assert.not.match(text, unseen);
  assert.ok(shown.out.includes("\\x1b]0;title\\x07\\x1b[2J\\x9b31m\\u202ex\\x0dy"));
});

test("external data behind a link come out of no command", () => {
  const project = new Project("links");
  const folder = join(project.folder, "data");
  mkdirSync(folder);
  project.write("secret", "12345678");
  symlinkSync("../secret", join(folder, "w.bin"));
  const path = join(folder, "model.onnx");
  writeFileSync(path, model("x", "y", outside("w.bin")));
  const { code, err } = project.kiln("compile", path, "-o", join(project.folder, "out.kiln"));
  assert.is(
    err,
    "ArtifactError: w.bin: a link leads out of the folder that the file must lie in\n  put the file itself in its place: cp -L copies what links point to\n",
  );
  assert.is(code, 1);
  assert.not(existsSync(join(project.folder, "out.kiln")));
});

test.run();
