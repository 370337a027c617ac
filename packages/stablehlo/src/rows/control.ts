/**
 * Control: branches become `if`, loops `while`. A loop carries what its regions read from outside as well, since a region of a
 * `while` is compiled by itself; a scan carries its step, its sequences, and what it stacks.
 */
import { type Dim, type Graph, type ResultType, scanParts } from "@kiln-ml/ir";
import type { Builder, Ref } from "../builder.ts";
import { type Row, type Rows, range } from "../row.ts";
import { ints } from "../text.ts";

const cond: Row = (site, flag, ...captures) => {
  const { b, node } = site;
  const branch = (region: Graph) =>
    b.region([], (inner) => site.inline(inner, region, captures, true), true);
  const types = (node.results ?? [node]).map(site.typeOf);
  return b.ops("stablehlo.if", [flag!], types, {}, node.regions.map(branch));
};

type Step = (b: Builder, args: Ref[]) => readonly Ref[];

const loop = (b: Builder, carried: readonly Ref[], test: Step, body: Step): Ref[] =>
  b.ops("stablehlo.while", carried, carried, {}, [
    b.region(carried, test),
    b.region(carried, body),
  ]);

const below = (b: Builder, i: Ref, n: number): Ref => b.compare("LT", i, b.constant("i32", n));
const next = (b: Builder, i: Ref): Ref => b.map("add", i, b.constant("i32", 1));

const whileLoop: Row = (site, ...operands) => {
  const { b, node } = site;
  const [test, body] = node.regions as readonly [Graph, Graph];
  const n = Number(node.attrs.carries);
  const most = node.attrs.maxTrips as number | undefined;
  if (most === undefined)
    return loop(
      b,
      operands,
      (f, args) => site.inline(f, test, args, false),
      (f, args) => [...site.inline(f, body, args, false), ...args.slice(n)],
    ).slice(0, n);
  return loop(
    b,
    [b.constant("i32", 0), ...operands],
    (f, [i, ...args]) => [f.map("and", below(f, i!, most), site.inline(f, test, args, false)[0]!)],
    (f, [i, ...args]) => [next(f, i!), ...site.inline(f, body, args, false), ...args.slice(n)],
  ).slice(1, n + 1);
};

/** Element i of the leading axis. */
function elementOf(b: Builder, x: Ref, i: Ref): Ref {
  const rest = x.shape.slice(1);
  const starts = [i, ...rest.map(() => b.constant("i32", 0))];
  const part = b.op(
    "dynamic_slice",
    [x, ...starts],
    { ...x, shape: [1, ...rest] },
    { slice_sizes: ints([1, ...rest]) },
  );
  return b.reshape(part, rest);
}

/** `into` with element i of the leading axis replaced. */
function withElement(b: Builder, into: Ref, y: Ref, i: Ref): Ref {
  const starts = [i, ...y.shape.map(() => b.constant("i32", 0))];
  const part = b.reshape(y, [1, ...y.shape]);
  return b.op("dynamic_update_slice", [into, part, ...starts], into);
}

const scan: Row = (site, ...operands) => {
  const { b, node } = site;
  const { init, xs, captures } = scanParts(node.attrs, operands);
  const length = site.dim(node.attrs.length as Dim);
  const n = init.length;
  const results = (node.results as readonly ResultType[]).map(site.typeOf);
  const stacks = results.slice(n).map((t) => b.like(t, 0));
  if (length === 0) return [...init, ...stacks];
  const m = stacks.length;
  const body: Step = (f, [t, ...rest]) => {
    const [carry, kept] = [rest.slice(0, n), rest.slice(n, n + m)];
    const [sequences, outside] = [
      rest.slice(n + m, n + m + xs.length),
      rest.slice(n + m + xs.length),
    ];
    const last = f.constant("i32", length - 1);
    const i = node.attrs.reverse === true ? f.map("subtract", last, t!) : t!;
    const elements = sequences.map((x) => elementOf(f, x, i));
    const out = site.inline(f, node.regions[0]!, [i, ...carry, ...elements, ...outside], false);
    const stacked = range(m).map((k) => withElement(f, kept[k]!, out[n + k]!, i));
    return [next(f, t!), ...out.slice(0, n), ...stacked, ...sequences, ...outside];
  };
  const carried = [b.constant("i32", 0), ...init, ...stacks, ...xs, ...captures];
  return loop(b, carried, (f, [t]) => [below(f, t!, length)], body).slice(1, 1 + n + m);
};

export const control: Rows = { cond, whileLoop, scan };
