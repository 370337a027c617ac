/** The words of the glossary and the layout of docs/architecture.md against the tree. */
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { wrongLayout } from "./layout.ts";
import { repositoryFiles } from "./source-files.ts";
import { renamedWords } from "./words.ts";

const files = repositoryFiles();
const paths = files.map(({ path }) => path);

test("words that were renamed away do not come back", () => {
  assert.equal(renamedWords(files), []);
  const planted = (path: string, ...lines: string[]) => ({ path, text: lines.join("\n") });
  assert.equal(
    renamedWords([
      planted("compiler/src/fuse/a.ts", "", "const placement = find(node);"),
      planted("packages/kiln/src/a.ts", "const placement = choose(devices);"),
      planted("runtime/src/a.ts", "this.#crew.end(); // not increase"),
      planted("packages/optim/src/a.ts", "protected override move(move: Move): Tensor {"),
    ]),
    [
      "compiler/src/fuse/a.ts:2: placement is called ComputeAt now",
      "runtime/src/a.ts:1: crew is called executor, worker pool now",
      "packages/optim/src/a.ts:1: move(move is called Update now",
    ],
  );
});

test("docs/architecture.md tells every workspace and every part of the compiler, and nothing else", () => {
  const text = readFileSync("docs/architecture.md", "utf8");
  assert.equal(wrongLayout(text, paths), []);
  assert.equal(
    wrongLayout(
      text.replaceAll("`packages/nn`", "`packages/nm`").replace("`access.ts`", ""),
      paths,
    ),
    [
      "packages/nm: told, and not there",
      "packages/nn: not told",
      "compiler/src/access.ts: not told",
    ],
  );
});

test("a term has one row in the glossary", () => {
  const rows = readFileSync("docs/glossary.md", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (---|term)/.test(line));
  const terms = rows.flatMap((row) =>
    row
      .split("|")[1]!
      .split(",")
      .map((t) => t.trim()),
  );
  assert.equal(
    terms.filter((t, i) => terms.indexOf(t) !== i),
    [],
  );
  // Its term, its meaning, and what else the field says.
  assert.equal(
    rows.filter((row) => row.split("|").length !== 5),
    [],
  );
});

test.run();
