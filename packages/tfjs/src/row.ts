/**
 * What a row of the table is: how one kernel of TensorFlow.js is made of ops of the IR. A row sees
 * types, never values; one that has no form for what it is given says so by `undefined`, and the
 * kernel runs on the cpu backend.
 */
import type { Tensor } from "kiln-ml/ir";

/** The inputs by the names that tfjs gives them; lists by number. */
export type Operands = Readonly<Record<string, Tensor>>;

export type Result = Tensor | readonly Tensor[] | undefined;

export type Row = (operands: Operands, attrs: never) => Result;

/** Rows by the name of the kernel. */
export type Rows = Readonly<Record<string, Row>>;
