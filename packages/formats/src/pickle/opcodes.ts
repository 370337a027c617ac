/**
 * The opcodes of protocols 0 to 5 by byte, as `pickletools` of CPython lists them. Those for registered extensions and
 * out-of-band buffers are left out: what they stand for is not in the file.
 */

// biome-ignore format: one family a row
const names: Readonly<Record<number, string>> = {
  40: "mark", 46: "stop", 48: "pop", 49: "popMark", 50: "dup",
  70: "float", 71: "binFloat", 73: "int", 74: "binInt", 75: "binInt1", 77: "binInt2", 76: "long", 138: "long1", 139: "long4",
  78: "none", 136: "true", 137: "false",
  83: "string", 84: "binString", 85: "shortBinString", 86: "unicode", 88: "binUnicode", 140: "shortBinUnicode", 141: "binUnicode8",
  66: "binBytes", 67: "shortBinBytes", 142: "binBytes8", 150: "byteArray8",
  93: "emptyList", 97: "append", 101: "appends", 108: "list",
  41: "emptyTuple", 116: "tuple", 133: "tuple1", 134: "tuple2", 135: "tuple3",
  125: "emptyDict", 100: "dict", 115: "setItem", 117: "setItems",
  143: "emptySet", 144: "addItems", 145: "frozenSet",
  103: "get", 104: "binGet", 106: "longBinGet", 112: "put", 113: "binPut", 114: "longBinPut", 148: "memoize",
  99: "global", 147: "stackGlobal", 82: "reduce", 98: "build", 105: "inst", 111: "obj", 129: "newObj", 146: "newObjEx",
  80: "persId", 81: "binPersId",
  128: "proto", 149: "frame",
};

export const opcodeOf = (byte: number): string | undefined => names[byte];
