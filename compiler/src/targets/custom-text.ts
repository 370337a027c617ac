/** The head of a user's kernel in each language: the size and the shape of each array. */
import type { Extent } from "@kiln-ml/artifact";
import { type Dim, sizeOf } from "@kiln-ml/ir";
import { toExtent } from "../kernel/extent.ts";
import type { CustomText } from "../kernel/kernel.ts";

/** How a target spells what extents are made of; `list` is an array of i32. */
export interface ExtentLanguage {
  readonly define: string;
  /** ⌊a/b⌋ of numbers that are not negative. */
  divide(a: string, b: string): string;
  pick(which: "min" | "max", a: string, b: string): string;
  list(items: readonly string[]): string;
}

/** The name of a symbol in a text. */
export const dimName = (symbol: string): string => `dim_${symbol.replace(/\W/g, "_")}`;

/** An extent as an expression. */
export function extentText(dim: Dim, language: ExtentLanguage): string {
  const text = (e: Extent): string => {
    if (typeof e === "number") return String(e);
    if (typeof e === "string") return dimName(e);
    const [op, a, b] = [e[0], text(e[1]), text(e[2])];
    if (op === "/") return language.divide(a, b);
    if (op === "min" || op === "max") return language.pick(op, a, b);
    return `(${a} ${op} ${b})`;
  };
  return text(toExtent(dim));
}

/** Lines that define `x_size` and `x_shape` of every array. */
export const sizeLines = ({ arrays }: CustomText, language: ExtentLanguage): string[] =>
  arrays.flatMap(({ name, shape }) => [
    `${language.define} ${name}_size = ${extentText(sizeOf(shape), language)};`,
    ...(shape.length
      ? [
          `${language.define} ${name}_shape = ${language.list(shape.map((d) => extentText(d, language)))};`,
        ]
      : []),
  ]);

export const linesOf = (text: string): string[] => text.trim().split("\n");
