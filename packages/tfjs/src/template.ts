/**
 * Templates: one for each kernel with its attributes and the types of its inputs. It holds the
 * types of the results, so that a call that was seen before is recorded without making a node of
 * the IR, and makes the nodes when a program is compiled.
 */
import { input, reshape, type Tensor } from "kiln-ml/ir";
import type { Operands, Row } from "./row.ts";
import { typeOf, type ValueType } from "./value.ts";

export interface Template {
  readonly id: number;
  readonly outputs: readonly ValueType[];
  /** Whether the kernel gives a list. */
  readonly several: boolean;
  /** The results of these operands, which may have other shapes of as many elements. */
  build(operands: readonly Tensor[]): readonly Tensor[];
}

/** An input as a call gives it: the name, and its type under the shape of the tensor at hand. */
export interface Argument {
  readonly name: string;
  readonly type: ValueType;
}

let nextId = 0;
const templates = new Map<string, Template | null>();
/** Attributes with values of their own at each call would fill the memory. */
const mostKept = 1 << 14;

/** The template of a call; null where the row has no form for it. Throws what the row throws. */
export function templateOf(
  kernel: string,
  row: Row,
  args: readonly Argument[],
  attrs: object,
): Template | null {
  let key = kernel;
  for (const { name, type } of args) key += ` ${name}:${type.text}`;
  key += textOf(attrs);
  const known = templates.get(key);
  if (known !== undefined) return known;
  if (templates.size >= mostKept) templates.clear();
  const made = make(row, args, attrs);
  templates.set(key, made);
  return made;
}

const textOf = (attrs: object): string => {
  for (const _ in attrs) return JSON.stringify(attrs, exactNumber);
  return "";
};

/** Numbers that JSON has no text for. */
const exactNumber = (_: string, value: unknown): unknown =>
  typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))
    ? `#${Object.is(value, -0) ? "-0" : value}`
    : value;

function make(row: Row, args: readonly Argument[], attrs: object): Template | null {
  const apply = (operands: readonly Tensor[]): ReturnType<Row> => {
    const named: Record<string, Tensor> = {};
    for (const [i, { name, type }] of args.entries()) {
      const x = operands[i]!;
      named[name] = `${x.shape}` === `${type.shape}` ? x : reshape(x, type.shape);
    }
    return row(named as Operands, attrs as never);
  };
  const first = apply(args.map(({ type }, i) => input(`x${i}`, type.dtype, type.shape)));
  if (!first) return null;
  const several = Array.isArray(first);
  const listOf = (made: ReturnType<Row>): readonly Tensor[] =>
    several ? (made as readonly Tensor[]) : [made as Tensor];
  return {
    id: nextId++,
    outputs: listOf(first).map((t) => typeOf(t.dtype, t.shape as readonly number[])),
    several,
    build: (operands) => listOf(apply(operands)),
  };
}
