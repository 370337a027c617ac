/**
 * Kernel IR as text, one statement a line, by the forms of `parts.ts`; read back by `parse.ts`.
 * `%1 = …` names an expression that is one object in several places: it computes nothing.
 *
 *   kernel neg
 *     dim N
 *     read x@: f32[N]
 *     write y@: f32[N]
 *   {
 *     loop i' < N parallel {
 *       store y@[i'] = neg(x@[i'])
 *     }
 *   }
 */
import {
  type Condition,
  type Dim,
  type DimSymbol,
  type Dtype,
  loopVar,
  printDim,
  symbolOf,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Expr, Kernel, Param, Stmt } from "./kernel.ts";
import type { MatrixShape } from "./matrix.ts";
import { bindingOf, exprsOf, fieldsOf, type Hole, type Named, partsOf } from "./parts.ts";
import { dtypeOfCall } from "./types.ts";
import { countUses } from "./uses.ts";

/** The text of a kernel. */
export function printKernel(kernel: Kernel): string {
  const printer = new Printer(kernel);
  const costs = `  costs ${printer.dim(kernel.bytes)} bytes, ${printer.dim(kernel.flops)} operations`;
  const text = [`kernel ${kernel.name}`, costs, ...printer.text()];
  return `${text.join("\n")}\n`;
}

/** The text without name and costs: kernels of which it is the same print the same. */
export const keyOfKernel = (kernel: Kernel): string => new Printer(kernel).text().join("\n");

/** The text of some statements, for messages: without what a kernel would declare. */
export const printStmt = (s: Stmt, kernel: Kernel): string => new Printer(kernel).lineOf(s);

/** An index variable that is bound, and the symbols of its name in what it is bound for. */
interface Binding {
  readonly name: string;
  /** The symbol that goes without saying. */
  readonly usual: DimSymbol | undefined;
  readonly symbols: DimSymbol[];
}

interface Line {
  readonly indent: number;
  readonly text: string;
  readonly binding?: Binding;
  readonly end?: string;
}

/** A symbol that knows of nothing but its range. */
const isRange = ({ name, key, extent }: DimSymbol): boolean => key === name && extent === undefined;

const sameSymbol = (a: DimSymbol, b: DimSymbol): boolean =>
  a.key === b.key &&
  a.min === b.min &&
  a.max === b.max &&
  (a.extent === b.extent ||
    (a.extent !== undefined &&
      b.extent !== undefined &&
      printDim(a.extent) === printDim(b.extent)));

export const printNumber = (x: number): string =>
  Object.is(x, -0) ? "-0" : String(x).replace("Infinity", "inf").replace("NaN", "nan");

class Printer {
  private readonly kernel: Kernel;
  private readonly lines: Line[] = [];
  private readonly uses: ReadonlyMap<Expr, number>;
  private readonly numbers = new Map<Expr, number>();
  private readonly dtypes = new Map<string, Dtype>();
  private readonly scopes: Map<string, Binding>[] = [new Map()];
  private indent = 0;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
    this.uses = countUses(kernel.body);
    for (const name of kernel.dims) this.bind(name, undefined);
    for (const p of kernel.params) this.dtypes.set(`${p.name}[]`, p.dtype);
  }

  text(): string[] {
    const { params, workgroupSize, body } = this.kernel;
    const declared = params.map((p) => `  ${this.param(p)}`);
    this.block(body);
    const lines = this.lines.map(
      ({ indent, text, binding, end = "" }) =>
        `${"  ".repeat(indent)}${text}${binding ? this.note(binding) : ""}${end}`,
    );
    const dims = [...this.scopes[0]!.values()].map((b) => `  ${this.declared(b)}`);
    const workgroup = workgroupSize === 1 ? [] : [`  workgroup ${workgroupSize}`];
    return [...dims, ...declared, ...workgroup, "{", ...lines, "}"];
  }

  private param({ name, dtype, size, access, width, widened }: Param): string {
    return `${access} ${name}: ${dtype}[${this.dim(size)}]${width === 1 ? "" : ` width ${width}`}${widened ? " widened" : ""}`;
  }

  /** A symbol of the program, or one that nothing binds. */
  private declared({ name, symbols }: Binding): string {
    const kind = this.kernel.dims.includes(name) ? "dim" : "unbound";
    const ranges = symbols.map((s, i) => {
      const own = variant(name, i);
      if (s.extent !== undefined) return `${own} < ${printDim(s.extent)}`;
      if (s.min === 1 && s.max === Infinity) return own;
      if (isRange(s)) return `${own} within [${printNumber(s.min)}, ${printNumber(s.max)}]`;
      return `${own} in [${printNumber(s.min)}, ${printNumber(s.max)}]`;
    });
    return `${kind} ${ranges.length ? ranges.join(", ") : name}`;
  }

  /** What is known of a bound symbol, unless it goes without saying. */
  private note({ name, usual, symbols }: Binding): string {
    const [first] = symbols;
    if (!first || (symbols.length === 1 && usual && sameSymbol(first, usual))) return "";
    const known = symbols.map((s, i) => {
      const own = variant(name, i);
      if (s.extent !== undefined) return `${own} < ${printDim(s.extent)}`;
      return `${own} in [${printNumber(s.min)}, ${printNumber(s.max)}]`;
    });
    return ` where ${known.join(", ")}`;
  }

  private bind(name: string, usual: DimSymbol | undefined): Binding {
    const binding: Binding = { name, usual, symbols: [] };
    this.scopes.at(-1)!.set(name, binding);
    return binding;
  }

  private block(body: readonly Stmt[]): void {
    this.indent++;
    for (const s of body) this.stmt(s);
    this.indent--;
  }

  lineOf(s: Stmt): string {
    this.block([s]);
    return this.lines.find((l) => !l.text.startsWith("%"))!.text;
  }

  private stmt(s: Stmt): void {
    const { form, block } = partsOf(s);
    for (const e of exprsOf(s)) this.share(e);
    const fields = fieldsOf(s);
    const text = form.map((t) => (typeof t === "string" ? t : this.hole(t, fields))).join("");
    const bound = bindingOf(s);
    if (bound && bound.as !== "index") this.declare(s);
    if (block === undefined) {
      const binding = bound?.as === "index" ? this.bind(bound.name, undefined) : undefined;
      this.lines.push({ indent: this.indent, text, ...(binding ? { binding } : {}) });
      return;
    }
    this.scopes.push(new Map());
    const binding =
      s.kind === "loop" ? this.bind(s.name, symbolOf(loopVar(s.name, s.extent))) : undefined;
    this.lines.push({ indent: this.indent, text, end: " {", ...(binding ? { binding } : {}) });
    this.block(fields[block] as readonly Stmt[]);
    this.scopes.pop();
    this.lines.push({ indent: this.indent, text: "}" });
  }

  /** The dtypes of what is bound, by which those of what names it go without saying. */
  private declare(s: Stmt): void {
    if (s.kind === "let") this.dtypes.set(s.name, s.value.dtype);
    else if (s.kind === "acc") this.dtypes.set(s.name, s.dtype);
    else if (s.kind === "array") this.dtypes.set(`${s.name}[]`, s.dtype);
  }

  private hole({ field, role, list, word }: Hole, fields: Named): string {
    const value = fields[field];
    if (role === "block") return "";
    if (role === "flag") return value ? ` ${field}` : "";
    if (word !== undefined) return value === undefined ? "" : ` ${word} ${this.value(role, value)}`;
    return list ? (value as readonly string[]).join(", ") : this.value(role, value);
  }

  private value(role: string, value: unknown): string {
    switch (role) {
      case "expr":
        return this.expr(value as Expr);
      case "dim":
        return this.dim(value as Dim);
      case "when":
        return this.conditions(value as readonly Condition[]);
      case "text":
        return JSON.stringify(value);
      case "shape": {
        const { m, n, k } = value as MatrixShape;
        return `${m}x${n}x${k}`;
      }
      default:
        return String(value);
    }
  }

  /** Names for what is used several times, inner before outer. */
  private share(e: Expr): void {
    if (e.kind !== "call") {
      if ((e.kind === "load" || e.kind === "test") && this.isShared(e)) this.name(e);
      return;
    }
    if (this.numbers.has(e)) return;
    for (const a of e.args) this.share(a);
    if (this.isShared(e)) this.name(e);
  }

  private isShared = (e: Expr): boolean => (this.uses.get(e) ?? 0) > 1;

  private name(e: Expr): void {
    if (this.numbers.has(e)) return;
    const text = this.whole(e);
    this.numbers.set(e, this.numbers.size + 1);
    this.lines.push({ indent: this.indent, text: `%${this.numbers.size} = ${text}` });
  }

  private expr(e: Expr): string {
    const number = this.numbers.get(e);
    return number === undefined ? this.whole(e) : `%${number}`;
  }

  private whole(e: Expr): string {
    const typed = (known: Dtype | undefined): string => (known === e.dtype ? "" : `:${e.dtype}`);
    switch (e.kind) {
      case "const":
        return `${printNumber(e.value)}${typed("f32")}`;
      case "ref":
        return `${e.name}${typed(this.dtypes.get(e.name))}`;
      case "load": {
        const guard = e.guard.length ? ` if ${this.conditions(e.guard)}` : "";
        return `${e.from}[${this.dim(e.index)}${guard}]${typed(this.dtypes.get(`${e.from}[]`))}`;
      }
      case "index":
        return `index(${this.dim(e.value)})`;
      case "test":
        return `test(${this.conditions(e.conditions)})`;
      case "call": {
        const flags = `${e.nonPositive ? ".nonPositive" : ""}${e.stored ? ".stored" : ""}`;
        const args = e.args.map((a) => this.expr(a)).join(", ");
        return `${e.op}${flags}(${args})${typed(dtypeOfCall(e.op, e.args))}`;
      }
      default:
        return e satisfies never;
    }
  }

  private conditions(when: readonly Condition[]): string {
    return when
      .map((c) => `${this.dim(c.value)} ${c.test === "zero" ? "==" : ">="} 0`)
      .join(" and ");
  }

  /** An index expression; each symbol in it is one that its binding knows. */
  dim(d: Dim): string {
    const others = new Map<string, string>();
    for (const [name, symbol] of symbolsIn(d)) {
      const own = this.symbol(name, symbol);
      if (own !== name) others.set(name, own);
    }
    const text = printDim(d);
    if (others.size === 0) return text;
    return text.replace(/[A-Za-z_$][\w$]*['@]?/g, (name) => others.get(name) ?? name);
  }

  private symbol(name: string, symbol: DimSymbol): string {
    let binding: Binding | undefined;
    for (let i = this.scopes.length - 1; i >= 0 && !binding; i--)
      binding = this.scopes[i]!.get(name);
    if (!binding) {
      binding = { name, usual: undefined, symbols: [] };
      this.scopes[0]!.set(name, binding);
    }
    let at = binding.symbols.findIndex((s) => sameSymbol(s, symbol));
    if (at < 0) at = binding.symbols.push(symbol) - 1;
    return variant(name, at);
  }
}

/** The name of the n-th symbol that one name stands for. */
const variant = (name: string, n: number): string => (n === 0 ? name : `${name}~${n}`);
