/**
 * `kernels.js`: the kernels of the js target as one ES module, which a page with a strict content security policy can
 * import. Its exports are the kernels' names.
 */
import type { KernelText } from "./artifact.ts";
import { ArtifactError } from "./errors.ts";

export const scriptName = "kernels.js";

const preface =
  "// Kernels compiled by Kiln. Loaded with import(); the manifest beside it says how they are called.\n";

/** Each kernel's text after `export`, and the range of bytes each text takes. */
export function kernelModuleRanges(kernels: readonly KernelText[]): {
  readonly text: string;
  readonly ranges: readonly (readonly [number, number])[];
} {
  let text = preface;
  let bytes = preface.length;
  const ranges = kernels.map((k) => {
    checkKernelText(k.name, k.text, scriptName);
    const start = bytes + "\nexport ".length;
    const end = start + new TextEncoder().encode(k.text).length;
    text += `\nexport ${k.text}\n`;
    bytes = end + 1;
    return [start, end] as const;
  });
  return { text, ranges };
}

/**
 * The text of an ES module that exports every kernel as a function. Throws ArtifactError if a kernel's text does not
 * begin with `function NAME(`.
 */
export const kernelModule = (kernels: readonly KernelText[]): string =>
  kernelModuleRanges(kernels).text;

/** Throws ArtifactError unless `text` declares the function `name` and is whole Unicode. */
export function checkKernelText(name: string, text: string, file: string): void {
  if (!text.startsWith(`function ${name}(`))
    throw new ArtifactError(
      `${file}: the text of kernel ${name} does not begin with function ${name}(`,
    );
  checkUnicode(name, text, file);
}

/** Throws ArtifactError for text that UTF-8 cannot hold. */
export function checkUnicode(name: string, text: string, file: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw new ArtifactError(`${file}: the text of kernel ${name} has half a surrogate pair`);
}
