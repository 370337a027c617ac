/**
 * A key of a kernel without its name: kernels with one key print the same text. Which expressions are one object is part of
 * it, since printers name what is used twice. Knows no target.
 */
import { type Condition, type Dim, keyOfDim } from "@kiln-ml/ir";
import type { Expr, Kernel, Stmt } from "./kernel.ts";

export function keyOfKernel(kernel: Kernel): string {
  const parts: string[] = [];
  const numbers = new Map<Expr, number>();
  const conditions = (when: readonly Condition[]): string =>
    when.map((c) => `${c.test} ${keyOfDim(c.value)}`).join("&");
  /** The number of an expression; the first mention writes down what it is. */
  const expr = (e: Expr): string => {
    const known = numbers.get(e);
    if (known !== undefined) return `#${known}`;
    const text = describe(e);
    const number = numbers.size;
    numbers.set(e, number);
    parts.push(`#${number}=${text}:${e.dtype}`);
    return `#${number}`;
  };
  const describe = (e: Expr): string => {
    switch (e.kind) {
      case "const":
        return Object.is(e.value, -0) ? "-0" : String(e.value);
      case "load":
        return `${e.from}[${keyOfDim(e.index)}]${conditions(e.guard)}`;
      case "index":
        return `index ${keyOfDim(e.value)}`;
      case "test":
        return `test ${conditions(e.conditions)}`;
      case "ref":
        return `ref ${e.name}`;
      case "call":
        return `${e.op}(${e.args.map(expr).join()})`;
      default:
        return e satisfies never;
    }
  };
  const block = (body: readonly Stmt[]): void => {
    parts.push("{");
    for (const s of body) stmt(s);
    parts.push("}");
  };
  const stmt = (s: Stmt): void => {
    const own: unknown[] = [];
    const inner: (readonly Stmt[])[] = [];
    for (const [field, value] of Object.entries(s) as [string, unknown][]) {
      if (field === "body" || field === "then") inner.push(value as readonly Stmt[]);
      else if (exprFields.has(field) && isExpr(value)) own.push(expr(value));
      else if (field === "when") own.push(conditions(value as readonly Condition[]));
      else if (typeof value === "object" && !Array.isArray(value)) own.push(keyOfDim(value as Dim));
      else own.push(String(value));
    }
    parts.push(own.join(" "));
    for (const body of inner) block(body);
  };
  block(kernel.body);
  const params = kernel.params.map(
    (p) => `${p.name} ${p.dtype} ${keyOfDim(p.size)} ${p.access} ${p.width}`,
  );
  return [...params, kernel.dims.join(), String(kernel.workgroupSize), ...parts].join("\n");
}

const exprFields: ReadonlySet<string> = new Set(["value", "init", "a", "b"]);

/** `value` of a letIndex is a dim, not an expression. */
const isExpr = (value: unknown): value is Expr =>
  typeof value === "object" && value !== null && "kind" in value && "dtype" in value;
