/**
 * What is recorded and not computed yet, in the order of the calls, and the counts by which values
 * live. A node whose results nobody holds is dropped with all that only it needed, so that
 * everything that is left is wanted when a value is read.
 */
import type { Template } from "./template.ts";
import { makeValue, type Node, type Value } from "./value.ts";

export class Graph {
  #pending = new Set<Node>();

  get size(): number {
    return this.#pending.size;
  }

  /** The results of a call, to be computed when one is read. */
  record(template: Template, inputs: readonly Value[]): readonly Value[] {
    const outputs = template.outputs.map((type) => makeValue(type, {}));
    const node: Node = { template, inputs, outputs };
    for (const value of outputs) value.from = node;
    for (const value of inputs) value.users += 1;
    this.#pending.add(node);
    return outputs;
  }

  /** All that is pending, in order, which from here on is the caller's. */
  take(): readonly Node[] {
    const nodes = [...this.#pending];
    this.#pending = new Set();
    for (const { outputs } of nodes) for (const value of outputs) value.from = undefined;
    return nodes;
  }

  /** A data id has the value no more. */
  drop(value: Value): void {
    value.tensors -= 1;
    this.#free([value]);
  }

  /** A pending node, or a run, needs the values no more. */
  release(values: readonly Value[]): void {
    for (const value of values) value.users -= 1;
    this.#free(values);
  }

  /** Frees what nobody holds. A list and no recursion: chains are as long as a program. */
  #free(values: readonly Value[]): void {
    const list = [...values];
    for (let value = list.pop(); value; value = list.pop()) {
      if (value.tensors > 0 || value.users > 0) continue;
      value.array?.dispose();
      value.array = undefined;
      value.host = undefined;
      const node = value.from;
      value.from = undefined;
      if (!node || !this.#pending.has(node) || node.outputs.some(isHeld)) continue;
      this.#pending.delete(node);
      for (const operand of node.inputs) {
        operand.users -= 1;
        list.push(operand);
      }
    }
  }
}

const isHeld = (value: Value): boolean => value.tensors > 0 || value.users > 0;
