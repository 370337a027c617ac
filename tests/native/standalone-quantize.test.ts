/** `kiln compile --target native --quantize`: the folder of C computes what the js artifact does. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openModel } from "kiln-ml/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Project } from "../cli/kiln.ts";
import { skip } from "../support/skip.ts";
import { compilersHere, strict } from "./standalone-library.ts";

const project = new Project("standalone-quantize");
project.write(
  "layer.ts",
  `import { nn } from "kiln-ml";
nn.seed(1);
const net = new nn.Linear(96, 40);
export const model = { name: "layer", fn: (x) => net.forward(x), inputs: [[3, 96]] };
`,
);
const main = project.write(
  "main.c",
  `#include "few.h"
#include <stdio.h>
int main(void) {
  float x[288], y[120];
  for (int i = 0; i < 288; i++) x[i] = (float)(i * 37 % 23 - 11) / 8;
  const void *in[] = {x};
  void *out[] = {y};
  few_model *model = few_create("few.weights");
  if (!model || few_run(model, NULL, in, out) != 0) return puts(few_error()), 1;
  for (int i = 0; i < 120; i++) printf("%.9g\\n", y[i]);
  few_free(model);
}
`,
);
const at = (name: string): string => join(project.folder, name);

/** What the command says as JSON. */
function compiled(out: string, ...args: string[]) {
  const given = ["compile", "--no-check", "--json", at("layer.ts"), "-o", at(out), ...args];
  const { out: said, err } = project.kiln(...given);
  assert.is(err, "");
  return JSON.parse(said);
}

const [cc] = compilersHere;
const name = "a folder of C in few bits gives what the js artifact in as few gives";
if (cc === undefined) skip(name, "no compiler is here");
else
  test(name, async () => {
    const floats = compiled("floats", "--target", "native");
    const few = compiled("few", "--target", "native", "--quantize", "int8");
    const js = compiled("few.kiln", "--target", "js", "--quantize", "int8");
    assert.equal(few.quantized, js.quantized);
    assert.ok(few.files["few.weights"] < 0.4 * floats.files["floats.weights"]);
    assert.match(readFileSync(join(at("few"), "few.c"), "utf8"), '"weight.words", "u32"');
    const flags = [...strict.split(" "), "-std=c11", "-ffp-contract=off", "-fwrapv", "-I."];
    const files = [main, "few.c", "-lm", "-o", "main"];
    const here = { cwd: at("few"), encoding: "utf8" } as const;
    const built = spawnSync(cc, [...flags, ...files], here);
    assert.is(built.status, 0, built.stderr);
    const ran = spawnSync("./main", here);
    assert.is(ran.status, 0, ran.stdout);
    const got = ran.stdout.trim().split("\n").map(Number);
    const x = Float32Array.from({ length: 288 }, (_, i) => (((i * 37) % 23) - 11) / 8);
    const model = await openModel(at("few.kiln"), { targets: ["js"] });
    const { result } = await model.run({ arg0: { data: x, shape: [3, 96] } });
    const want = Array.from(result!.data as Float32Array);
    await model.dispose();
    assert.is(got.length, want.length);
    for (const [i, v] of want.entries())
      assert.ok(Math.abs(got[i]! - v) < 1e-5, `${i}: ${got[i]}, js ${v}`);
  });

test.run();
