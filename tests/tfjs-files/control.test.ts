/**
 * Branches and loops of graph models give what TensorFlow.js gives; lists, of which its executor
 * loses track in loops and splits, what TensorFlow says.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { GraphWriter } from "./graph.ts";
import { agree, byKiln, byTfjs } from "./oracle.ts";

type Args = readonly (readonly [name: string, type: string])[];

const types: Readonly<Record<string, string>> = {
  f: "DT_FLOAT",
  i: "DT_INT32",
  l: "DT_VARIANT",
  b: "DT_BOOL",
};

/** A function of the library; nodes are [name, op, inputs, attributes]. */
function define(
  graph: GraphWriter,
  name: string,
  args: Args,
  nodes: readonly (readonly [string, string, readonly string[], object?])[],
  results: readonly (readonly [type: string, reference: string])[],
): { func: { name: string } } {
  graph.library.push({
    signature: {
      name,
      inputArg: args.map(([arg, type]) => ({ name: arg, type: types[type] })),
      outputArg: results.map(([type], i) => ({ name: `r${i}`, type: types[type] })),
    },
    nodeDef: nodes.map(([node, op, input, attr = {}]) => ({ name: node, op, input, attr })),
    ret: Object.fromEntries(results.map(([, reference], i) => [`r${i}`, reference])),
  });
  return { func: { name } };
}

async function check(graph: GraphWriter): Promise<void> {
  const wanted = await byTfjs(graph);
  for (const open of [false, true]) {
    const got = await byKiln(graph, open);
    for (const [i, w] of wanted.entries()) agree(got[i]!, w, `output ${i}`);
  }
}

test("a branch that the run chooses", async () => {
  for (const flag of [0, 1]) {
    const graph = new GraphWriter();
    const x = graph.input([3], [1, -2, 3]);
    const condition = graph.input([], [flag], "bool");
    const branch = (name: string, op: string) =>
      define(
        graph,
        name,
        [["x", "f"]],
        [["y", op, ["x"]]],
        [["f", `y:${op === "Relu" ? "activations" : "y"}:0`]],
      );
    const attrs = { then_branch: branch("yes", "Relu"), else_branch: branch("no", "Neg") };
    graph.output(graph.node("StatelessIf", [condition, x], attrs));
    await check(graph);
  }
});

/** while i < n: x = x · x + i. */
function squares(graph: GraphWriter, limit: string): void {
  const args: Args = [
    ["i", "i"],
    ["n", "i"],
    ["x", "f"],
  ];
  const one = graph.constant([], [1], "int32");
  const start = graph.constant([], [0], "int32");
  const all: Args = [...args, ["one", "i"]];
  const cond = define(graph, "test", all, [["less", "Less", ["i", "n"]]], [["b", "less:z:0"]]);
  const body = define(
    graph,
    "body",
    all,
    [
      ["next", "AddV2", ["i", "one"]],
      ["f", "Cast", ["i"], { DstT: { type: "DT_FLOAT" } }],
      ["sq", "Mul", ["x", "x"]],
      ["y", "AddV2", ["sq:z:0", "f:y:0"]],
    ],
    [
      ["i", "next:z:0"],
      ["i", "n"],
      ["f", "y:z:0"],
      ["i", "one"],
    ],
  );
  const x = graph.input([2], [0.5, -0.1]);
  const loop = graph.node("StatelessWhile", [start, limit, x, one], { cond, body });
  graph.output(loop);
  graph.output(`${loop}:2`);
}

test("loops of few trips, of many, and of as many as the run says", async () => {
  for (const trips of [0, 3, 6]) {
    const known = new GraphWriter();
    squares(known, known.constant([], [trips], "int32"));
    await check(known);
    const told = new GraphWriter();
    squares(told, told.input([], [trips], "int32"));
    await check(told);
  }
});

/** A list that a loop fills with multiples of x, its elements' shape declared or not. */
function filled(shape: readonly number[]): GraphWriter {
  const graph = new GraphWriter();
  const num = (v: number) => graph.constant([], [v], "int32");
  const element = graph.constant([shape.length], shape, "int32");
  const list = graph.node("TensorListReserve", [element, num(6)], { element_dtype: "DT_FLOAT" });
  const args: Args = [
    ["i", "i"],
    ["l", "l"],
    ["x", "f"],
    ["one", "i"],
    ["n", "i"],
  ];
  const cond = define(graph, "test", args, [["less", "Less", ["i", "n"]]], [["b", "less:z:0"]]);
  const body = define(
    graph,
    "body",
    args,
    [
      ["next", "AddV2", ["i", "one"]],
      ["f", "Cast", ["i"], { DstT: { type: "DT_FLOAT" } }],
      ["item", "Mul", ["x", "f:y:0"]],
      ["set", "TensorListSetItem", ["l", "i", "item:z:0"], { element_dtype: { type: "DT_FLOAT" } }],
    ],
    [
      ["i", "next:z:0"],
      ["l", "set:output_handle:0"],
      ["f", "x"],
      ["i", "one"],
      ["i", "n"],
    ],
  );
  const x = graph.input([2], [1, -2]);
  const loop = graph.node("StatelessWhile", [num(0), list, x, num(1), num(6)], { cond, body });
  const stack = graph.node("TensorListStack", [`${loop}:1`, element], {
    element_dtype: "DT_FLOAT",
    num_elements: -1,
  });
  graph.output(stack);
  return graph;
}

async function gives(graph: GraphWriter, wanted: readonly (readonly number[])[]): Promise<void> {
  for (const open of [false, true]) {
    const got = await byKiln(graph, open);
    assert.equal(
      got.map((y) => y.values),
      wanted,
    );
  }
}

test("lists that loops fill", async () => {
  const multiples = [0, -0, 1, -2, 2, -4, 3, -6, 4, -8, 5, -10];
  await gives(filled([2]), [multiples]);
  await gives(filled([-1]), [multiples]);
});

test("lists that are read, split and joined", async () => {
  const graph = new GraphWriter();
  const dtype = { element_dtype: "DT_FLOAT" };
  const x = graph.input([3, 2], [1, 2, 3, 4, 5, 6]);
  const shape = graph.constant([1], [2], "int32");
  const at = graph.constant([], [1], "int32");
  const list = graph.node("TensorListFromTensor", [x, shape], dtype);
  graph.output(graph.node("TensorListGetItem", [list, at, shape], dtype));
  graph.output(
    graph.node("TensorListGather", [list, graph.constant([2], [2, 0], "int32"), shape], dtype),
  );
  graph.output(graph.node("TensorListLength", [list]));
  const lengths = graph.constant([2], [1, 2], "int32");
  const parts = graph.node("TensorListSplit", [x, shape, lengths], dtype);
  graph.output(
    graph.node("TensorListConcatV2", [parts], {
      ...dtype,
      element_shape: { shape: { dim: [{ size: "-1" }, { size: "2" }] } },
    }),
  );
  await gives(graph, [[3, 4], [5, 6, 1, 2], [3], [1, 2, 3, 4, 5, 6]]);
});

test.run();
