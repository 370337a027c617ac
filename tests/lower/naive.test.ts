/** Lowering without a target: one kernel a group, in the group's own loops, which can be read and run. */
import { evaluateDim, input, type Tensor } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import type { Program } from "../../compiler/src/program.ts";
import { interpret } from "../printers/interpret.ts";
import { programs } from "../stages/programs.ts";
import { randomProgram } from "../support/graphs.ts";
import { sized } from "../support/kernels-of.ts";
import { naiveKernelsOf } from "../support/naive.ts";
import { runs } from "../support/setup.ts";

const programOf = (inputs: readonly Tensor[], ...values: Tensor[]): Program => ({
  inputs,
  outputs: values.map((value, i) => ({ name: `y${i}`, value })),
  updates: [],
});

/** The statements of a program's naive kernels. */
const textOf = (program: Program): string =>
  naiveKernelsOf(program, { target: "js" })
    .map(({ naive }) => printKernel(naive).replace(/^[^{]*\{/, "{"))
    .join("");

test("a map has the loops of its result, whose iterations are independent", () => {
  const x = input("x", "f32", [2, 3]);
  assert.is(
    textOf(programOf([x], x.exp().add(x))),
    `{
  loop i0' < 2 parallel {
    loop i1' < 3 parallel {
      %1 = x@[3*i0'+i1']
      store add@[3*i0'+i1'] = add.stored(exp(%1), %1)
    }
  }
}
`,
  );
});

test("a row has a phase for each reduction that needs another, and one for what is left", () => {
  const x = input("x", "f32", [2, 12]);
  assert.is(
    textOf(programOf([x], x.softmax())),
    `{
  loop i0' < 2 parallel {
    acc max0: f32 = -inf
    loop r1' < 12 simd {
      accumulate max0 by max x@[12*i0'+r1']
    }
    acc sum1: f32 = 0 widened
    loop r1' < 12 simd {
      accumulate sum1 by sum exp.nonPositive(sub(x@[12*i0'+r1'], max0))
    }
    loop r1' < 12 simd {
      store mul@[12*i0'+r1'] = mul.stored(exp.nonPositive(sub(x@[12*i0'+r1'], max0)), reciprocal(sum1))
    }
  }
}
`,
  );
});

test("a sum over all rows makes their loop one that is independent but for it", () => {
  const x = input("x", "f32", [3, 12]);
  assert.match(
    textOf(programOf([x], x.softmax().mul(x).sum(1).sum(0))),
    /acc sum\d: f32 = 0 widened\n {2}loop i0' < 3 simd \{/,
  );
});

test("a scan takes the steps of its axis in order", () => {
  const x = input("x", "f32", [2, 12]);
  assert.is(
    textOf(programOf([x], x.cumsum(1))),
    `{
  loop i0' < 2 parallel {
    acc sum0: f32 = 0 widened
    loop r1' < 12 serial {
      accumulate sum0 by sum x@[12*i0'+r1']
      store cumsum@[12*i0'+r1'] = convert.stored(sum0):f32
    }
  }
}
`,
  );
});

test("a product adds up its terms along depth, and rounds the sum", () => {
  const [a, b] = [input("a", "f32", [2, 3]), input("b", "f32", [3, 4])];
  assert.is(
    textOf(programOf([a, b], a.matmul(b).add(1))),
    `{
  loop i0' < 2 parallel {
    loop i1' < 4 parallel {
      acc c: f32 = 0 widened
      loop k0' < 3 serial {
        let a = a@[3*i0'+k0']
        let b = b@[i1'+4*k0']
        fma c += a * b
      }
      store add@[4*i0'+i1'] = add.stored(convert.stored(c):f32, 1)
    }
  }
}
`,
  );
});

/** What a kernel makes of arrays of small numbers. */
function results(kernel: Kernel, dims: Readonly<Record<string, number>>): number[][] {
  const arrays = kernel.params.map((p, k) =>
    Array.from({ length: evaluateDim(p.size, dims) }, (_, i) => ((5 * i + 3 * k) % 7) % 4),
  );
  interpret(kernel, arrays, dims);
  return arrays;
}

const agree = (program: Program, dims: Readonly<Record<string, number>>): void => {
  for (const { naive, scheduled } of naiveKernelsOf(program, { target: "js" }))
    assert.equal(
      results(naive, dims),
      // Panels in scratch memory stand last.
      results(scheduled, dims).slice(0, naive.params.length),
      `${printKernel(naive)}\n${printKernel(scheduled)}`,
    );
};

test("golden programs: the naive kernel comes to what the schedule's comes to", () => {
  for (const make of Object.values(programs)) agree(make(), { N: 3 });
});

test("random programs: the naive kernel comes to what the schedule's comes to", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), fc.constantFrom(1, 3), (p, N) =>
      agree(sized(p.program), { N }),
    ),
    { numRuns: runs(60) },
  );
});

test.run();
