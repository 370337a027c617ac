/**
 * A key of a kernel without its name: kernels with one key print the same text. Which expressions are one object is part of
 * it, since printers name what is used twice. Knows no target.
 */
import { type Condition, type Dim, keyOfDim } from "@kiln-ml/ir";
import type { Expr, Kernel, Stmt } from "./kernel.ts";
import { keyOfMatrix } from "./matrix.ts";
import { bodyOf } from "./uses.ts";

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
        return `${e.op}${e.nonPositive ? "≤0" : ""}${e.stored ? "!" : ""}(${e.args.map(expr).join()})`;
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
    const own = ownOf(s, expr);
    if (s.kind === "if") parts.push(`if ${conditions(s.when)}`);
    else parts.push(`${s.kind} ${own}`);
    if (s.kind === "loop" || s.kind === "if") block(bodyOf(s));
  };
  block(kernel.body);
  const params = kernel.params.map(
    (p) => `${p.name} ${p.dtype} ${keyOfDim(p.size)} ${p.access} ${p.width}`,
  );
  return [...params, kernel.dims.join(), String(kernel.workgroupSize), ...parts].join("\n");
}

const dimOr = (d: Dim | undefined): string => (d === undefined ? "" : keyOfDim(d));

/** What a statement says besides the statements in it. */
function ownOf(s: Stmt, expr: (e: Expr) => string): string {
  switch (s.kind) {
    case "comment":
      return s.text;
    case "let":
    case "letDynamic":
    case "set":
      return `${s.name} ${expr(s.value)}`;
    case "letInvocation":
    case "letSubgroup":
      return s.name;
    case "matrix":
      return keyOfMatrix(s.does, keyOfDim);
    case "letIndex":
      return `${s.name} ${keyOfDim(s.value)}`;
    case "acc":
      return `${s.name} ${s.dtype} ${expr(s.init)} ${s.widened} ${s.narrow ?? ""}`;
    case "accumulate":
      return `${s.name} ${s.reducer} ${expr(s.value)} ${dimOr(s.position)}`;
    case "fma":
      return `${s.name} ${expr(s.a)} ${expr(s.b)}`;
    case "loop":
      return `${s.name} ${keyOfDim(s.extent)} ${dimOr(s.start)} ${s.step ?? ""} ${s.loop}`;
    case "store":
      return `${s.to}[${keyOfDim(s.index)}] ${expr(s.value)}`;
    case "prefetch":
      return `${s.from}[${keyOfDim(s.index)}]`;
    case "array":
      return `${s.name} ${s.dtype} ${keyOfDim(s.size)} ${s.space} ${s.width ?? 1} ${s.narrow ?? ""} ${s.parts ?? ""}`;
    case "sort":
      return `${s.keys} ${s.order} ${s.spare} ${keyOfDim(s.size)} ${keyOfDim(s.count)} ${s.descending}`;
    case "combine":
      return `${s.names.join()} ${s.reducers.join()} ${s.team ?? ""} ${s.apart ?? ""}`;
    case "prefix":
      return `${s.names.join()} ${s.carries.join()} ${s.reducers.join()}`;
    case "if":
    case "barrier":
    case "scheduleBarrier":
      return "";
    default:
      return s satisfies never;
  }
}
