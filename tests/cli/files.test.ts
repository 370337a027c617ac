/**
 * Files that are not what they should be, or cannot be written: told with the name that the user
 * gave, in one line, without a place in our own sources, an error's class of others or a name that
 * nobody gave.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { heard } from "./heard.ts";
import { Project } from "./kiln.ts";

const project = new Project("files");
project.write("half.kiln", "no archive");
project.write(
  "model.js",
  `export const model = { fn: (x) => x.mul(2), inputs: [{ shape: [2], name: "x" }] };
`,
);
const folder = join(project.folder, "folder");
mkdirSync(folder);

/** In a process of its own, where every place is one of ours. */
const refuses = (args: readonly string[], err: string): void =>
  assert.equal(project.kiln(...args), { code: 1, out: "", err }, args.join(" "));

test("a damaged artifact is named by what opens one, and by what reads one", () => {
  const err =
    "ArtifactError: half.kiln: archive: offset 0: not the directory that packArtifact writes\n";
  refuses(["run", "half.kiln"], err);
  refuses(["inspect", "half.kiln"], err);
});

test("data is no script: kiln run says what it takes", async () => {
  const json = project.write("data.json", "{");
  const onnx = project.write("half.onnx", "no model");
  const what = "is neither a script nor an artifact\n  ";
  const advice = "kiln compile makes an artifact of it, kiln bench times it";
  assert.equal(await heard(() => main(["run", json])), {
    code: 2,
    out: "",
    err: `kiln run: ${json} ${what}name a .ts, .js or .kiln file\n`,
  });
  assert.equal(await heard(() => main(["run", onnx])), {
    code: 2,
    out: "",
    err: `kiln run: ${onnx} ${what}${advice}\n`,
  });
});

test("a page is written into a folder that is made; what is a folder is told by its name", async () => {
  const page = ["inspect", join(project.folder, "model.js"), "--html"];
  const made = join(project.folder, "new/page.html");
  assert.is((await heard(() => main([...page, made]))).code, 0);
  assert.ok(existsSync(made));
  refuses(
    ["inspect", "model.js", "--html", "folder"],
    "folder: illegal operation on a directory\n",
  );
});

test("a failure in a package of ours has no place in it", () => {
  const torn = project.write("torn.gguf", "no model");
  const { code, err } = project.kiln("generate", torn, "--prompt", "x");
  assert.is(code, 1);
  assert.match(err, /^LanguageModelError: torn\.gguf: /);
});

test("an option with a long head keeps its words apart from them", async () => {
  for (const command of ["run", "compile", "inspect", "bench", "tune", "generate", "chat", "serve"])
    for (const line of (await heard(() => main([command, "--help"]))).out.split("\n").slice(2))
      if (/^ {2}(-\w, )?--/.test(line)) assert.match(line, /^ {2}.{1,29}\S( {2,}\S|$)|^.{33,}$/);
});

test.run();
