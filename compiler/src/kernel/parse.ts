/**
 * Reads the text of kernel IR back, by the forms of `parts.ts`: the same statements, expressions
 * shared where they were, index expressions as they stand. Errors give line and column. Checks no
 * more than it needs to read; `verify.ts` does.
 */
import { anyInteger, type Condition, type Dim, type Dtype, isDtype, loopVar } from "@kiln-ml/ir";
import { Scanner } from "@kiln-ml/ir/scan";
import type { Expr, Kernel, Param, Stmt } from "./kernel.ts";
import type { MatrixShape } from "./matrix.ts";
import { DimReader } from "./parse-dim.ts";
import { bindingOf, type Hole, matrixParts, type Parts, stmtParts } from "./parts.ts";
import { dtypeOfCall } from "./types.ts";

/** The kernel that `text` describes. Throws GraphError with the place of what is out of order. */
export function parseKernel(text: string): Kernel {
  return new Parser(text).kernel();
}

const accesses = /(?:readwrite|read|write|scratch)\b/;
type Fields = Record<string, unknown>;

/** The word, or two, with which a form begins, and its row. */
const rows: ReadonlyMap<string, { readonly parts: Parts; readonly head: Fields }> = new Map([
  ...rowsOf("kind", stmtParts),
  ...rowsOf("step", matrixParts),
]);

function rowsOf(field: string, table: Readonly<Record<string, Parts>>) {
  return Object.entries(table).map(
    ([of, parts]) => [wordOf(parts), { parts, head: { [field]: of } }] as const,
  );
}

function wordOf({ form: [first] }: Parts): string {
  return /^(?:matrix )?\w+/.exec(first as string)![0];
}

class Parser {
  private readonly s: Scanner;
  private readonly d: DimReader;
  private readonly dtypes = new Map<string, Dtype>();
  private readonly shared = new Map<string, Expr>();
  private readonly names: string[] = [];

  constructor(text: string) {
    this.s = new Scanner(text);
    this.d = new DimReader(this.s);
  }

  kernel(): Kernel {
    const { s } = this;
    s.expect("kernel");
    const kernelName = this.d.name("a kernel name");
    const costsAt = s.at;
    if (s.take("costs ")) this.skipLine();
    for (let kind = s.match(/(?:dim|unbound)\b/); kind; kind = s.match(/(?:dim|unbound)\b/)) {
      const declared = this.d.declaration();
      if (kind === "dim") this.names.push(declared);
    }
    const params: Param[] = [];
    for (let access = s.match(accesses); access; access = s.match(accesses))
      params.push(this.param(access as Param["access"]));
    const workgroupSize = s.take("workgroup ") ? this.count() : 1;
    const end = s.at;
    s.at = costsAt;
    const [bytes, flops] = this.costs();
    s.at = end;
    const body = this.block();
    s.blank();
    if (s.at < s.text.length) s.fail(`expected the end, got ${s.found()}`);
    return { name: kernelName, params, dims: this.names, body, workgroupSize, bytes, flops };
  }

  /** Costs speak of dims that are declared after them. */
  private costs(): [Dim, Dim] {
    const { s } = this;
    if (!s.take("costs ")) return [0, 0];
    const bytes = this.d.dim();
    s.expect("bytes");
    s.expect(",");
    const flops = this.d.dim();
    s.expect("operations");
    return [bytes, flops];
  }

  private skipLine(): void {
    this.s.match(/[^\n]*/);
  }

  private count(): number {
    return Number(this.s.match(/-?\d+/) ?? this.s.fail(`expected a number, got ${this.s.found()}`));
  }

  private dtype(): Dtype {
    const { s } = this;
    s.blank();
    const at = s.at;
    const word = s.word("a dtype");
    return isDtype(word) ? word : s.fail(`there is no dtype ${JSON.stringify(word)}`, at);
  }

  private param(access: Param["access"]): Param {
    const { s } = this;
    const own = this.d.name("a parameter");
    s.expect(":");
    const dtype = this.dtype();
    s.expect("[");
    const size = this.d.dim();
    s.expect("]");
    const width = (s.take("width ") ? this.count() : 1) as Param["width"];
    this.dtypes.set(`${own}[]`, dtype);
    const widened = s.take("widened") ? ({ widened: true } as const) : {};
    return { name: own, dtype, size, access, width, ...widened };
  }

  private block(): Stmt[] {
    const { s } = this;
    s.expect("{");
    const body: Stmt[] = [];
    while (!s.take("}")) {
      const number = s.match(/%\d+/);
      if (number === undefined) body.push(this.stmt());
      else {
        s.expect("=");
        this.shared.set(number, this.expr());
      }
    }
    return body;
  }

  private stmt(): Stmt {
    const { s } = this;
    s.blank();
    const at = s.at;
    const word = s.word("a statement");
    const step = word === "matrix" ? ` ${s.word("a step")}` : "";
    const row = rows.get(word + step) ?? s.fail(`there is no statement ${word}${step}`, at);
    s.at = at;
    const fields: Fields = { ...row.head };
    for (const token of row.parts.form) {
      if (typeof token !== "string") this.hole(token, fields);
      else for (const part of token.split(" ").filter((t) => t !== "")) s.expect(part);
    }
    const made = ("step" in row.head
      ? { kind: "matrix", does: fields }
      : fields) as unknown as Stmt;
    if (row.parts.block === undefined) this.declare(made);
    return made;
  }

  private hole({ field, role, list, word }: Hole, fields: Fields): void {
    const { s } = this;
    if (role === "flag") {
      const set = s.match(new RegExp(`${field}\\b`)) !== undefined;
      if (set || isAlwaysThere(fields.kind, field)) fields[field] = set;
    } else if (role === "block") fields[field] = this.inner(fields);
    else if (word !== undefined && s.match(new RegExp(`${word}\\b`)) === undefined) return;
    else if (list) {
      const items = [this.value(role)];
      while (s.take(",")) items.push(this.value(role));
      fields[field] = items;
    } else fields[field] = this.value(role);
  }

  /** The statements in a statement, under what it binds. */
  private inner(fields: Fields): Stmt[] {
    this.d.open();
    if (fields.kind === "loop")
      this.d.bind(fields.name as string, () =>
        loopVar(fields.name as string, fields.extent as Dim),
      );
    const body = this.block();
    this.d.close();
    return body;
  }

  private declare(made: Stmt): void {
    const bound = bindingOf(made);
    if (bound?.as === "index") this.d.bind(bound.name, () => anyInteger(bound.name));
    else if (made.kind === "let") this.dtypes.set(made.name, made.value.dtype);
    else if (made.kind === "acc") this.dtypes.set(made.name, made.dtype);
    else if (made.kind === "array") this.dtypes.set(`${made.name}[]`, made.dtype);
  }

  private value(role: string): unknown {
    const { s } = this;
    switch (role) {
      case "expr":
        return this.expr();
      case "dim":
        return this.d.dim();
      case "when":
        return this.conditions();
      case "dtype":
        return this.dtype();
      case "number":
        return this.count();
      case "word":
        return s.word("a word");
      case "text":
        return JSON.parse(
          s.match(/"(?:[^"\\\n]|\\.)*"/) ?? s.fail(`expected a text, got ${s.found()}`),
        );
      case "shape":
        return this.shape();
      default:
        return this.d.name("a name");
    }
  }

  private shape(): MatrixShape {
    const text =
      this.s.match(/\d+x\d+x\d+/) ?? this.s.fail(`expected a shape, got ${this.s.found()}`);
    const [m, n, k] = text.split("x").map(Number) as [number, number, number];
    return { m, n, k };
  }

  private conditions(): Condition[] {
    const { s } = this;
    const found: Condition[] = [];
    do {
      const value = this.d.dim();
      const sign = s.match(/==|>=/) ?? s.fail(`expected >= 0 or == 0, got ${s.found()}`);
      s.expect("0");
      found.push({ value, test: sign === "==" ? "zero" : "nonnegative" });
    } while (s.match(/and\b/) !== undefined);
    return found;
  }

  private typed(usual: Dtype | undefined): Dtype {
    if (this.s.take(":")) return this.dtype();
    return usual ?? this.s.fail(`expected a dtype, got ${this.s.found()}`);
  }

  private expr(): Expr {
    const { s } = this;
    s.blank();
    const at = s.at;
    const number = s.match(/%\d+/);
    if (number !== undefined)
      return this.shared.get(number) ?? s.fail(`${number} is not defined`, at);
    const value = s.number();
    if (value !== undefined) return { kind: "const", value, dtype: this.typed("f32") };
    const own = this.d.name("an expression");
    if (own === "index" && s.take("(")) {
      const index = this.d.dim();
      s.expect(")");
      return { kind: "index", value: index, dtype: "i32" };
    }
    if (own === "test" && s.take("(")) {
      const conditions = s.peek(")") ? [] : this.conditions();
      s.expect(")");
      return { kind: "test", conditions, dtype: "bool" };
    }
    if (s.take("[")) return this.load(own);
    if (s.peek("(")) return this.call(own);
    return { kind: "ref", name: own, dtype: this.typed(this.dtypes.get(own)) };
  }

  private load(from: string): Expr {
    const { s } = this;
    const index = this.d.dim();
    const guard = s.match(/if\b/) === undefined ? [] : this.conditions();
    s.expect("]");
    return { kind: "load", from, index, guard, dtype: this.typed(this.dtypes.get(`${from}[]`)) };
  }

  private call(text: string): Expr {
    const [op, ...flags] = text.split(".") as [string, ...string[]];
    const args = this.s.list("(", ")", () => this.expr());
    return {
      kind: "call",
      op,
      args,
      dtype: this.typed(dtypeOfCall(op, args)),
      ...(flags.includes("nonPositive") ? { nonPositive: true } : {}),
      ...(flags.includes("stored") ? { stored: true } : {}),
    };
  }
}

/** Flags that are said to be false where they are. */
const isAlwaysThere = (kind: unknown, field: string): boolean =>
  field === "descending" || field === "turned" || (field === "widened" && kind === "acc");
