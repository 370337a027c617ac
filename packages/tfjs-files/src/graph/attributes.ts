/**
 * Attributes of a GraphDef's nodes, which JSON has as records with one field named after the kind.
 */
import type { AttributeDef } from "@kiln-ml/onnx";
import type { Field } from "../file/field.ts";
import { elementOf, typeName } from "./types.ts";

/** Bytes of JSON are base64; some converters have left text as it is. */
function textOf(field: Field): string {
  const text = field.text();
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return text;
  try {
    return atob(text);
  } catch {
    return text;
  }
}

export const typeText = (field: Field): string =>
  typeName(typeof field.value === "number" ? field.whole() : field.text());

/** The extents of a shape, −1 for those that are not known; undefined where the rank is not. */
export function shapeOf(field: Field): readonly number[] | undefined {
  if (field.maybe("unknownRank")?.flag()) return undefined;
  const dims = field.maybe("dim");
  return dims ? dims.list().map((d) => d.maybe("size")?.whole() ?? 0) : [];
}

function typeAttribute(field: Field): AttributeDef {
  const name = typeText(field);
  const type = elementOf(name);
  return type
    ? { kind: "type", value: { kind: "tensor", type } }
    : { kind: "type", value: { kind: "other", what: name } };
}

const kinds: Readonly<Record<string, (field: Field) => AttributeDef>> = {
  i: (f) => ({ kind: "int", value: f.whole() }),
  f: (f) => ({ kind: "float", value: f.number() }),
  b: (f) => ({ kind: "int", value: Number(f.flag()) }),
  s: (f) => ({ kind: "string", value: textOf(f) }),
  type: typeAttribute,
  shape: (f) => {
    const dims = shapeOf(f);
    return dims ? { kind: "ints", value: dims } : { kind: "other", what: "a shape without a rank" };
  },
  func: (f) => ({ kind: "reference", value: f.get("name").text() }),
  tensor: () => ({ kind: "other", what: "a tensor" }),
  list: listAttribute,
};

function listAttribute(field: Field): AttributeDef {
  const of = (key: string): readonly Field[] => field.maybe(key)?.list() ?? [];
  const [i, f, b, s] = [of("i"), of("f"), of("b"), of("s")];
  if (i.length) return { kind: "ints", value: i.map((x) => x.whole()) };
  if (f.length) return { kind: "floats", value: f.map((x) => x.number()) };
  if (b.length) return { kind: "ints", value: b.map((x) => Number(x.flag())) };
  if (s.length) return { kind: "strings", value: s.map(textOf) };
  if (of("type").length) return { kind: "type", value: undefined };
  const shapes = of("shape").length + of("func").length + of("tensor").length;
  return {
    kind: "other",
    what: shapes ? "a list of shapes, tensors or functions" : "an empty list",
  };
}

/** A function is a reference to its name; the graph puts its body there. */
export function readAttributes(node: Field): Map<string, AttributeDef> {
  const attributes = new Map<string, AttributeDef>();
  for (const [name, field] of node.maybe("attr")?.entries() ?? []) {
    const kind = Object.keys(kinds).find((key) => field.maybe(key) !== undefined);
    if (kind) attributes.set(name, kinds[kind]!(field.get(kind)));
  }
  return attributes;
}
