/**
 * Every op, movement and composite as a method of Tensor: `x.exp()` is `exp(x)`. Installed once, when the package
 * is loaded; a function is a method because it is exported by one of the modules listed here.
 */
import { GraphError } from "./errors.ts";
import { Tensor } from "./node.ts";
import { broadcastTo } from "./ops/broadcast.ts";
import * as activation from "./ops/composite/activation.ts";
import * as arithmetic from "./ops/composite/arithmetic.ts";
import { at, get } from "./ops/composite/indexing.ts";
import * as product from "./ops/composite/product.ts";
import * as statistics from "./ops/composite/statistics.ts";
import { traceOf, tril, triu } from "./ops/composite/triangle.ts";
import * as contraction from "./ops/contraction.ts";
import * as convolution from "./ops/convolution.ts";
import * as create from "./ops/create.ts";
import * as cumulative from "./ops/cumulative.ts";
import * as binary from "./ops/elementwise/binary.ts";
import * as compare from "./ops/elementwise/compare.ts";
import * as convert from "./ops/elementwise/convert.ts";
import * as unary from "./ops/elementwise/unary.ts";
import * as gather from "./ops/gather.ts";
import * as movement from "./ops/movement.ts";
import * as pool from "./ops/pool.ts";
import * as reduce from "./ops/reduce.ts";
import { argSort, sort, topK } from "./ops/sort.ts";

/** Of modules whose other functions do not take a tensor first, or are not worth a page's bytes as methods. */
const some = {
  convolution: convolution.convolution,
  broadcastTo,
  get,
  at,
  tril,
  triu,
  trace: traceOf,
  maxPool: pool.maxPool,
  avgPool: pool.avgPool,
  argSort,
  sort,
  topK,
  zerosLike: create.zerosLike,
  onesLike: create.onesLike,
  fullLike: create.fullLike,
};

type Ops = typeof unary &
  typeof binary &
  typeof compare &
  typeof convert &
  typeof movement &
  typeof reduce &
  typeof cumulative &
  typeof contraction &
  typeof activation &
  typeof arithmetic &
  typeof product &
  typeof statistics &
  typeof gather &
  typeof some;

type Method<F> = F extends (x: never, ...rest: infer R) => infer T ? (...rest: R) => T : never;

export type Methods = {
  readonly [K in keyof Ops as Ops[K] extends (...args: never[]) => unknown ? K : never]: Method<
    Ops[K]
  >;
};

const modules = [
  unary,
  binary,
  compare,
  convert,
  movement,
  reduce,
  cumulative,
  contraction,
  activation,
  arithmetic,
  product,
  statistics,
  gather,
  some,
];

for (const module of modules)
  for (const [name, op] of Object.entries(module) as [string, unknown][])
    if (typeof op === "function")
      Object.defineProperty(Tensor.prototype, name, {
        configurable: true,
        value(this: Tensor, ...rest: unknown[]) {
          // Defaults stand in for undefined alone.
          const at = rest.indexOf(null);
          if (at >= 0)
            throw new GraphError(
              `${name}: argument ${at + 1} is null\n  leave it out, or pass undefined`,
            );
          return (op as (...args: unknown[]) => unknown)(this, ...rest);
        },
      });
