/**
 * A function of tensors as an ONNX model with the current values of its parameters, for other runtimes.
 */
import {
  checkOptions,
  GraphError,
  type HostArray,
  type OptionNames,
  type Tensor,
} from "@kiln-ml/ir";
import { exportOnnx as exportGraph } from "@kiln-ml/onnx";
import { declare, type InputSpec, inputTree, isSpec } from "../compile/inputs.ts";
import { traceFunction } from "../compile/traced.ts";
import { arraysOf } from "../devices/engine.ts";
import { inOrder, sessionFor } from "../devices/session.ts";
import { homeOf } from "../eager/eager.ts";

export interface OnnxExportOptions {
  /** Types of the arguments, one entry each. Names in them become the names of the model's inputs. */
  readonly inputs: readonly InputSpec[];
  /** The version of the standard ops; 21 by default, 18 at least. */
  readonly opset?: number;
  /** The name of the graph. */
  readonly name?: string;
}

const onnxExportOptions: OptionNames<OnnxExportOptions> = { inputs: 1, opset: 1, name: 1 };

/**
 * The bytes of an ONNX model that computes what `fn` returns. Symbols in shapes become named extents.
 *
 * Rejects with GraphError for ops that ONNX has nothing for, all in one message, and for a function that assigns parameters.
 */
export const exportOnnx = (
  fn: (...args: never[]) => unknown,
  options: OnnxExportOptions,
): Promise<Uint8Array> =>
  inOrder(async () => {
    const { inputs, ...rest } = checkOptions("exportOnnx", options, onnxExportOptions);
    const { program, states } = traceFunction(fn, inputTree(inputs, isSpec, declare));
    if (program.updates.length)
      throw new GraphError(
        `exportOnnx: ${fn.name || "the function"} assigns ${program.updates.length} parameters; a model for inference assigns none\n  export the forward pass, after net.eval()`,
      );
    const hosts = new Map<Tensor, HostArray>();
    for (const t of states) {
      const [array] = await arraysOf(homeOf([t]) ?? (await sessionFor()), [t]);
      hosts.set(t, (await array!.data()) as HostArray);
    }
    return exportGraph(program, { ...rest, weights: (t) => hosts.get(t)! });
  });
