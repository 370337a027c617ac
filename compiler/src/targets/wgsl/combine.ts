/**
 * Combining the accumulators of a workgroup: a tree over shared memory, or subgroup operations
 * first and their few results after. Every invocation gets the result. Subgroup operations need no
 * barrier among themselves, where a tree has one a level. The tree's order is fixed, so that a sum
 * has the same bits on every run.
 */
import { type Dtype, isFloat, type Reducer } from "@kiln-ml/ir";
import { isArg } from "../../kernel/uses.ts";
import { atom } from "../scope.ts";
import { scalarType, type Use, wrapped } from "./spell.ts";

/** Declarations a combine needs, by the name they declare. */
export type Declarations = Map<string, string>;

export interface CombineOptions {
  /** Invocations of the workgroup. */
  readonly size: number;
  /** Invocations that combine theirs: all of the workgroup, or runs of a power of two. */
  readonly team: number;
  /** Their numbers are as far apart as there are teams. */
  readonly apart: boolean;
  readonly subgroups: boolean;
}

const infix: Partial<Record<Reducer, string>> = { sum: "+", prod: "*", any: "|", all: "&" };

/** a ⊕ b; NaN wins in max and min of floats. */
export function pairText(reducer: Reducer, dtype: Dtype, a: string, b: string, use: Use): string {
  const op = infix[reducer];
  if (op) return `${a} ${op} ${b}`;
  const name = reducer === "max" ? "maximum" : "minimum";
  return `${isFloat(dtype) ? use(name, 1) : reducer}(${a}, ${b})`;
}

const partialsOf = (dtype: Dtype, size: number, into: Declarations): string => {
  const type = scalarType(dtype);
  const name = `partials_${type}`;
  into.set(name, `var<workgroup> ${name}: array<${type}, ${size}>;`);
  return name;
};

const subgroupOp: Partial<Record<Reducer, string>> = {
  sum: "subgroupAdd",
  prod: "subgroupMul",
  max: "subgroupMax",
  min: "subgroupMin",
  any: "subgroupAny",
  all: "subgroupAll",
};

/** Teams smaller than the workgroup keep to the tree: they need not be made of whole subgroups. */
export const usesSubgroups = (reducer: Reducer, { size, team, subgroups }: CombineOptions) =>
  subgroups && team === size && !isArg(reducer);

const suffixOf = ({ size, team, apart }: CombineOptions): string =>
  team === size ? "" : `_${team}${apart ? "apart" : ""}`;

/** The call that combines `value`, whose function is added to `into`. */
export function combineCall(
  reducer: Reducer,
  dtype: Dtype,
  value: string,
  options: CombineOptions,
  into: Declarations,
  use: Use,
): string {
  const { size } = options;
  const type = scalarType(dtype);
  const name = `combine_${reducer}_${type}${suffixOf(options)}`;
  if (usesSubgroups(reducer, options)) {
    const lanes = "lid, i32(subgroupLane), i32(subgroupSize)";
    const floats = isFloat(dtype) && (reducer === "max" || reducer === "min");
    into.set(name, (floats ? extremeText : subgroupText)(name, reducer, dtype, size, into, use));
    return `${name}(${value}, ${lanes})`;
  }
  const partials = partialsOf(dtype, size, into);
  const pair = pairText(reducer, dtype, `${partials}[lid]`, `${partials}[lid + span]`, use);
  const [steps, from] = treeOf(options, [`${partials}[lid] = ${pair};`]);
  into.set(
    name,
    `fn ${name}(value: ${type}, lid: i32) -> ${type} {
  ${partials}[lid] = value;
  workgroupBarrier();
${steps}
  let result = ${partials}[${from}];
  workgroupBarrier();
  return result;
}`,
  );
  return `${name}(${value}, lid)`;
}

/**
 * Halves the partials until one is left: lines `body` join element `lid + span` to element `lid`.
 * Also where the result of an invocation's team then is.
 */
function treeOf(options: CombineOptions, body: readonly string[]): [string, string] {
  const { size, team, apart } = options;
  const inner = body.map((l) => `      ${l}`).join("\n");
  const block = `{
${inner}
    }
    workgroupBarrier();
  }`;
  if (team === size)
    return [
      `  for (var count = ${size}; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) ${block}`,
      "0",
    ];
  const teams = size / team;
  if (apart)
    return [
      `  for (var span = ${size / 2}; span >= ${teams}; span = span / 2) {
    if (lid < span) ${block}`,
      `lid & ${teams - 1}`,
    ];
  return [
    `  for (var span = ${team / 2}; span > 0; span = span / 2) {
    if ((lid & ${team - 1}) < span) ${block}`,
    `lid & ${-team}`,
  ];
}

type SubgroupText = (
  name: string,
  reducer: Reducer,
  dtype: Dtype,
  size: number,
  into: Declarations,
  use: Use,
) => string;

/**
 * Invocations are numbered so that a subgroup is a run of them, which every known implementation
 * does.
 */
const subgroupText: SubgroupText = (name, reducer, dtype, size, into, use) => {
  const type = scalarType(dtype);
  const partials = partialsOf(dtype, size, into);
  const joined = (i: string) => pairText(reducer, dtype, "result", `${partials}[${i}]`, use);
  return `fn ${name}(value: ${type}, lid: i32, lane: i32, size: i32) -> ${type} {
  let mine = ${subgroupOp[reducer]}(value);
${acrossSubgroups(partials, size, joined)}
  return result;
}`;
};

/** What subgroups mostly have. */
const usual = 32;

/**
 * Joins what lane 0 of each subgroup puts down. A loop of as many turns as there are subgroups
 * waits for memory at each, which of subgroups of the usual size is known beforehand.
 */
function acrossSubgroups(partials: string, size: number, joined: (i: string) => string): string {
  const known = Array.from({ length: Math.ceil(size / usual) - 1 }, (_, i) => joined(`${i + 1}`));
  const loop = `for (var i = 1; i < (${size} + size - 1) / size; i++) {
      result = ${joined("i")};
    }`;
  const lines = known.map((value) => `    result = ${value};\n`).join("");
  return `  if (lane == 0) {
    ${partials}[lid / size] = mine;
  }
  workgroupBarrier();
  var result = ${partials}[0];
  if (size == ${usual}) {
${lines}  } else {
    ${loop}
  }
  workgroupBarrier();`;
}

/**
 * max and min of floats, of which subgroupMax need not pass NaN on: by integers in the same order,
 * of which NaN is the extreme.
 */
const extremeText: SubgroupText = (name, reducer, _dtype, size, into, use) => {
  const partials = partialsOf("i32", size, into);
  return `fn ${name}(value: f32, lid: i32, lane: i32, size: i32) -> f32 {
  let bits = bitcast<i32>(value);
  let rising = bits ^ ((bits >> 31u) & 0x7fffffff);
  let mine = ${subgroupOp[reducer]}(select(rising, ${reducer === "max" ? "0x7fffffff" : "-0x7fffffff - 1"}, ${use("isNan", 1)}(value)));
${acrossSubgroups(partials, size, (i) => `${reducer}(result, ${partials}[${i}])`)}
  return bitcast<f32>(result ^ ((result >> 31u) & 0x7fffffff));
}`;
};

/** Statements that give an accumulator what came before it and its carry what came in all. */
export function prefixLines(
  reducer: Reducer,
  dtype: Dtype,
  [own, carry]: readonly string[],
  { size, subgroups }: Pick<CombineOptions, "size" | "subgroups">,
  into: Declarations,
  use: Use,
): string[] {
  const type = scalarType(dtype);
  const name = `prefix_${reducer}_${type}`;
  const partials = partialsOf(dtype, size, into);
  const pair = (a: string, b: string): string => pairText(reducer, dtype, a, b, use);
  const head = `fn ${name}(own: ptr<function, ${type}>, carry: ptr<function, ${type}>, lid: i32`;
  into.set(name, head + (subgroups ? prefixBySubgroups : prefixBySteps)(partials, size, pair));
  const lanes = subgroups ? ", i32(subgroupLane), i32(subgroupSize)" : "";
  // Narrow integers are joined in 32 bits.
  const narrow = dtype === "u8" || dtype === "i8" ? [own!, carry!] : [];
  return [
    `${name}(&${own}, &${carry}, lid${lanes});`,
    ...narrow.map((acc) => `${acc} = ${wrapped(atom(acc), dtype).text};`),
  ];
}

type PrefixText = (
  partials: string,
  size: number,
  pair: (a: string, b: string) => string,
) => string;

/**
 * Each step joins what the invocation twice as far before has, until that is before the first
 * (Hillis and Steele 1986).
 */
const prefixBySteps: PrefixText = (partials, size, pair) => `) {
  var sum = *own;
  for (var span = 1; span < ${size}; span = span * 2) {
    ${partials}[lid] = sum;
    workgroupBarrier();
    if (span <= lid) {
      sum = ${pair(`${partials}[lid - span]`, "sum")};
    }
    workgroupBarrier();
  }
  ${partials}[lid] = sum;
  workgroupBarrier();
  *own = *carry;
  if (0 < lid) {
    *own = ${pair("*carry", `${partials}[lid - 1]`)};
  }
  *carry = ${pair("*carry", `${partials}[${size - 1}]`)};
  workgroupBarrier();
}`;

/**
 * The same steps inside a subgroup, without memory; the last of each puts down what all of it came
 * to.
 */
const prefixBySubgroups: PrefixText = (partials, size, pair) => `, lane: i32, size: i32) {
  var sum = *own;
  for (var span = 1; span < size; span = span * 2) {
    let earlier = subgroupShuffleUp(sum, u32(span));
    if (span <= lane) {
      sum = ${pair("earlier", "sum")};
    }
  }
  let earlier = subgroupShuffleUp(sum, 1u);
  if (lane == size - 1 || lid == ${size - 1}) {
    ${partials}[lid / size] = sum;
  }
  workgroupBarrier();
  var all = *carry;
  for (var i = 0; i < (${size} + size - 1) / size; i++) {
    if (i == lid / size) {
      *own = all;
    }
    all = ${pair("all", `${partials}[i]`)};
  }
  if (0 < lane) {
    *own = ${pair("*own", "earlier")};
  }
  *carry = all;
  workgroupBarrier();
}`;

/**
 * argMax and argMin: extreme and position travel together; of equal extremes the smaller position
 * stays.
 */
export function combineArg(
  reducer: Reducer,
  dtype: Dtype,
  names: { best: string; position: string },
  options: CombineOptions,
  into: Declarations,
  use: Use,
): string[] {
  const type = scalarType(dtype);
  const { size } = options;
  const name = `combine_${reducer}_${type}${suffixOf(options)}`;
  const partials = partialsOf(dtype, size, into);
  const places = `places_${reducer}`;
  into.set(places, `var<workgroup> ${places}: array<i32, ${size}>;`);
  const [a, b] = [`${partials}[lid]`, `${partials}[lid + span]`];
  const better = reducer === "argMax" ? `${a} < ${b}` : `${b} < ${a}`;
  const nan = isFloat(dtype) ? use("isNan", 1) : "";
  const [aNan, bNan] = nan ? [`${nan}(${a})`, `${nan}(${b})`] : ["false", "false"];
  const body = [
    `let tie = select(${a} == ${b}, ${aNan} == ${bNan}, ${aNan} | ${bNan});`,
    `let later = select(${better}, ${bNan}, ${aNan} | ${bNan});`,
    `let wins = select(later, ${places}[lid + span] < ${places}[lid], tie);`,
    "if (wins) {",
    `  ${a} = ${b};`,
    `  ${places}[lid] = ${places}[lid + span];`,
    "}",
  ];
  const [steps, from] = treeOf(options, body);
  into.set(
    name,
    `fn ${name}(best: ptr<function, ${type}>, place: ptr<function, i32>, lid: i32) {
  ${partials}[lid] = *best;
  ${places}[lid] = *place;
  workgroupBarrier();
${steps}
  *best = ${partials}[${from}];
  *place = ${places}[${from}];
  workgroupBarrier();
}`,
  );
  return [`${name}(&${names.best}, &${names.position}, lid);`];
}
