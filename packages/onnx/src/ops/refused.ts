/**
 * Ops that are known and left out, with the reason, for messages and for the generated table. An op has a row in the table of ops or one
 * here; an op with neither is unknown.
 */
export const refused: ReadonlyMap<string, string> = new Map([
  ["ImageDecoder", "images are decoded before they become tensors"],
  ["RegexFullMatch", "strings have no dtype"],
  ["StringConcat", "strings have no dtype"],
  ["StringNormalizer", "strings have no dtype"],
  ["StringSplit", "strings have no dtype"],
  ["ai.onnx.ml.CastMap", "maps have no dtype"],
  ["ai.onnx.ml.CategoryMapper", "strings have no dtype"],
  ["ai.onnx.ml.DictVectorizer", "maps have no dtype"],
  ["ai.onnx.ml.ZipMap", "maps have no dtype"],
]);
