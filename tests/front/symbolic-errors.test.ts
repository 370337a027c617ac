/** What scripts are told that take tensors, symbols and options for what they are not, word for word. */
import {
  asStatic,
  compile,
  DtypeError,
  GraphError,
  nn,
  optim,
  param,
  type Tensor,
  tensor,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const same = (x: Tensor) => x;
const asNumber = (x: unknown): number => x as number;

const cases: readonly [typeof GraphError, string, () => unknown][] = [
  [
    GraphError,
    "tensor: f32[2] (data) is used as a number of JavaScript, which it has none of here\n  use x.mul(y), x.greater(y), where(c, x, y), scan for loops, or await x.item() outside of functions",
    () => asNumber(tensor([1, 2])) * 2,
  ],
  [
    GraphError,
    "dim: 2*N is used as a number of JavaScript, which it is only at a run\n  use x.mul(d) or dimValue(d) in the graph, addDim, mulDim and floorDiv for extents, scan for loops, or declare a number",
    () => compile((x: Tensor) => asNumber(x.shape[0]) / 2, { inputs: [["2*N"]] })([1, 2]),
  ],
  [
    GraphError,
    "item: Tensor f32[] (reduceSum) has no value while a function is traced\n  return it from the function and read it there",
    () => compile((x: Tensor) => x.sum().item())([1]),
  ],
  [
    GraphError,
    "asStatic: takes numbers, strings, booleans, and lists and objects of them, got a Set",
    () => asStatic(new Set()),
  ],
  [
    GraphError,
    "run: argument 1 of pick is declared as true",
    () =>
      compile((x: Tensor, _on: boolean) => x, { name: "pick", inputs: [["N"], true] })([1], false),
  ],
  [
    GraphError,
    "compile: there is no option taget\n  did you mean target?",
    () => compile(same, { taget: "js" } as never),
  ],
  [
    GraphError,
    "sgd: there is no option weight_decay\n  did you mean weightDecay?",
    () => new optim.SGD([param([1])], { lr: 1, weight_decay: 0.1 } as never),
  ],
  [
    GraphError,
    'compile: options must be an object, got "webgpu"',
    () => compile(same, "webgpu" as never),
  ],
  [
    GraphError,
    "sequential: entry 0 must be a layer, an Input or a function, got Object\n  it takes no options: layers have their own, and compile has the target",
    () => new nn.Sequential({ backend: "webgpu" } as never),
  ],
  [
    DtypeError,
    "run: input arg0 must be i32, got 1.5",
    () => compile(same, { inputs: [{ shape: ["N"], dtype: "i32" }] })([1.5, 2]),
  ],
  [DtypeError, "tensor: elements must be u8, got 300", () => tensor([300], { dtype: "u8" })],
];

for (const [kind, message, call] of cases)
  test(message.split("\n")[0]!, async () => {
    try {
      await call();
    } catch (error) {
      assert.instance(error, kind);
      assert.is((error as Error).message, message);
      return;
    }
    assert.unreachable(message);
  });

test.run();
