/**
 * Kernel IR: loops, loads and stores with integer index expressions, scalar expressions,
 * accumulators, local arrays and barriers. Built by the schedules in `schedule/`, printed by
 * `targets/`. It says what runs in parallel and how wide; each printer says how that is spelled.
 * Index expressions are `Dim`s over loop variables and the graph's symbols.
 */
import type { Condition, Dim, Dtype, Reducer } from "@kiln-ml/ir";
import type { MatrixStep } from "./matrix.ts";

/**
 * A value of one element. In a vector loop, an expression that depends on the loop variable has
 * lanes.
 */
export type Expr =
  | { readonly kind: "const"; readonly dtype: Dtype; readonly value: number }
  /**
   * Element `index` of a buffer or array; where `guard` fails the load must not happen and the
   * value is 0.
   */
  | {
      readonly kind: "load";
      readonly from: string;
      readonly index: Dim;
      readonly guard: readonly Condition[];
      readonly dtype: Dtype;
    }
  /** An index expression used as an i32 value. */
  | { readonly kind: "index"; readonly value: Dim; readonly dtype: "i32" }
  /** A conjunction of conditions used as a bool value. */
  | { readonly kind: "test"; readonly conditions: readonly Condition[]; readonly dtype: "bool" }
  /** A name bound by `let` or `acc`. */
  | { readonly kind: "ref"; readonly name: string; readonly dtype: Dtype }
  /** An elementwise op of the IR, by name; `select` and `convert` too. */
  | {
      readonly kind: "call";
      readonly op: string;
      readonly args: readonly Expr[];
      readonly dtype: Dtype;
      /** Of `exp`: its operand is known to be at most 0, or NaN. */
      readonly nonPositive?: true;
      /**
       * The kernel stores it, so that its other readers must see what memory holds: it is rounded
       * where it is made.
       */
      readonly stored?: true;
    };

export type LoopKind =
  | "serial"
  | "unrolled" // static extent, repeated in the text
  | "simd" // iterations are independent but for accumulators; several at a time where the target has lanes
  | "vector" // static extent = width: one vector operation on targets that have it, else serial
  | "parallel" // iterations are independent; threads on a CPU
  | "workgroup" // one workgroup an iteration (GPU); at most three nested, outermost first
  | "local"; // strided over the invocations of the workgroup (GPU): i = local id, local id + size, …

export type Stmt =
  | { readonly kind: "comment"; readonly text: string }
  | { readonly kind: "let"; readonly name: string; readonly value: Expr }
  /** Binds the index symbol `name` to an index expression. */
  | { readonly kind: "letIndex"; readonly name: string; readonly value: Dim }
  /** Binds the index symbol `name` to a run-time i32 value. */
  | { readonly kind: "letDynamic"; readonly name: string; readonly value: Expr }
  /** Binds the index symbol `name` to the invocation's number in its workgroup (GPU). */
  | { readonly kind: "letInvocation"; readonly name: string }
  /**
   * Binds it to the number of the invocation's subgroup in its workgroup, which is the same for all
   * of the subgroup (GPU).
   */
  | { readonly kind: "letSubgroup"; readonly name: string }
  | { readonly kind: "matrix"; readonly does: MatrixStep }
  /**
   * A mutable scalar; `wide` accumulators may be kept in more precision than the dtype (f64 in JS).
   */
  | {
      readonly kind: "acc";
      readonly name: string;
      readonly dtype: Dtype;
      readonly init: Expr;
      readonly widened: boolean;
      /**
       * Kept in no more bytes than in memory where the target can; it is only set and stored, never
       * combined.
       */
      readonly narrow?: true;
    }
  | { readonly kind: "set"; readonly name: string; readonly value: Expr }
  /** acc = acc ⊕ value, the addition, product, maximum … of a reducer. NaN wins in max and min. */
  | {
      readonly kind: "accumulate";
      readonly name: string;
      readonly reducer: Reducer;
      readonly value: Expr;
      readonly position?: Dim;
    }
  /**
   * acc = acc + a·b, in one operation where the target has it; a and b are of the accumulator's
   * dtype, or halves where that is f32.
   */
  | { readonly kind: "fma"; readonly name: string; readonly a: Expr; readonly b: Expr }
  | {
      readonly kind: "loop";
      readonly name: string; // the loop variable, a symbol in index expressions
      readonly extent: Dim; // the loop runs while its variable is less than this
      readonly start?: Dim; // default 0
      readonly step?: number; // default 1
      readonly loop: LoopKind;
      readonly body: readonly Stmt[];
    }
  | { readonly kind: "if"; readonly when: readonly Condition[]; readonly then: readonly Stmt[] }
  | { readonly kind: "store"; readonly to: string; readonly index: Dim; readonly value: Expr }
  /**
   * In a loop that starts at 0: what stands before is computed before what follows is loaded, for
   * compilers that otherwise load all operands first and run out of registers (CPU).
   */
  | { readonly kind: "scheduleBarrier" }
  /**
   * Brings the cache line of an element near, which must exist, and gives no value: for the targets
   * that are to wait less (CPU).
   */
  | { readonly kind: "prefetch"; readonly from: string; readonly index: Dim }
  /**
   * A local array: registers or stack, or workgroup memory. A `widened` one may be kept in more
   * precision than the dtype (f64 in JS), like an accumulator.
   */
  | {
      readonly kind: "array";
      readonly name: string;
      readonly dtype: Dtype;
      readonly size: Dim;
      readonly space: "private" | "shared";
      readonly widened?: true;
      /** Elements a vector access takes; 1 unless every access is that wide and aligned (GPU). */
      readonly width?: 1 | 2 | 4;
      /**
       * Elements are rounded to the dtype and take as many bytes as in memory, where the target can
       * (GPU).
       */
      readonly narrow?: true;
      /**
       * Number of equal sub-arrays, indexed as one array. Loads at a static offset in a sub-array
       * skip the bounds check (GPU).
       */
      readonly parts?: number;
    }
  /**
   * order[0…count) = the places of the first `count` of keys[0…size) in sorted order, equal keys as
   * they stand (CPU). Keys are i32, or f64 among which NaN is the greatest; the keys are lost.
   */
  | {
      readonly kind: "sort";
      readonly keys: string;
      readonly order: string;
      /** An i32 array of four words for each i32 key, of eight for each f64. */
      readonly spare: string;
      readonly size: Dim;
      readonly count: Dim;
      readonly descending: boolean;
    }
  | { readonly kind: "barrier" }
  /**
   * Combines each invocation's accumulators over the workgroup; afterwards all of them hold the
   * result.
   */
  | {
      readonly kind: "combine";
      readonly names: readonly string[];
      readonly reducers: readonly Reducer[];
      /** Of runs of so many invocations each, a power of two; default all of the workgroup. */
      readonly team?: number;
      /** The invocations of a team are not neighbours, but as far apart as there are teams. */
      readonly apart?: true;
    }
  /**
   * Workgroup-wide exclusive scan: each accumulator becomes carry-in plus the accumulators of all
   * lower invocations; `carries` then hold that of all, the next tile's carry-in. For sum, prod,
   * max and min.
   */
  | {
      readonly kind: "prefix";
      readonly names: readonly string[];
      readonly carries: readonly string[];
      readonly reducers: readonly Reducer[];
    };

/** The statements of one kind. */
export type Of<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;

/** A tensor the kernel reads or writes, or scratch memory. Row-major, offset 0. */
export interface Param {
  readonly name: string;
  readonly dtype: Dtype;
  readonly size: Dim; // elements
  readonly access: "read" | "write" | "readwrite" | "scratch";
  /** Of scratch memory: kept in more precision than the dtype (f64 in JS). */
  readonly widened?: true;
  /**
   * Elements a vector access may take; 1 unless every access of the kernel is that wide and
   * aligned.
   */
  readonly width: 1 | 2 | 4;
}

/** Statements of the user in a target's language. */
export interface CustomText {
  readonly text: string;
  /** Names of the parameters in the text, by number; several where one is several operands. */
  readonly arrays: readonly {
    readonly name: string;
    readonly param: number;
    readonly shape: readonly Dim[];
  }[];
  /** How often a GPU runs it. */
  readonly threads: Dim;
}

export interface Kernel {
  readonly name: string; // an identifier, unique in its artifact
  readonly params: readonly Param[];
  /**
   * Names of the graph's symbols that index expressions use, passed as i32 arguments after the
   * params.
   */
  readonly dims: readonly string[];
  readonly body: readonly Stmt[];
  /** Invocations per workgroup (GPU); 1 on the CPU. */
  readonly workgroupSize: number;
  /** Counts for reports: bytes moved and floating-point operations, as dims. */
  readonly bytes: Dim;
  readonly flops: Dim;
  /** What it does, in the place of `body`. */
  readonly custom?: CustomText;
}
