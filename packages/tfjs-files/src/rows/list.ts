/**
 * Lists of tensors. One whose elements have a shape that is known is held stacked, as a tensor, so
 * that loops may carry it; another is a sequence, whose length is known while the graph is built.
 */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import {
  asTensorValue,
  type NodeContext,
  optional,
  type Row,
  sequence,
  typed,
  type Value,
} from "@kiln-ml/onnx";
import { asIndex, dtypeAt, range } from "./operand.ts";
import { alike, asValue, tf } from "./row.ts";

/** Elements that a list is made with, at most. */
const mostElements = 1 << 16;

function itemsOf(n: NodeContext, list: Value): readonly Value[] {
  if (list.kind === "sequence") return list.items;
  const { tensor } = asTensorValue(list, "the list");
  const count = tensor.shape[0]!;
  if (!ir.isStatic(count)) return n.fail("the length of the list is not known");
  return range(count).map((i) => asValue(ir.take(tensor, i, 0)));
}

/** The shape of elements that input `i` declares, if every extent of it is known. */
function elementShape(n: NodeContext, i: number): readonly Dim[] | undefined {
  const given = n.has(i) ? n.dims(i) : undefined;
  return given?.every((d) => !(ir.isStatic(d) && d < 0)) ? given : undefined;
}

function reserved(n: NodeContext): Value {
  const [count] = n.dims(1);
  const shape = n.tensor(0).rank === 1 ? elementShape(n, 0) : undefined;
  if (shape) return asValue(ir.zeros([count!, ...shape], dtypeAt(n, "element_dtype")));
  return emptyList(n, count!);
}

function emptyList(n: NodeContext, count: Dim): Value {
  if (!(ir.isStatic(count) && count <= mostElements))
    return n.fail("the list has no length that is known, or one that is too great");
  return sequence(range(count).map(() => optional(undefined)));
}

/** A place of a list that is known, counted from the front. */
function placeOf(n: NodeContext, i: number, length: number): number {
  const at = n.number(i);
  return at >= 0 && at < length ? at : n.fail(`place ${at} is outside a list of ${length}`);
}

const scalar = (n: NodeContext, i: number): Tensor => ir.reshape(asIndex(n.tensor(i)), []);

function read(n: NodeContext, list: Value, i: number): Value {
  if (list.kind !== "sequence")
    return asValue(ir.take(asTensorValue(list, "the list").tensor, scalar(n, i), 0));
  const item = list.items[placeOf(n, i, list.items.length)]!;
  return asValue(asTensorValue(item, "an element that was never written").tensor);
}

function written(n: NodeContext, list: Value, i: number, item: Value): Value {
  const { tensor } = asTensorValue(item, "the element");
  if (list.kind !== "sequence") {
    const all = asTensorValue(list, "the list").tensor;
    const at = ir.reshape(scalar(n, i), [1]);
    return asValue(ir.scatter(all, ir.expandDims(tensor, 0), [at], [0], "set"));
  }
  const at = placeOf(n, i, Math.max(list.items.length, n.number(i) + 1));
  if (at >= mostElements) n.fail(`place ${at} of a list is too great`);
  const length = Math.max(list.items.length, at + 1);
  return sequence(
    range(length).map((k) => (k === at ? asValue(tensor) : (list.items[k] ?? optional(undefined)))),
  );
}

/** All elements along a new axis in front. */
function stacked(n: NodeContext, list: Value): Tensor {
  if (list.kind !== "sequence") return asTensorValue(list, "the list").tensor;
  if (!list.items.length) return n.fail("the list is empty, and its elements have no shape");
  return ir.stack(
    list.items.map((v, i) => asTensorValue(v, `element ${i}, which was never written,`).tensor),
    0,
  );
}

function gathered(n: NodeContext, list: Value, i: number): Tensor {
  if (list.kind !== "sequence")
    return ir.take(asTensorValue(list, "the list").tensor, asIndex(n.tensor(i)), 0);
  const places = n.peek(n.typed(i));
  const inOrder = places?.every((d, k) => d === k) && places.length === list.items.length;
  if (inOrder) return stacked(n, list);
  return ir.take(stacked(n, list), asIndex(n.tensor(i)), 0);
}

/** x[k] at place indices[k] of a new list. */
function scattered(n: NodeContext, x: Tensor, i: number, least: Dim | undefined): Value {
  const places = n.numbers(i);
  const length = Math.max(
    0,
    ...places.map((p) => p + 1),
    least !== undefined && ir.isStatic(least) ? least : 0,
  );
  if (!(length <= mostElements)) n.fail(`a list of ${length} elements is too long`);
  if (places.length === length && places.every((p, k) => p === k)) return asValue(x);
  const items: Value[] = range(length).map(() => optional(undefined));
  for (const [k, at] of places.entries())
    items[at < 0 ? n.fail(`place ${at} is below 0`) : at] = asValue(ir.take(x, k, 0));
  return sequence(items);
}

function joined(n: NodeContext, list: Value): Value[] {
  const items = itemsOf(n, list).map((v, i) => asTensorValue(v, `element ${i}`).tensor);
  if (!items.length) return n.fail("the list is empty, and its elements have no shape");
  return [
    asValue(items.length === 1 ? items[0]! : ir.concat(items, 0)),
    asValue(ir.stack(items.map((t) => ir.dimValue(t.shape[0]!)))),
  ];
}

function split(x: Tensor, lengths: readonly number[]): Value {
  return sequence(ir.split(x, lengths, 0).map(asValue));
}

function pushed(n: NodeContext): Value {
  const list = n.value(0);
  const items = list.kind === "sequence" ? list.items : itemsOf(n, list);
  return sequence([...items, n.value(1)]);
}

function popped(n: NodeContext): Value[] {
  const items = itemsOf(n, n.value(0));
  const last = items.at(-1) ?? n.fail("the list is empty");
  return [sequence(items.slice(0, -1)), last];
}

function lengthOf(list: Value): Tensor {
  if (list.kind === "sequence") return ir.constant(list.items.length, "i32");
  return ir.dimValue(asTensorValue(list, "the list").tensor.shape[0]!);
}

function resized(n: NodeContext): Value {
  const items = itemsOf(n, n.value(0));
  const count = n.number(1);
  if (!(count >= 0 && count <= mostElements)) n.fail(`a list of ${count} elements is not possible`);
  return sequence(range(count).map((i) => items[i] ?? optional(undefined)));
}

/** An array is its flow, which every write passes on: its handle has no value of its own. */
function arrayOf(n: NodeContext): Value[] {
  const declared = n.ints("element_shape", [-1]);
  const known = n.attribute("element_shape")?.kind === "ints" && declared.every((d) => d >= 0);
  const count = n.dims(0)[0]!;
  const flow =
    known && !n.flag("dynamic_size")
      ? asValue(ir.zeros([count, ...declared], dtypeAt(n, "dtype")))
      : emptyList(n, count);
  return [typed(ir.constant(0, "i32"), "int32"), flow];
}

const ofList = "element_dtype shape_type element_shape num_elements leading_dims";
const ofArray =
  "element_shape dynamic_size clear_after_read identical_element_shapes tensor_array_name element_shape_except0";

export const listRows: readonly Row[] = [
  tf("TensorListReserve", ofList, reserved),
  tf("EmptyTensorList", ofList, () => sequence([])),
  tf("TensorListFromTensor", ofList, (n) => n.value(0)),
  tf("TensorListStack", ofList, (n) => stacked(n, n.value(0))),
  tf("TensorListGetItem", ofList, (n) => read(n, n.value(0), 1)),
  tf("TensorListSetItem", `${ofList} resize_if_index_out_of_bounds`, (n) =>
    written(n, n.value(0), 1, n.value(2)),
  ),
  tf("TensorListGather", ofList, (n) => gathered(n, n.value(0), 1)),
  tf("TensorListScatter", ofList, (n) => scattered(n, n.tensor(0), 1, undefined)),
  tf("TensorListScatterV2", ofList, (n) => scattered(n, n.tensor(0), 1, n.dims(3)[0])),
  ...alike("TensorListConcat TensorListConcatV2", ofList, (n) => joined(n, n.value(0))),
  tf("TensorListSplit", ofList, (n) => split(n.tensor(0), n.numbers(2))),
  tf("TensorListPushBack", ofList, pushed),
  tf("TensorListPopBack", ofList, popped),
  tf("TensorListLength", ofList, (n) => lengthOf(n.value(0))),
  tf("TensorListResize", ofList, resized),
  tf("TensorArrayV3", ofArray, arrayOf),
  tf("TensorArrayWriteV3", ofArray, (n) => written(n, n.value(3), 1, n.value(2))),
  tf("TensorArrayReadV3", ofArray, (n) => read(n, n.value(2), 1)),
  tf("TensorArrayGatherV3", ofArray, (n) => gathered(n, n.value(2), 1)),
  tf("TensorArrayScatterV3", ofArray, (n) => scattered(n, n.tensor(2), 1, undefined)),
  tf("TensorArrayConcatV3", ofArray, (n) => joined(n, n.value(1))),
  tf("TensorArraySplitV3", ofArray, (n) => split(n.tensor(1), n.numbers(2))),
  tf("TensorArraySizeV3", ofArray, (n) => lengthOf(n.value(1))),
];
