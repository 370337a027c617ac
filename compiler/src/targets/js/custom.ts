/** A kernel of the user as a JavaScript function like those that are printed. */
import type { KernelText } from "@kiln-ml/artifact";
import type { CustomText, Kernel } from "../../kernel/kernel.ts";
import { dimName, type ExtentLanguage, linesOf, sizeLines } from "../custom-text.ts";
import { indented } from "../scope.ts";
import { bindingsOf } from "../target-language.ts";

const language: ExtentLanguage = {
  define: "const",
  divide: (a, b) => `Math.floor(${a} / ${b})`,
  pick: (which, a, b) => `Math.${which}(${a}, ${b})`,
  list: (items) => `[${items.join(", ")}]`,
};

export function customJs(kernel: Kernel, custom: CustomText): KernelText {
  const params = kernel.params.map((_, i) => `dim_array${i}`);
  const lines = [
    `function ${kernel.name}(${[...params, ...kernel.dims.map(dimName)].join(", ")}) {`,
    ...indented([
      ...custom.arrays.map(({ name, param }) => `const ${name} = ${params[param]};`),
      ...sizeLines(custom, language),
      ...linesOf(custom.text),
    ]),
    "}",
  ];
  return {
    name: kernel.name,
    text: lines.join("\n"),
    bindings: bindingsOf(kernel),
    dims: kernel.dims,
  };
}
