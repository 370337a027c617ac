/** Extents and sizes of an artifact as text, with symbols left in or given values. */
import type { Artifact, Extent, TensorSpec } from "@kiln-ml/artifact";
import { dimsOf, evaluateExtent } from "@kiln-ml/artifact";
import { inLine } from "./terminal.ts";

export type Dims = Readonly<Record<string, number>>;

/** A number where all symbols have values, else the expression. */
export function extentText(e: Extent, dims: Dims): string {
  if ([...dimsOf(e)].every((name) => Object.hasOwn(dims, name)))
    return evaluateExtent(e, dims).toLocaleString("en-US");
  if (typeof e !== "object") return String(e);
  const [op, a, b] = e;
  const [x, y] = [extentText(a, dims), extentText(b, dims)];
  if (op === "min" || op === "max") return `${op}(${x}, ${y})`;
  if (op === "+") return `${x} + ${y}`;
  return `${wrap(x)}${op}${wrap(y)}`;
}

const wrap = (text: string): string => (/[ ]/.test(text) ? `(${text})` : text);

export const specText = ({ name, dtype, shape }: TensorSpec, dims: Dims): string =>
  `${inLine(name)}: ${dtype}[${shape.map((e) => extentText(e, dims).replaceAll(",", "")).join(",")}]`;

/** Bytes as B, kB, MB or GB. */
export function bytesText(n: number): string {
  if (n < 1000) return `${n} B`;
  const power = Math.min(3, Math.floor(Math.log10(n) / 3));
  return `${(n / 1000 ** power).toFixed(1)} ${["B", "kB", "MB", "GB"][power]}`;
}

export const weightBytes = (a: Artifact): number =>
  Object.values(a.weights).reduce((sum, w) => sum + w.data.byteLength, 0);
