/**
 * A program as the text of a module: types are erased and the names of packages become URLs. Lines stay where they are, so that the
 * line of an error is the editor's.
 */
import { parser } from "@lezer/javascript";
import { transform } from "sucrase";

/** A program that is none; `line` counts from 1. */
export class ProgramError extends Error {
  override name = "ProgramError";
  readonly line: number | undefined;
  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** What a program may import, by name, with the file that holds it. */
export const modules: Readonly<Record<string, string>> = {
  "kiln-ml": "kiln-ml.js",
  "kiln-ml/train": "train.js",
  "kiln-ml/onnx": "onnx.js",
  "kiln-ml/model": "model.js",
  playground: "playground.js",
};

/** `base` is the URL of the folder of modules. Throws ProgramError. */
export function moduleText(source: string, base: string): string {
  const code = erased(source);
  const found: { from: number; to: number }[] = [];
  parser.parse(code).iterate({
    enter: ({ name, from, to, node }) => {
      const inImport = /^(ImportDeclaration|ExportDeclaration|DynamicImport)$/.test(
        node.parent?.name ?? "",
      );
      if (name === "String" && inImport) found.push({ from, to });
    },
  });
  let text = "";
  let done = 0;
  for (const { from, to } of found) {
    const name = code.slice(from + 1, to - 1);
    if (!Object.hasOwn(modules, name))
      throw new ProgramError(
        `import: there is no ${name} here\n  modules are ${Object.keys(modules).join(", ")}`,
        code.slice(0, from).split("\n").length,
      );
    text += code.slice(done, from) + JSON.stringify(new URL(modules[name]!, base).href);
    done = to;
  }
  return text + code.slice(done);
}

function erased(source: string): string {
  try {
    return transform(source, {
      transforms: ["typescript"],
      disableESTransforms: true,
      production: true,
    }).code;
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number } };
    throw new ProgramError(message.replace(/^Error transforming [^:]*: /, ""), loc?.line);
  }
}
