/** Names that the editor completes: what the front door exports, with signatures and first sentences from the sources. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as kiln from "kiln-ml";
import * as train from "kiln-ml/train";

interface Name {
  readonly label: string;
  readonly type: string;
  readonly detail?: string;
  readonly info?: string;
}

interface Told {
  readonly detail?: string;
  readonly info?: string;
}

const folders = ["ir", "nn", "optim", "data", "train", "kiln"].map(
  (name) => `packages/${name}/src`,
);

/** A comment, and the function, class or method behind it. */
const declared =
  /(?:\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*)?export (?:abstract )?(?:function|class|const) (\w+)((?:\((?:[^{};]|\{\})*?\))?(?:: [^{};=]+)?)/g;

/** What sources say of each exported name: a signature on one line, and the first sentence of its comment. */
function toldIn(root: string): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const folder of folders)
    for (const path of readdirSync(join(root, folder), { recursive: true })) {
      if (!String(path).endsWith(".ts")) continue;
      const text = readFileSync(join(root, folder, String(path)), "utf8");
      for (const [, comment, name, signature] of text.matchAll(declared)) {
        const detail = signature?.replace(/\s+/g, " ").replace(/,? \)/, ")").trim();
        const info = sentence(comment ?? "");
        if (!told.get(name!)?.info)
          told.set(name!, {
            ...(detail && detail.length < 90 ? { detail } : {}),
            ...(info ? { info } : {}),
          });
      }
    }
  return told;
}

const sentence = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join(" ")
    .trim()
    .split(/(?<=\.)\s/)[0]!;

function kindOf(value: unknown): string {
  if (typeof value !== "function") return typeof value === "object" ? "namespace" : "constant";
  return /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "function";
}

/** Lists by what stands before: "" for the front door, `nn.` and the like, "." for methods of tensors. */
export async function namesToComplete(root: string): Promise<Record<string, Name[]>> {
  const told = toldIn(root);
  const named = (record: object): Name[] =>
    Object.entries(record)
      .filter(([label]) => /^\w+$/.test(label))
      .map(([label, value]) => ({ label, type: kindOf(value), ...told.get(label) }));
  const methods = Object.getOwnPropertyNames(kiln.Tensor.prototype)
    .filter((label) => label !== "constructor")
    .map((label) => ({ label, type: "method", ...told.get(label) }));
  return {
    "": named(kiln),
    "nn.": named(kiln.nn),
    "optim.": named(kiln.optim),
    "data.": named(kiln.data),
    "train.": named(train),
    ".": methods,
  };
}
