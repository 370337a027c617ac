/**
 * Runs an example of the reference. A comment that ends a statement and reads as a value, such as
 * `// [[4, 0], [0, 0]]`, is compared with what the statement gives, `// throws ShapeError` with
 * what it throws; what is said after a semicolon, and a comment that is no value, are for the
 * reader.
 */
import { transform } from "esbuild";
import * as kiln from "kiln-ml";
import * as assert from "uvu/assert";

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...args: unknown[]) => Promise<unknown>;

interface Statement {
  readonly code: string;
  readonly comment: string;
}

/**
 * Statements of some lines: one ends where its brackets are closed and the next line does not go
 * on.
 */
function statementsOf(lines: readonly string[]): Statement[] {
  const found: Statement[] = [];
  let held: string[] = [];
  let depth = 0;
  for (const [i, line] of lines.entries()) {
    const [, code, comment = ""] = /^(.*?)(?:\s*\/\/ (.*))?$/.exec(line)!;
    const bare = code!.replace(/"[^"]*"|'[^']*'/g, '""');
    for (const c of bare) depth += "([{".includes(c) ? 1 : ")]}".includes(c) ? -1 : 0;
    held.push(code!);
    if (
      depth > 0 ||
      (comment === "" && /^\s+[.?:]?/.test(lines[i + 1] ?? "") && !code!.endsWith(";"))
    )
      continue;
    found.push({ code: held.join("\n"), comment });
    held = [];
  }
  return held.length ? [...found, { code: held.join("\n"), comment: "" }] : found;
}

const symbols: readonly (readonly [RegExp, string])[] = [
  [/−/g, "-"],
  [/½/g, "0.5"],
  [/⅓/g, "(1/3)"],
  [/¼/g, "0.25"],
  [/⅛/g, "0.125"],
  [/√(\d+)/g, "Math.sqrt($1)"],
  [/\bln (\d+)/g, "Math.log($1)"],
  [/(\d)π/g, "$1*Math.PI"],
  [/π/g, "Math.PI"],
  [/∞/g, "Infinity"],
  [/(\d)…/g, "$1"],
];

/** The value that a comment says; undefined where it is words. */
export function valueIn(comment: string): { readonly value: unknown } | undefined {
  const said = comment.split(/; /)[0]!.trim();
  if (said.startsWith("throws ")) return undefined;
  const looks = /^(?:[[{"−\-½⅓¼√π∞\d]|true\b|false\b|NaN\b|undefined\b|ln \d)/.test(said);
  if (!looks) return undefined;
  // In quotes signs stay as they are.
  const text = said
    .split(/("[^"]*")/)
    .map((part, i) => (i % 2 ? part : symbols.reduce((t, [from, to]) => t.replace(from, to), part)))
    .join("");
  try {
    return { value: new Function(`return (${text});`)() };
  } catch {
    throw new Error(`"${comment}" begins like a value and is none`);
  }
}

const isNumber = (x: unknown): x is number | bigint =>
  typeof x === "number" || typeof x === "bigint";

/** A number is said in five digits or so; a small one by its own size, and no number is near ∞. */
const near = (got: number, want: number): boolean =>
  Object.is(got, want) ||
  got === want ||
  Math.abs(got - want) <= (Number.isFinite(want) ? 6e-4 * Math.abs(want) + 1e-6 : 0);

function close(got: unknown, want: unknown): boolean {
  if (isNumber(got) && isNumber(want)) return near(Number(got), Number(want));
  if (Array.isArray(got) !== Array.isArray(want)) return false;
  if (Array.isArray(got) && Array.isArray(want))
    return got.length === want.length && got.every((g, i) => close(g, want[i]));
  if (typeof got !== "object" || typeof want !== "object" || !got || !want) return got === want;
  const [here, said] = [got as Record<string, unknown>, want as Record<string, unknown>];
  const keys = Object.keys(here);
  return (
    keys.length === Object.keys(said).length && keys.every((key) => close(here[key], said[key]))
  );
}

/** Tensors as nested lists, typed arrays as lists, dims as text. */
async function plain(x: unknown): Promise<unknown> {
  const value = await x;
  if (value instanceof kiln.Tensor) return await value.toList();
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>);
  if (value instanceof kiln.DimExpr) return `${value}`;
  if (Array.isArray(value)) return Promise.all(value.map(plain));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(async ([key, v]) => [key, await plain(v)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function failure(run: () => unknown): Promise<unknown> {
  try {
    await plain(await run());
  } catch (error) {
    return error;
  }
  return undefined;
}

const show = (x: unknown): string =>
  JSON.stringify(x, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? `${v}` : v));

/** What the statements of an example are compared with; `checked` counts. */
function checks(checked: { count: number }) {
  return {
    async gives(run: () => unknown, comment: string): Promise<void> {
      checked.count++;
      const got = await plain(await run());
      const want = valueIn(comment)!.value;
      assert.ok(close(got, want), `gives ${show(got)}, said to be ${comment}`);
    },
    async throws(run: () => unknown, name: string): Promise<void> {
      checked.count++;
      const error = await failure(run);
      assert.ok(error instanceof kiln.KilnError, `throws ${error}, said to be ${name}`);
      assert.is((error as Error).name, name);
    },
  };
}

/** A statement as it is run: where its comment is a value, an expression that is compared. */
function spelled({ code, comment }: Statement): string {
  const fails = /^throws (\w+)/.exec(comment)?.[1];
  if (!fails && !valueIn(comment)) return code;
  const expression = code.trim().replace(/;$/, "");
  const declared = /^(?:const|let) (\w+) = ([\s\S]*)$/.exec(expression);
  if (declared && !fails)
    return `${expression};\nawait check.gives(() => ${declared[1]}, ${JSON.stringify(comment)});`;
  const call = fails
    ? `throws(async () => (${expression}), ${JSON.stringify(fails)})`
    : `gives(async () => (${expression}), ${JSON.stringify(comment)})`;
  return `await check.${call};`;
}

/**
 * Runs an example among some names, and gives how many of its statements were compared with what is
 * said of them.
 */
export async function runExample(code: string, scope: Record<string, unknown>): Promise<number> {
  const checked = { count: 0 };
  const body = statementsOf(code.split("\n")).map(spelled).join("\n");
  const { code: text } = await transform(`async function example() {\n${body}\n}`, {
    loader: "ts",
    target: "es2022",
  });
  const names = Object.keys(scope);
  const example = new AsyncFunction("check", ...names, `${text}\nreturn await example();`);
  await example(checks(checked), ...Object.values(scope));
  return checked.count;
}
