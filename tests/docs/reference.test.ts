/**
 * The reference: every public name has words, a name elsewhere, words for each parameter, and an
 * example that runs on js and gives what it says; every name in the tables of other libraries
 * exists.
 */
import { readCheckpoint, terminal } from "@kiln-ml/train/node";
import * as kiln from "kiln-ml";
import * as train from "kiln-ml/train";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Entry,
  entriesOf,
  foreignNames,
  referenceParts,
} from "../../packages/tools/src/docs/reference.ts";
import { runExample } from "./example.ts";
import { examplesScope } from "./reference-scope.ts";

// Examples set what is set once for a process: afterwards it is as `kiln-ml` and `kiln-ml/train`
// leave it.
const { compile, to: move, stateBytes, loadState } = kiln;
test.before(() => {
  kiln.setDefaultTarget("js");
  train.surround({ readCheckpoint, renderer: () => undefined });
});
test.after(() => {
  kiln.setDefaultTarget("auto");
  train.plug({ compile, move, stateBytes, loadState } as never);
  train.surround({ readCheckpoint, renderer: terminal });
});

/**
 * Whether there is what a path names, as in `coverage.test.ts`; a method of a class counts as its
 * name.
 */
function exists(path: string): boolean {
  const names = path
    .replace(/^kiln\./, "")
    .replace(/^Tensor\.(?=.)/, "Tensor.prototype.")
    .split(".");
  let at: unknown = kiln;
  for (const [i, name] of names.entries()) {
    if (typeof at === "function" && !(name in at)) at = at.prototype;
    if (!(at instanceof Object || typeof at === "object") || !(name in (at as object)))
      return false;
    if (i < names.length - 1) at = (at as Record<string, unknown>)[name];
  }
  return true;
}

const parts = referenceParts().map((part) => ({ page: part.page, entries: entriesOf(part) }));

/** Entries whose example has nothing to compare. They may become fewer. */
const unchecked = ["train.plug", "train.surround"];

/** A name of another library, or that there is none. */
const elsewhere =
  /\b(?:torch|torch\w+|F|numpy|jax|flax|optax|keras|tf|scipy|sklearn|timm|pandas|mne|lightning)\.\w|[Nn]o\s+counterpart\s+in\s+PyTorch/;

/** Whether words tell a parameter apart: `axis`, "x: f32[N, C]" or "x[n, m]". */
const tells = (text: string, name: string): boolean =>
  new RegExp(
    `(?:^|[\\s(,])${name}(?:, \\w+)*(?: and \\w+)?:\\s|\`${name}\`|(?:^|[\\s(,])${name}\\[`,
    "m",
  ).test(text);

/** What nobody says of an entry: parameters without words, and options without. */
function unsaid({ name, parameters, params, options, text }: Entry): string[] {
  const said = (p: string): boolean =>
    params.some((line) => line.startsWith(`${p} `)) ||
    options.some((o) => o.name.startsWith(`${p}.`)) ||
    tells(text, p);
  return [
    ...parameters.filter((p) => !said(p.name)).map((p) => `${name}: ${p.name}`),
    ...options.filter((o) => !o.comment).map((o) => `${name}: ${o.name}`),
    ...params
      .filter((line) => !parameters.some((p) => line.startsWith(`${p.name} `)))
      .map((line) => `${name} has no parameter ${line}`),
  ];
}

for (const { page, entries } of parts) {
  test(`${page}: every name has words, a form to call it in, and its name elsewhere`, () => {
    assert.ok(entries.length > 2, page);
    const names = (of: readonly Entry[]) => of.map((e) => e.name);
    assert.equal(names(entries.filter((e) => e.text.length < 8)), []);
    assert.equal(names(entries.filter((e) => !e.forms.every((f) => /\(.*\)/.test(f)))), []);
    assert.equal(names(entries.filter((e) => !elsewhere.test(e.text))), []);
  });

  test(`${page}: every parameter and every option has words`, () => {
    assert.equal(entries.flatMap(unsaid), []);
  });

  test(`${page}: every name has an example, which gives what it says`, async () => {
    const wrong: string[] = [];
    for (const { name, examples } of entries) {
      let compared = 0;
      for (const code of examples)
        compared += await runExample(code, examplesScope(page, name)).catch((e: Error) => {
          wrong.push(`${name}: ${e.message}\n${code}`);
          return 1;
        });
      if (compared ? unchecked.includes(name) : !unchecked.includes(name))
        wrong.push(`${name}: ${compared} values are compared`);
    }
    assert.equal(wrong, []);
  });
}

/** What lines of the tables find. */
function ofTables(): Record<string, unknown> {
  const { nn, param, tensor } = kiln;
  const net = new nn.Sequential(new nn.Linear(3, 3), new nn.Linear(3, 3));
  const x = kiln.arange(12).convert("f32").reshape([3, 4]);
  const i = tensor([2, 0], { dtype: "i32" });
  return { ...kiln, net, x, i, v: tensor([1, 2]), w: param([1, 2]) };
}

for (const { title, rows } of foreignNames()) {
  test(`${title}: every name exists, and none stands twice`, () => {
    assert.equal(
      rows
        .filter(([, here]) => !exists(here) && !(here in kiln.Tensor.prototype))
        .map(([, here]) => here),
      [],
    );
    assert.is(new Set(rows.map(([there]) => there)).size, rows.length);
  });

  test(`${title}: every line runs`, async () => {
    const wrong: string[] = [];
    for (const [, , code] of rows)
      if (code && !code.startsWith("$ "))
        await runExample(`await show(${code.replace(/ \/\/ .*$/, "")})`, {
          ...ofTables(),
          show: (y: unknown) => (y instanceof kiln.Tensor ? y.data() : y),
        }).catch((e: Error) => wrong.push(`${code}: ${e.message}`));
    assert.equal(wrong, []);
  });
}

/** What an example fails with; undefined where it passes. */
const failureOf = (code: string): Promise<string | undefined> =>
  runExample(code, { ...kiln }).then(
    () => undefined,
    (e: Error) => e.message,
  );

test("an example that throws, or gives something else than it says, is found", async () => {
  for (const code of [
    "tensor([1]).nothing()",
    "tensor([1, 2]).add(1) // [2, 4]",
    "tensor([1, 2]) // [[1, 2]]",
    "tensor([1, 2]) // [1, 2",
    "tensor([true]).all() // false",
    "tensor([1]) // [∞]",
    "tensor([1e-4]) // [0]",
    "({ a: 1, b: 2 }) // { a: 1 }",
    "new Map() // []",
    "const x = tensor([1]); // [2]",
    "tensor([1, 2]).add(tensor([1, 2, 3])) // throws DtypeError",
    "tensor([1]) // throws ShapeError",
    "ones([2, 3])\n  .sum(0) // [3, 3, 3]",
  ])
    assert.ok(await failureOf(code), code);
});

test("values are read as people write them", async () => {
  for (const code of [
    "tensor([-1, 0.5, 1 / 3]) // [−1, ½, ⅓]",
    "tensor([Math.LN2, Math.SQRT2, Math.PI / 2]) // [ln 2, √2, π/2]; the second is irrational too",
    "tensor([Infinity, NaN]) // [∞, NaN]",
    'printShape([2, dim("N")]) // "[2,N]"',
    "tensor([1, 2]).add(tensor([1, 2, 3])) // throws ShapeError",
    "tensor([1]) // the words of a person",
    "ones([2, 3])\n  .sum(0) // [2, 2, 2]",
  ])
    assert.is(await failureOf(code), undefined);
});

test.run();
