/** Every op gives what TensorFlow.js gives for the same graph, with extents declared and open. */
import { test } from "uvu";
import {
  type Case,
  convolutions,
  dynamic,
  elementwise,
  indexed,
  movements,
  reductions,
} from "./cases.ts";
import { GraphWriter } from "./graph.ts";
import { agree, byKiln, byTfjs } from "./oracle.ts";

/** One graph of all cases, whose outputs are labelled. */
function graphOf(cases: readonly Case[]): { graph: GraphWriter; labels: string[] } {
  const graph = new GraphWriter();
  const labels: string[] = [];
  for (const { op, inputs, attrs, outputs } of cases) {
    const operands = inputs.map((make) => make(graph));
    const node = graph.node(op, operands, attrs);
    for (let k = 0; k < outputs; k++) {
      graph.output(k ? `${node}:${k}` : node);
      labels.push(`${node} ${JSON.stringify(attrs)} output ${k}`);
    }
  }
  return { graph, labels };
}

const families = { elementwise, reductions, convolutions, movements, indexed, dynamic };

for (const [family, cases] of Object.entries(families))
  test(`${family}: ops give what TensorFlow.js gives`, async () => {
    const { graph, labels } = graphOf(cases);
    const wanted = await byTfjs(graph);
    for (const open of [false, true]) {
      const got = await byKiln(graph, open);
      for (const [i, where] of labels.entries())
        agree(got[i]!, wanted[i]!, `${where}${open ? ", extents open" : ""}`);
    }
  });

test.run();
