/**
 * Everything public that takes a record of options refuses one that it does not know, with the name
 * that was probably meant. What takes options is read off the sources; each must have its row here.
 */
import { readdirSync, readFileSync } from "node:fs";
import * as artifacts from "@kiln-ml/artifact";
import * as compiler from "@kiln-ml/compiler";
import * as data from "@kiln-ml/data";
import * as dataNode from "@kiln-ml/data/node";
import * as formats from "@kiln-ml/formats";
import * as ir from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as onnx from "@kiln-ml/onnx";
import * as optim from "@kiln-ml/optim";
import * as runtime from "@kiln-ml/runtime";
import { loadEntries } from "@kiln-ml/runtime/entries";
import * as stablehlo from "@kiln-ml/stablehlo";
import * as xla from "@kiln-ml/xla";
import * as kiln from "kiln-ml";
import * as kilnNode from "kiln-ml/node";
import * as kilnOnnx from "kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { functionRows, type Row } from "./option-rows.ts";
import { takersIn } from "./option-takers.ts";

const { compile, GraphError, input, tensor } = kiln;

const matrix = () =>
  tensor([
    [1, 2],
    [3, 4],
  ]);
const image = () => tensor(new Float32Array(16), { shape: [1, 1, 4, 4] });
const indices = () => tensor([0, 1], { dtype: "i32" });
const identity = (x: kiln.Tensor) => x;
const weights = () => [kiln.param([1, 2], { name: "w" })];
const recurrent = { RNN: nn.RNN, GRU: nn.GRU, LSTM: nn.LSTM };
const cpu = runtime.createCpuDevice();
const bytes = new Uint8Array(8);
const net = () => new nn.Linear(2, 2);

const classes = { ...nn } as unknown as Readonly<
  Record<string, new (...args: unknown[]) => unknown>
>;
/** A layer by name, with what it takes before its options. */
const layer = (name: string, option: string, ...args: unknown[]): Row => [
  `nn ${name}`,
  option,
  (o) => new classes[name]!(...args, o),
];

// biome-ignore format: one function a row
const rows: readonly Row[] = [
  ...functionRows,
  layer("GCNConv", "bias", 2, 3), layer("GATConv", "heads", 2, 3),
  layer("SAGEConv", "aggregation", 2, 3),
  layer("GINConv", "trainEps", new nn.Linear(2, 2)),
  ...["RNNCell", "GRUCell", "LSTMCell"].map((name) => layer(name, "bias", 2, 3)),
  ["ir valueAndGrad", "cotangent", (o) => ir.valueAndGrad(matrix().sum(), [], o)],
  ["ir printGraph", "updates", (o) => ir.printGraph({ params: [], results: [] }, o)],
  ["ir dotGeneral", "lhsContract", (o) => ir.dotGeneral(matrix(), matrix(), o)],
  ["ir convolution", "lhsDilation", (o) => ir.convolution(image(), image(), o)],
  ["ir convTranspose", "outputPadding", (o) => ir.convTranspose(image(), image(), o)],
  ["ir deformConv", "mask", (o) => ir.deformConv(image(), image(), image(), o)],
  ["ir quantize", "range", (o) => ir.quantize(matrix(), 1, o)],
  ["ir quantized", "bits", (o) => ir.quantized(matrix(), Object.assign({ bits: 8 as const }, o))],
  ["ir dequantize", "zero", (o) => ir.dequantize(indices(), 1, o)],
  ["ir windows", "dilation", (o) => ir.windows(matrix(), Object.assign({ size: 1 }, o))],
  ["ir foldWindows", "extent", (o) => ir.foldWindows(matrix(), Object.assign({ size: 1 }, o))],
  ["ir maxPool", "ceilMode", (o) => ir.maxPool(image(), Object.assign({ size: 2 }, o))],
  ["ir avgPool", "countIncludePad", (o) => ir.avgPool(image(), Object.assign({ size: 2 }, o))],
  ["ir gather", "negative", (o) => ir.gather(matrix(), [indices()], [0], o)],
  ["ir scatter", "negative", (o) => ir.scatter(matrix(), matrix(), [indices()], [0], "add", o)],
  ["ir take", "negative", (o) => ir.take(matrix(), indices(), 0, o)],
  ["ir takeAlongAxis", "negative", (o) => ir.takeAlongAxis(matrix(), matrix().convert("i32"), 0, o)],
  ["ir argSort", "descending", (o) => ir.argSort(matrix(), 0, o)],
  ["ir sort", "descending", (o) => ir.sort(matrix(), 0, o)],
  ["ir topK", "largest", (o) => ir.topK(matrix(), 1, 0, o)],
  ["ir maxWithIndices", "keepDims", (o) => ir.maxWithIndices(matrix(), 0, o)],
  ["ir minWithIndices", "keepDims", (o) => ir.minWithIndices(matrix(), 0, o)],
  ["ir sortWithIndices", "descending", (o) => ir.sortWithIndices(matrix(), 0, o)],
  ["ir searchsorted", "right", (o) => ir.searchsorted(indices(), indices(), o)],
  ["ir bucketize", "right", (o) => ir.bucketize(indices(), indices(), o)],
  ["ir bincount", "weights", (o) => ir.bincount(indices(), 2, o)],
  ["ir histogram", "range", (o) => ir.histogram(matrix(), 2, o)],
  ["ir meshgrid", "indexing", (o) => ir.meshgrid([indices()], o)],
  ["ir maxPoolWithIndices", "ceilMode", (o) => ir.maxPoolWithIndices(image(), Object.assign({ size: 2 }, o))],
  ["ir maxUnpool", "outputSize", (o) => ir.maxUnpool(image(), image(), Object.assign({ size: 2 }, o))],
  ["ir interpolate", "alignCorners", (o) => ir.interpolate(image(), Object.assign({ scale: 2 }, o))],
  ["ir gridSample", "alignCorners", (o) => ir.gridSample(image(), image(), o)],
  ["ir affineGrid", "alignCorners", (o) => ir.affineGrid(image(), [1, 1, 2, 2], o)],
  ["ir nonzero", "size", (o) => ir.nonzero(matrix(), o)],
  ["ir unique", "sorted", (o) => ir.unique(matrix(), Object.assign({ size: 2 }, o))],
  ["ir scan", "reverse", (o) => ir.scan([matrix()], [matrix()], (carry) => ({ carry, ys: [] }), o)],
  ["ir whileLoop", "maxTrips", (o) => ir.whileLoop([tensor(1)], (x) => x.less(1), (x) => [x], o)],
  ["stablehlo dataParallel", "axis", (o) => stablehlo.dataParallel(o)],
  ["stablehlo fsdp", "least", (o) => stablehlo.fsdp(o)],
  ["stablehlo tensorParallel", "columns", (o) => stablehlo.tensorParallel(o)],
  ["xla xla", "shard", (o) => xla.xla({ mesh: stablehlo.mesh({ data: 1 }), ...(o as object) })],
  ["stablehlo exportStableHlo", "donate", (o) => stablehlo.exportStableHlo({ params: [], results: [] }, o)],
  ["ir mean", "keepDims", (o) => matrix().mean(0, o)],
  ["ir variance", "correction", (o) => matrix().variance(0, o)],
  ["ir std", "correction", (o) => matrix().std(0, o)],
  ["ir norm", "order", (o) => matrix().norm(0, o)],
  ["ir logSumExp", "keepDims", (o) => matrix().logSumExp(0, o)],
  ...(["sum", "prod", "max", "min", "argMax", "argMin"] as const).map((name): Row =>
    [`ir ${name}`, "keepDims", (o) => matrix()[name](0, o)]),
  ...(["any", "all"] as const).map((name): Row =>
    [`ir ${name}`, "keepDims", (o) => matrix().greater(1)[name](0, o)]),
  ...(["cumsum", "cumprod", "cummax", "cummin"] as const).map((name): Row =>
    [`ir ${name}`, "exclusive", (o) => matrix()[name](0, o)]),
  ["ir uniform", "dtype", (o) => ir.random.uniform(ir.random.key(1), [2], o)],
  ["ir normal", "mean", (o) => ir.random.normal(ir.random.key(1), [2], o)],
  ["nn attention", "causal", (o) => nn.attention(matrix(), matrix(), matrix(), o)],
  ["nn MultiHeadAttention", "bias", (o) => new nn.MultiHeadAttention(4, 2, o)],
  ["nn MultiHeadAttention.forward", "value", (o) => new nn.MultiHeadAttention(4, 2).forward(tensor([[[1, 2, 3, 4]]]), o)],
  ["nn BatchNorm1d", "momentum", (o) => new nn.BatchNorm1d(2, o)],
  ["nn BatchNorm2d", "affine", (o) => new nn.BatchNorm2d(2, o)],
  ["nn Conv1d", "biasInit", (o) => new nn.Conv1d(1, 1, 3, o)],
  ["nn Conv2d", "padding", (o) => new nn.Conv2d(1, 1, 3, o)],
  layer("Conv3d", "paddingMode", 1, 1, 3),
  layer("DeformConv2d", "dilation", 1, 1, 3),
  ...[1, 2, 3].flatMap((n) => [
    layer(`ConvTranspose${n}d`, "outputPadding", 1, 1, 3),
    layer(`LPPool${n}d`, "ceilMode", 2, 2),
    layer(`InstanceNorm${n}d`, "affine", 2),
  ]),
  ...[1, 3].flatMap((n) => [
    layer(`MaxPool${n}d`, "dilation", 2),
    layer(`AvgPool${n}d`, "countIncludePad", 2),
  ]),
  layer("GlobalAvgPool", "keepDims"),
  layer("PReLU", "init", 2),
  layer("PositionalEncoding", "timescale", 4),
  layer("RotaryEncoding", "theta", 4),
  layer("PositionWiseFeedForward", "activation", 2, 2),
  layer("TransformerEncoderLayer", "normFirst", 4, 2),
  layer("TransformerDecoderLayer", "normFirst", 4, 2),
  layer("TransformerEncoder", "kvHeads", 1, 4, 2),
  layer("TransformerDecoder", "kvHeads", 1, 4, 2),
  layer("RReLU", "seed", 0.1, 0.2),
  layer("SwiGLU", "biasInit", 2, 2),
  layer("GEGLU", "biasInit", 2, 2),
  layer("Maxout", "pieces", 2, 2),
  ...["Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "GaussianNoise"].map((name) =>
    layer(name, "seed", 0.5)),
  layer("CosineSimilarity", "axis"),
  layer("PairwiseDistance", "keepDims"),
  layer("Bilinear", "biasInit", 2, 2, 2),
  layer("Unfold", "padding", 2),
  layer("Fold", "stride", 2, 2),
  layer("EmbeddingBag", "paddingIdx", 2, 2),
  ["nn EmbeddingBag.forward", "offsets", (o) => new nn.EmbeddingBag(2, 2).forward(tensor([[0]], { dtype: "i32" }), o)],
  ["nn init.kaimingUniform", "mode", (o) => nn.init.kaimingUniform(0, o)],
  ["nn init.kaimingNormal", "mode", (o) => nn.init.kaimingNormal(0, o)],
  layer("GlobalMaxPool", "keepDims"),
  layer("BatchNorm3d", "trackRunningStats", 2),
  layer("LocalResponseNorm", "alpha", 2),
  ["nn crossEntropy", "labelSmoothing", (o) => nn.crossEntropy(matrix(), indices(), o)],
  ["nn nll", "ignoreIndex", (o) => nn.nll(matrix(), indices(), o)],
  ["nn Dropout", "seed", (o) => new nn.Dropout(0.5, o)],
  ["nn Embedding", "init", (o) => new nn.Embedding(2, 2, o)],
  ["nn KeyStream", "seed", (o) => new nn.KeyStream(o)],
  ["nn Linear", "biasInit", (o) => new nn.Linear(2, 2, o)],
  ["nn Dense", "activation", (o) => new nn.Dense(2, o)],
  ["nn mse", "reduction", (o) => nn.mse(matrix(), matrix(), o)],
  ["nn l1", "reduction", (o) => nn.l1(matrix(), matrix(), o)],
  ["nn huber", "delta", (o) => nn.huber(matrix(), matrix(), o)],
  ["nn smoothL1", "beta", (o) => nn.smoothL1(matrix(), matrix(), o)],
  ["nn bce", "reduction", (o) => nn.bce(matrix(), matrix(), o)],
  ["nn bceWithLogits", "positiveWeight", (o) => nn.bceWithLogits(matrix(), matrix(), o)],
  ["nn ctc", "zeroInfinity", (o) => nn.ctc(tensor([[[1, 2]]]), tensor([[1]], { dtype: "i32" }), o)],
  ["nn lp", "reduction", (o) => nn.lp(matrix(), matrix(), o)],
  ["nn gaussianNll", "full", (o) => nn.gaussianNll(matrix(), matrix(), matrix(), o)],
  ["nn poissonNll", "logInput", (o) => nn.poissonNll(matrix(), matrix(), o)],
  ["nn klDiv", "logTarget", (o) => nn.klDiv(matrix(), matrix(), o)],
  ["nn hingeEmbedding", "margin", (o) => nn.hingeEmbedding(matrix(), matrix(), o)],
  ["nn marginRanking", "margin", (o) => nn.marginRanking(matrix(), matrix(), matrix(), o)],
  ["nn softMargin", "reduction", (o) => nn.softMargin(matrix(), matrix(), o)],
  ["nn multiMargin", "weight", (o) => nn.multiMargin(matrix(), indices(), o)],
  ["nn multiLabelSoftMargin", "weight", (o) => nn.multiLabelSoftMargin(matrix(), matrix(), o)],
  ["nn tripletMargin", "swap", (o) => nn.tripletMargin(matrix(), matrix(), matrix(), o)],
  ["nn cosineEmbedding", "margin", (o) => nn.cosineEmbedding(matrix(), matrix(), indices(), o)],
  ["nn focal", "gamma", (o) => nn.focal(matrix(), matrix(), o)],
  ["nn dice", "smooth", (o) => nn.dice(matrix(), matrix(), o)],
  ["nn infoNce", "temperature", (o) => nn.infoNce(matrix(), matrix(), o)],
  ["nn gramMatrixLoss", "reduction", (o) => nn.gramMatrixLoss(image(), image(), o)],
  ["nn LayerNorm", "affine", (o) => new nn.LayerNorm(2, o)],
  ["nn RmsNorm", "eps", (o) => new nn.RmsNorm(2, o)],
  ["nn GroupNorm", "affine", (o) => new nn.GroupNorm(1, 2, o)],
  ["nn MaxPool2d", "ceilMode", (o) => new nn.MaxPool2d(2, o)],
  ["nn AvgPool2d", "padding", (o) => new nn.AvgPool2d(2, o)],
  ...(["RNN", "GRU", "LSTM"] as const).map((name): Row =>
    [`nn ${name}`, "bidirectional", (o) => new recurrent[name](2, 2, o)]),
  ["nn LSTM.forward", "lengths", (o) => new nn.LSTM(2, 2).forward(tensor([[[1, 2]]]), o)],
  ["optim SGD", "weightDecay", (o) => new optim.SGD(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Adam", "amsgrad", (o) => new optim.Adam(weights(), Object.assign({ lr: 1 }, o))],
  ["optim AdamW", "weightDecay", (o) => new optim.AdamW(weights(), Object.assign({ lr: 1 }, o))],
  ["optim RMSProp", "centered", (o) => new optim.RMSProp(weights(), Object.assign({ lr: 1 }, o))],
  ["optim LBFGS", "historySize", (o) => new optim.LBFGS(weights(), Object.assign({ lr: 1 }, o))],
  ["optim AdaGrad", "lrDecay", (o) => new optim.AdaGrad(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Adadelta", "weightDecay", (o) => new optim.Adadelta(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Adamax", "betas", (o) => new optim.Adamax(weights(), Object.assign({ lr: 1 }, o))],
  ["optim NAdam", "momentumDecay", (o) => new optim.NAdam(weights(), Object.assign({ lr: 1 }, o))],
  ["optim RAdam", "decoupledWeightDecay", (o) => new optim.RAdam(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Adan", "noProx", (o) => new optim.Adan(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Lion", "betas", (o) => new optim.Lion(weights(), Object.assign({ lr: 1 }, o))],
  ["optim LAMB", "clipEach", (o) => new optim.LAMB(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Adafactor", "beta2Decay", (o) => new optim.Adafactor(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Muon", "nsSteps", (o) => new optim.Muon(weights(), Object.assign({ lr: 1 }, o))],
  ["optim Lookahead", "alpha", (o) => new optim.Lookahead(new optim.SGD(weights(), { lr: 1 }), o)],
  ["optim SWA", "every", (o) => new optim.SWA(net(), net(), o)],
  ["optim ReduceOnPlateau", "thresholdMode", (o) => new optim.ReduceOnPlateau(1, o)],
  ["optim schedule.warmup", "shape", (o) => optim.schedule.warmup(1, 2, undefined, o)],
  ["optim schedule.polynomial", "power", (o) => optim.schedule.polynomial(1, 2, o)],
  ["optim schedule.cosineRestarts", "factor", (o) => optim.schedule.cosineRestarts(1, 2, o)],
  ["optim schedule.oneCycle", "threePhase", (o) => optim.schedule.oneCycle(1, 2, o)],
  ["optim SGD group", "weightDecay", (o) => new optim.SGD([Object.assign({ params: weights() }, o)], { lr: 1 })],
  ["optim SGD.apply", "when", (o) => new optim.SGD(weights(), { lr: 1 }).apply([tensor([1, 2])], o)],
  ["optim GradScaler", "growthFactor", (o) => new optim.GradScaler(o)],
  ["data DataLoader", "dropLast", (o) => new data.DataLoader(data.fromArrays([bytes], [[]]), Object.assign({ batch: 1 }, o))],
  ["data serveBatches", "collate", (o) => data.serveBatches(data.fromArrays([bytes], [[]]), o)],
  ["data withReplacement", "count", (o) => data.withReplacement(2, o)],
  ["data weighted", "replacement", (o) => data.weighted([1], o)],
  ["data stratified", "seed", (o) => data.stratified([1], o)],
  ["data byGroup", "batch", (o) => data.byGroup([1], o)],
  ["data bucketByLength", "batch", (o) => data.bucketByLength([1], o)],
  ["data pad", "multiple", (o) => data.pad(o)],
  ["data window", "stride", (o) => data.window(data.itemsOf([1]), Object.assign({ size: 1 }, o))],
  ["data shuffleBuffer", "buffer", (o) => data.shuffleBuffer([1], Object.assign({ buffer: 1 }, o)).next()],
  ["data kFold", "stratify", (o) => data.kFold(data.itemsOf([1, 2]), 2, o)],
  ["data readCsv", "delimiter", (o) => data.readCsv("x", o)],
  ["data readJsonLines", "name", (o) => data.readJsonLines("1", o)],
  ["data decodeImage", "channels", (o) => data.decodeImage(bytes, o)],
  ["data readWav", "name", (o) => data.readWav(bytes, o)],
  ["data readEdf", "name", (o) => data.readEdf(bytes, o)],
  ["data/node readCsvFile", "delimiter", (o) => dataNode.readCsvFile("package.json", o)],
  ["data/node textFolder", "classes", (o) => dataNode.textFolder("docs", o)],
  ["data/node imageFolder", "channels", (o) => dataNode.imageFolder("docs", o)],
  ["data flip", "axis", (o) => data.augment.flip(ir.random.key(1), image(), o)],
  ["data randomCrop", "padding", (o) => data.augment.randomCrop(ir.random.key(1), image(), o)],
  ["data affine", "degrees", (o) => data.augment.affine(ir.random.key(1), image(), o)],
  ["data colorJitter", "brightness", (o) => data.augment.colorJitter(ir.random.key(1), image(), o)],
  ["data cutout", "value", (o) => data.augment.cutout(ir.random.key(1), image(), Object.assign({ size: 1 }, o))],
  ["data noise", "std", (o) => data.augment.noise(ir.random.key(1), image(), o)],
  ["data timeShift", "wrap", (o) => data.augment.timeShift(ir.random.key(1), ir.tensor([[[1, 2]]]), Object.assign({ most: 1 }, o))],
  ["data logMel", "hop", (o) => data.augment.logMel(ir.zeros([1, 800]), Object.assign({ rateHz: 8000 }, o))],
  ["data maskBands", "time", (o) => data.augment.maskBands(ir.random.key(1), ir.zeros([1, 4, 4]), o)],
  ["data mixup", "alpha", (o) => data.augment.mixup(ir.random.key(1), image(), ir.tensor([[1]]), o)],
  ["data cutmix", "alpha", (o) => data.augment.cutmix(ir.random.key(1), image(), ir.tensor([[1]]), o)],
  ["data readIdx", "limitBytes", (o) => data.readIdx(bytes, o)],
  ["data mnistFromIdx", "limitBytes", (o) => data.mnistFromIdx(bytes, bytes, o)],
  ["kiln/node openModel", "signal", (o) => kilnNode.openModel("model.kiln", o)],
  ["artifact loadFromUrl", "relaxed", (o) => artifacts.loadFromUrl("http://localhost/", o)],
  ["formats readNpy", "limitBytes", (o) => formats.readNpy(bytes, o)],
  ["formats readNpyList", "limitBytes", (o) => formats.readNpyList(bytes, o)],
  ["formats readNpz", "select", (o) => formats.readNpz(bytes, o)],
  ["formats writeNpz", "compress", (o) => formats.writeNpz({}, o)],
  ["formats readTensors", "topLevelKey", (o) => formats.readTensors(bytes, o)],
  ["formats readSafetensors", "select", (o) => formats.readSafetensors(bytes, o)],
  ["formats openSafetensors", "request", (o) => formats.openSafetensors(bytes, o)],
  ["formats openSource", "request", (o) => formats.openSource(bytes, o)],
  ["formats readTorch", "checksums", (o) => formats.readTorch(bytes, o)],
  ["onnx exportOnnx", "opset", (o) => onnx.exportOnnx({ inputs: [], outputs: [] }, o)],
  ["onnx exportModel", "opset", (o) => onnx.exportModel({ inputs: [], outputs: [] }, o)],
  ["onnx readModel", "external", (o) => onnx.readModel(bytes, o)],
  ["kiln compile", "target", (o) => compile(identity, o)],
  ["kiln exportArtifact", "weights", (o) => kiln.exportArtifact(identity, Object.assign({ inputs: [[2]] }, o))],
  ["kiln quantizeFunctions", "keep", (o) => kiln.quantizeFunctions({}, Object.assign({ weights: "int8" as const }, o))],
  ["kiln exportEntries", "targets", (o) => kiln.exportEntries({ one: { fn: identity as never, inputs: [[2]] } }, o)],
  ["kiln compile().artifact", "adapter", (o) => compile(identity).artifact(o)],
  ["kiln compile().tune", "guaranteedLimits", (o) => compile(identity, { target: "js" }).tune([[1]], o)],
  ["kiln loadState", "strict", (o) => kiln.loadState(net(), bytes, o)],
  ["kiln loadWeights", "topLevelKey", (o) => kiln.loadWeights(net(), bytes, o)],
  ["kiln/node load", "convert", (o) => kilnNode.load("package.json", net(), o)], ["kiln/node loadTfjs", "signal", (o) => kilnNode.loadTfjs({ model: "", weights: [] }, o)],
  ["kiln/onnx loadOnnx", "external", (o) => kilnOnnx.loadOnnx(bytes, o)],
  ["kiln/onnx exportOnnx", "opset", (o) => kilnOnnx.exportOnnx(identity, Object.assign({ inputs: [[2]] }, o))],
  ["runtime createCpuDevice", "poison", (o) => runtime.createCpuDevice(o)],
  ["runtime createWasmDevice", "threads", (o) => runtime.createWasmDevice(o)],
  ["runtime openWebGpu", "allowSoftware", (o) => runtime.openWebGpu(o)],
  ["runtime load", "kernels", (o) => runtime.load({} as never, cpu, Object.assign({ states: [] }, o))],
  ["runtime loadEntries", "onProgress", (o) => loadEntries(new Map(), cpu, o)],
  ["runtime loadNow", "kernels", (o) => runtime.loadNow({} as never, cpu, Object.assign({ states: [] }, o))],
  ["compiler compileProgram", "rounding", (o) => compiler.compileProgram({ inputs: [], outputs: [], updates: [] }, Object.assign({ target: "js" }, o))],
];

/** Words apart, as other libraries have them; a single word without its second letter. */
const misspelt = (option: string): string =>
  /[A-Z]/.test(option)
    ? option.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)
    : option[0] + option.slice(2);
async function refusal(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

for (const [name, option, call] of rows)
  test(`${name} refuses an option that it does not have`, async () => {
    const key = misspelt(option);
    const error = await refusal(() => call({ [key]: 1 } as never));
    assert.instance(error, GraphError, error.message);
    assert.match(
      error.message,
      new RegExp(`^\\w+(: group)?: there is no option ${key}\n {2}did you mean ${option}\\?$`),
    );
    const unlike = await refusal(() => call({ zqxwvk: 1 } as never));
    assert.match(unlike.message, /^\w+(: group)?: there is no option zqxwvk\n {2}it takes \w+/);
    assert.ok(unlike.message.includes(option), unlike.message);
  });

const packages = {
  ir: { folder: "packages/ir/src", exports: { ...ir, ...ir.random, ...ir.linalg } },
  nn: { folder: "packages/nn/src", exports: nn },
  optim: { folder: "packages/optim/src", exports: optim },
  data: { folder: "packages/data/src", exports: { ...data, ...data.augment } },
  "data/node": { folder: "packages/data/src/node", exports: dataNode },
  artifact: { folder: "packages/artifact/src", exports: artifacts },
  formats: { folder: "packages/formats/src", exports: formats },
  onnx: { folder: "packages/onnx/src", exports: onnx },
  stablehlo: { folder: "packages/stablehlo/src", exports: stablehlo },
  xla: { folder: "packages/xla/src", exports: xla },
  kiln: { folder: "packages/kiln/src", exports: kiln },
  "kiln/node": { folder: "packages/kiln/src", exports: kilnNode },
  "kiln/onnx": { folder: "packages/kiln/src", exports: kilnOnnx },
  runtime: { folder: "runtime/src", exports: runtime },
  compiler: { folder: "compiler/src", exports: compiler },
} as const;

// The check itself; options of errors, which are the engine's; what callers have checked already
// (`grad`, `loadFromUrl`, `openModel`); a base class; what `loadOnnx` alone makes.
const exempt = new Set(
  `ir checkOptions, ir KilnError, ir gradWhereReached, optim Optimizer, kiln/onnx OnnxModel,
  artifact fetchBytes, onnx row`.split(/,\s+/),
);

test("everything public that takes options is in the table", () => {
  const missing: string[] = [];
  let found = 0;
  const covered = new Set(rows.map(([name]) => name));
  for (const [label, { folder, exports }] of Object.entries(packages)) {
    const files = readdirSync(folder, { recursive: true }).map(String);
    for (const file of files.filter((f) => f.endsWith(".ts") && !/cli|ops.row/.test(f)))
      for (const name of takersIn(readFileSync(`${folder}/${file}`, "utf8"))) {
        const full = `${label} ${name}`;
        if (!(name in exports) || exempt.has(full)) continue;
        // The front door gives out what the packages below have.
        if (label.startsWith("kiln") && (name in ir || name in runtime)) continue;
        found++;
        if (!covered.has(full)) missing.push(`${full} (${file})`);
      }
  }
  assert.equal([...new Set(missing)], []);
  assert.ok(found > 70, `${found} found`);
});

test("a record of options is no layer, and a list or a word no record of options", async () => {
  const message = async (call: () => unknown) => (await refusal(call)).message;
  assert.is(
    await message(() => new nn.Sequential({ backend: "webgpu" } as never)),
    "sequential: entry 0 must be a layer, an Input or a function, got Object\n  it takes no options: layers have their own, and compile has the target",
  );
  assert.is(
    await message(() => compile(identity, "webgpu" as never)),
    'compile: options must be an object, got "webgpu"',
  );
  assert.is(
    await message(() => new nn.Linear(2, 2, [true] as never)),
    "linear: options must be an object, got a list",
  );
  assert.is(
    await message(() => new optim.SGD(weights(), { lr: 1, weight_decay: 0.1 } as never)),
    "sgd: there is no option weight_decay\n  did you mean weightDecay?",
  );
  assert.is(
    await message(() => new nn.Conv2d(1, 1, 3, { padding_mode: "reflect" } as never)),
    "conv2d: there is no option padding_mode\n  did you mean paddingMode?",
  );
  assert.is(
    await message(() => compile(identity, { taget: "js" } as never)),
    "compile: there is no option taget\n  did you mean target?",
  );
  assert.is(
    await message(() => compile(identity, { backend: "js" } as never)),
    "compile: there is no option backend\n  it takes target, engine, threads, inputs, check, tap, fusion, rounding, name, observe, tuning, cache",
  );
  assert.is(input("x", "f32").rank, 0);
});

test.run();
