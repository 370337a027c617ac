/**
 * Combining the accumulators of a workgroup: a tree over shared memory, or subgroup operations first and their
 * few results after. Every invocation gets the result.
 */
import { type Dtype, isFloat, type Reducer } from "@kiln-ml/ir";
import { isArg } from "../../kernel/uses.ts";
import { scalarType, type Use } from "./spell.ts";

/** Declarations a combine needs, by the name they declare. */
export type Declarations = Map<string, string>;

export interface CombineOptions {
  readonly size: number;
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

/** max and min of floats keep to the tree: subgroupMax need not pass NaN on. */
export const usesSubgroups = (reducer: Reducer, dtype: Dtype, options: CombineOptions): boolean =>
  options.subgroups &&
  !isArg(reducer) &&
  !(isFloat(dtype) && (reducer === "max" || reducer === "min"));

/** The call that combines `value`, whose function is added to `into`. */
export function combineCall(
  reducer: Reducer,
  dtype: Dtype,
  value: string,
  options: CombineOptions,
  into: Declarations,
  use: Use,
): string {
  const type = scalarType(dtype);
  const name = `combine_${reducer}_${type}`;
  const partials = partialsOf(dtype, options.size, into);
  if (usesSubgroups(reducer, dtype, options)) {
    into.set(name, subgroupText(name, reducer, dtype, partials, options.size, use));
    return `${name}(${value}, lid, i32(subgroupLane), i32(subgroupSize))`;
  }
  const pair = pairText(reducer, dtype, `${partials}[lid]`, `${partials}[lid + span]`, use);
  into.set(
    name,
    `fn ${name}(value: ${type}, lid: i32) -> ${type} {
  ${partials}[lid] = value;
  workgroupBarrier();
${tree(options.size, [`${partials}[lid] = ${pair};`])}
  return workgroupUniformLoad(&${partials}[0]);
}`,
  );
  return `${name}(${value}, lid)`;
}

/** Halves the partials until one is left: lines `body` join element `lid + span` to element `lid`. */
function tree(size: number, body: readonly string[]): string {
  const inner = body.map((l) => `      ${l}`).join("\n");
  return `  for (var count = ${size}; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) {
${inner}
    }
    workgroupBarrier();
  }`;
}

/** Invocations are numbered so that a subgroup is a run of them, which every known implementation does. */
function subgroupText(
  name: string,
  reducer: Reducer,
  dtype: Dtype,
  partials: string,
  size: number,
  use: Use,
): string {
  const type = scalarType(dtype);
  return `fn ${name}(value: ${type}, lid: i32, lane: i32, size: i32) -> ${type} {
  let mine = ${subgroupOp[reducer]}(value);
  if (lane == 0) {
    ${partials}[lid / size] = mine;
  }
  workgroupBarrier();
  var result = ${partials}[0];
  for (var i = 1; i < (${size} + size - 1) / size; i++) {
    result = ${pairText(reducer, dtype, "result", `${partials}[i]`, use)};
  }
  workgroupBarrier();
  return result;
}`;
}

/** argMax and argMin: extreme and position travel together; of equal extremes the smaller position stays. */
export function combineArg(
  reducer: Reducer,
  dtype: Dtype,
  names: { best: string; position: string },
  options: CombineOptions,
  into: Declarations,
  use: Use,
): string[] {
  const type = scalarType(dtype);
  const name = `combine_${reducer}_${type}`;
  const partials = partialsOf(dtype, options.size, into);
  const places = `places_${reducer}`;
  into.set(places, `var<workgroup> ${places}: array<i32, ${options.size}>;`);
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
  into.set(
    name,
    `fn ${name}(best: ptr<function, ${type}>, place: ptr<function, i32>, lid: i32) {
  ${partials}[lid] = *best;
  ${places}[lid] = *place;
  workgroupBarrier();
${tree(options.size, body)}
  *best = workgroupUniformLoad(&${partials}[0]);
  *place = workgroupUniformLoad(&${places}[0]);
}`,
  );
  return [`${name}(&${names.best}, &${names.position}, lid);`];
}
