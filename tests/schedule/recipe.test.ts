/** Recipes as text: what they make of a kernel, and why a step of one is refused. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { apply, naive, tryRecipe } from "../../compiler/src/schedule/recipe.ts";
import { where } from "../../compiler/src/schedule/serial/recipe.ts";
import { programs } from "../stages/programs.ts";
import { naiveKernelsOf } from "../support/naive.ts";
import { moves } from "./all-moves.ts";

const sums = `kernel sums
  dim N
  read x@: f32[12*N]
  write y@: f32[N]
{
  loop i' < N parallel {
    acc sum0: f32 = 0 widened
    loop j' < 3 simd {
      loop k' < 4 simd {
        accumulate sum0 by sum x@[12*i'+4*j'+k']
      }
    }
    store y@[i'] = sum0
  }
}
`;
const body = (text: string): readonly Stmt[] => parseKernel(text).body;
const reads = (made: readonly Stmt[], of = sums): string =>
  printKernel({ ...parseKernel(of), body: made }).replace(/^[^{]*/, "");

test("a recipe reads as what is done", () => {
  const made = tryRecipe(
    body(sums),
    "merge; mark k serial; split i 2 block c; inline i; expand c 2",
  );
  assert.is(
    reads(made as readonly Stmt[]),
    `{
  array sum0s: private f32[2]
  loop block' < N step 2 parallel {
    loop c' < min(2,N-block') parallel where c' < 2 {
      store sum0s[c'] = 0
    }
    loop k' < 12 serial {
      loop c' < min(2,N-block') parallel where c' < 2 {
        acc sum0: f32 = sum0s[c'] widened
        accumulate sum0 by sum x@[12*block'+12*c'+k']
        store sum0s[c'] = sum0
      }
    }
    loop c' < min(2,N-block') parallel where c' < 2 {
      store y@[block'+c'] = sum0s[c']
    }
  }
}
`,
  );
});

test("blocks of two loops are walked as squares", () => {
  const map = `kernel map
  read x@: f32[96]
  write y@: f32[96]
{
  loop i' < 8 parallel {
    loop j' < 12 parallel {
      store y@[12*i'+j'] = x@[i'+8*j']
    }
  }
}
`;
  const made = tryRecipe(body(map), "split i 4; split j 6; reorder jBlock iIn; mark jIn simd");
  assert.is(
    reads(made as readonly Stmt[]),
    `{
  loop iBlock' < 8 step 4 parallel {
    loop jBlock' < 12 step 6 parallel {
      loop iIn' < 4 parallel {
        index i' = iBlock'+iIn' where i' < 8
        loop jIn' < 6 simd {
          index j' = jBlock'+jIn' where j' < 12
          store y@[12*i'+j'] = x@[i'+8*j']
        }
      }
    }
  }
}
`,
  );
});

const product = `kernel product
  dim N
  read a@: f32[30]
  read b@: f32[6*N]
  write y@: f32[5*N]
{
  loop i' < 5 parallel {
    loop j' < N parallel {
      acc c: f32 = 0 widened
      loop k' < 6 serial {
        let a = a@[6*i'+k']
        let b = b@[6*j'+k']
        fma c += a * b
      }
      store y@[i'*N+j'] = convert.stored(c):f32
    }
  }
}
`;

test("an operand is staged before a loop, and a register tile reads it beyond an edge", () => {
  const made = tryRecipe(
    body(product),
    "split j 2 block s; inline j; reorder block i; mark i serial; stage b panel i k s; registers s",
    moves,
  );
  assert.is(
    reads(made as readonly Stmt[], product),
    `{
  array cs: private f32[2]
  loop block' < N step 2 parallel {
    array panel: private f32[12]
    loop bs' < min(2,N-block') serial {
      loop bk' < 6 serial {
        store panel[2*bk'+bs'] = b@[bk'+6*block'+6*bs']
      }
    }
    loop i' < 5 serial {
      acc c0: f32 = 0 widened
      acc c1: f32 = 0 widened
      loop k' < 6 serial {
        let a = a@[6*i'+k']
        let b0 = panel[2*k']
        let b1 = panel[2*k'+1]
        fma c0 += a * b0
        fma c1 += a * b1
      }
      store cs[0] = c0
      store cs[1] = c1
      loop s' < min(2,N-block') parallel where s' < 2 {
        store y@[i'*N+block'+s'] = cs[s']
      }
    }
  }
}
`,
  );
});

test("what lies beyond the edge of a window is zero, and is not loaded", () => {
  const made = tryRecipe(
    body(product),
    "split i 4 t r; inline i; mark t serial; stage double a panel t t k r",
    moves,
  );
  assert.is(
    reads(made as readonly Stmt[], product).split("  loop t'")[0],
    `{
  array panel: private f32[48] widened
  loop at' < 2 serial {
    loop ar' < 4 serial {
      loop ak' < 6 serial {
        store panel[4*ak'+ar'+24*at'] = a@[ak'+6*ar'+24*at' if -ar'-4*at'+4 >= 0]
      }
    }
  }
`,
  );
});

function whyNot(text: string, recipe: string): string {
  const made = tryRecipe(body(text), recipe, moves);
  return "why" in made ? `${made.step}: ${made.why}` : "made";
}

test("what cannot be staged, or kept in registers, says why", () => {
  const why = (recipe: string): string => whyNot(product, recipe);
  const [wide, inBlocks] = ["registers i j", "split j 4 t r; inline j"];
  assert.is(why("stage a panel i i k"), "stage a panel i i k: i is parallel");
  assert.is(why("stage b panel j"), "stage b panel j: a window has one loop or more");
  assert.is(why("stage q panel j j"), "stage q panel j j: there is no q in j");
  assert.is(why("stage b panel j j"), "stage b panel j j: b depends on k");
  assert.is(why("stage b panel k i"), "stage b panel k i: i is no loop around b");
  assert.is(why(wide), `${wide}: j has more than 9 iterations`);
  assert.is(why("registers k"), "registers k: k is serial");
  assert.is(why("expand i 5"), "expand i 5: c takes in products, which an array rounds");
  assert.is(why("split j 4 t r; registers r"), "registers r: j is used in the loop");
  assert.is(why(`${inBlocks}; registers r`), "registers r: b may end before r does");
});

test("a schedule does without a step that the program forbids, and any other refusal is a fault", () => {
  const from = apply(naive(body(product)), ["mark", "i", "serial"]);
  assert.match(where(from, ["stage", "b", "panel", "i", "j", "k"]).recipe, /stage b panel i j k$/);
  const inPlace = product.replace("  read b@: f32[6*N]\n", "").replace("b@[", "y@[");
  const own = apply(naive(body(inPlace)), ["mark", "i", "serial"]);
  assert.is(where(own, ["stage", "b", "panel", "i", "j", "k"]), own);
  assert.throws(
    () => where(own, ["stage", "b", "panel", "i", "n"]),
    /stage b panel i n: n is no loop around b/,
  );
});

test("a move that cannot be made says why", () => {
  const why = (recipe: string): string => whyNot(sums, recipe);
  assert.is(why("fly i"), "fly i: there is no move fly");
  assert.is(why("unroll q 2"), "unroll q 2: there is no loop q");
  assert.is(why("unroll j 2"), "unroll j 2: j is simd");
  assert.is(why("mark j parallel"), "mark j parallel: j is simd, not parallel");
  assert.is(why("mark i unrolled"), "mark i unrolled: i has N iterations");
  assert.is(why("split i none"), "split i none: none is no number of iterations");
  assert.is(why("split i 2 j k"), "split i 2 j k: there is a j already");
  assert.is(why("expand j 4"), "expand j 4: j is simd, not parallel");
  assert.is(why("expand i 4"), "expand i 4: i has more than 4 iterations");
  assert.is(why("flatten row j i"), "flatten row j i: i does not stand directly in j");
  assert.is(why("mark k serial; flatten row j k"), "flatten row j k: k is serial, j simd");
  assert.is(why("reorder k j"), "reorder k j: j is simd, not parallel");
  assert.is(
    why("split i 2; reorder j iBlock"),
    "reorder j iBlock: j does not stand in iIn with nothing beside it",
  );
  assert.is(why("split i 2; reorder iIn iBlock"), "reorder iIn iBlock: iIn depends on iBlock");
  assert.is(why("split i 2; unroll i 2"), "unroll i 2: there is no loop i");
  assert.throws(
    () => apply(naive(body(sums)), ["unroll", "q'", 2]),
    /^bug in schedule: unroll q 2: there/,
  );
});

const line = (step: string, before = "acc sum0: i32 = 0:i32"): readonly Stmt[] =>
  body(`kernel line
  read x@: i32[12]
  readwrite y@: i32[12]
{
  loop i' < 3 parallel {
    ${before}
    loop r' < 4 serial {
      ${step}
    }
  }
}
`);
const sum = "accumulate sum0 by sum x@[4*i'+r']";

test("a line whose steps cannot be taken in parts is not shared", () => {
  const why = (step: string, before?: string): string => {
    const made = tryRecipe(line(step, before), "scan i r 64", moves);
    return "why" in made ? made.why : "made";
  };
  const store = "store y@[4*i'+r'] = sum0";
  assert.is(why(`${sum}\n${store}`), "made");
  assert.is(why(`${store}\n${sum}`), "made");
  assert.is(why(`${store}\n${sum}\n${store}`), "sum0 is read on both sides");
  assert.is(why("store y@[4*i'+r'] = x@[4*i'+r']"), "nothing runs along the line");
  assert.is(why(`${sum}\n${sum}`), "sum0 is changed elsewhere");
  assert.is(
    why(
      `${sum}\naccumulate max1 by max sum0`,
      "acc sum0: i32 = 0:i32\nacc max1: i32 = -2147483648:i32",
    ),
    "sum0 is taken in by a step",
  );
  assert.is(why(sum, "acc sum0: i32 = 5:i32"), "sum0 does not begin with what changes nothing");
  assert.is(
    why(sum, "store y@[i'] = 0:i32\nacc sum0: i32 = 0:i32"),
    "a store stands before the line",
  );
  assert.is(why(`if r' >= 0 {\n${sum}\n}`), "a if stands on the line");
  assert.is(why(`${sum}\nstore y@[i'] = sum0`), "several steps may write an element of y@");
  assert.is(
    why(`${sum}\nstore y@[4*i'+floor(r'/2)] = sum0`.replace("floor(r'/2)", "(r'/2)")),
    "several steps may write an element of y@",
  );
  assert.is(
    why(`store y@[4*i'+r'] = x@[4*i'+r']\naccumulate sum0 by sum y@[4*i'+r']`),
    "y@ is read after it is written",
  );
  assert.is(
    why("accumulate sum0 by any x@[4*i'+r']", "acc sum0: i32 = 0:i32"),
    "parts of sum0 are not joined",
  );
  const made = tryRecipe(line(sum), "mark r unrolled; scan i r 64", moves);
  assert.is("why" in made && made.why, "r is unrolled, not serial");
});

test("what all invocations of a row run writes nothing", () => {
  const row = (first: string): readonly Stmt[] =>
    body(`kernel row
  read x@: f32[12]
  write y@: f32[12]
  write z@: f32[12]
{
  loop i' < 3 parallel {
    ${first}
    loop j' < 4 simd {
      store z@[4*i'+j'] = x@[4*i'+j']
    }
  }
}
`);
  const store = row("loop k' < 4 serial {\nstore y@[4*i'+k'] = x@[4*i'+k']\n}");
  for (const step of ["cooperate i j", "teams i j 2 4"]) {
    const made = tryRecipe(store, step, moves);
    assert.is("why" in made && made.why, "a loop stands before j");
    const read = row("acc sum0: f32 = 0\nloop k' < 4 serial {\naccumulate sum0 by sum x@[k']\n}");
    assert.not("why" in tryRecipe(read, step, moves));
  }
});

/** Panels are private arrays in recipes, and memory of the plan in kernels of js. */
const withoutPanels = (text: string): string =>
  text.replace(/^ *array packed.*\n/gm, "").replaceAll(/(packed\w)@/g, "$1");

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: the recipe of a kernel makes it of the naive one`, () => {
    let replayed = 0;
    for (const make of Object.values(programs))
      for (const { naive: from, scheduled, recipe } of naiveKernelsOf(make(), { target })) {
        // Contractions of wasm and webgpu are built.
        if (recipe === undefined) continue;
        const made = tryRecipe(from.body, recipe, moves);
        assert.not("why" in made, recipe);
        const again = printKernel({ ...scheduled, body: made as Kernel["body"] });
        assert.is(withoutPanels(again), withoutPanels(printKernel(scheduled)), recipe);
        replayed++;
      }
    assert.ok(replayed >= 15, `${replayed} kernels`);
  });

test.run();
