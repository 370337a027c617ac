/**
 * Functions of tensors and networks, and of a page's devices, data and workers, that take options,
 * with one option of each, for `options.test.ts`.
 */
import { decodeArtifact } from "@kiln-ml/artifact";
import * as data from "@kiln-ml/data";
import * as ir from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { setThreads } from "kiln-ml";
import { openWorker } from "kiln-ml/worker";

/**
 * Calls it with options of which one is misspelt; `lr: 1` and the like are what it cannot do
 * without.
 */
export type Row = readonly [name: string, option: string, call: (options: never) => unknown];

const matrix = () =>
  ir.tensor([
    [1, 2],
    [3, 4],
  ]);
const worker = () => ({ postMessage() {}, terminate() {}, on() {} });
const identity = (x: ir.Tensor) => x;

// biome-ignore format: one function a row
export const functionRows: readonly Row[] = [
  ["nn lora", "rank", (o) => nn.lora(new nn.Linear(2, 2), o)],
  ["nn quantizeWeights", "bits", (o) => nn.quantizeWeights(new nn.Linear(2, 2), Object.assign({ bits: 8 as const }, o))],
  ["nn holdQuantized", "bits", (o) => nn.holdQuantized(new nn.Linear(2, 2), Object.assign({ bits: 8 as const }, o))],
  ["nn Upsample", "scale", (o) => new nn.Upsample(Object.assign({ scale: 2 }, o))],
  ["ir tensor", "dtype", (o) => ir.tensor([1], o)],
  ["ir param", "trainable", (o) => ir.param([1], o)],
  ["ir isClose", "equalNan", (o) => ir.isClose(matrix(), 1, o)],
  ["ir allClose", "equalNan", (o) => ir.allClose(matrix(), 1, o)],
  ["ir nanToNum", "posInf", (o) => ir.nanToNum(matrix(), o)],
  ["ir median", "keepDims", (o) => ir.median(matrix(), 0, o)],
  ["ir quantile", "interpolation", (o) => ir.quantile(matrix(), 0.5, 0, o)],
  ["ir varMean", "correction", (o) => ir.varMean(matrix(), 0, o)],
  ["ir cov", "correction", (o) => ir.cov(matrix(), o)],
  ["ir dim", "max", (o) => ir.dim("N", o)],
  ["ir grad", "cotangent", (o) => ir.grad(matrix().sum(), [], o)],
  ["ir customKernel", "vjp", (o) => ir.customKernel(Object.assign({ name: "k", operands: ["x"], js: "" }, o))],
  ["ir fft", "axis", (o) => ir.fft.rfft(matrix(), o)],
  ["ir gumbelSoftmax", "tau", (o) => ir.random.gumbelSoftmax(ir.random.key(0), matrix(), o)],
  ["ir trapezoid", "axis", (o) => ir.trapezoid(matrix(), o)],
  ["nn rnnt", "blank", (o) => nn.rnnt(ir.zeros([1, 2, 3, 4]), ir.zeros([1, 2], "i32"), o)],
  ["nn toConfig", "functions", (o) => nn.toConfig(new nn.Linear(2, 2), nn, o)],
  ["nn fromConfig", "maxElements", (o) => nn.fromConfig(nn.toConfig(new nn.Flatten()), nn, o)],
  ["nn weightNorm", "axis", (o) => nn.weightNorm(new nn.Linear(2, 2), o)],
  ["nn spectralNorm", "axis", (o) => nn.spectralNorm(new nn.Linear(2, 2), o)],
  ["ir vmap", "inAxes", (o) => ir.vmap(identity, o)],
  ["ir jacobian", "mode", (o) => ir.jacobian(identity, matrix(), o)],
  ["ir cholesky", "upper", (o) => ir.linalg.cholesky(matrix(), o)],
  ["ir triangularSolve", "upper", (o) => ir.linalg.triangularSolve(matrix(), matrix(), o)],
  ["ir pinv", "rtol", (o) => ir.linalg.pinv(matrix(), o)],
  ["ir lstsq", "rtol", (o) => ir.linalg.lstsq(matrix(), matrix(), o)],
  ["ir matrixNorm", "keepDims", (o) => ir.linalg.matrixNorm(matrix(), "fro", o)],
  ["optim sgd", "weightDecay", (o) => optim.sgd(Object.assign({ lr: 1 }, o))],
  ["optim adam", "amsgrad", (o) => optim.adam(Object.assign({ lr: 1 }, o))],
  ["optim adamW", "cautiousWeightDecay", (o) => optim.adamW(Object.assign({ lr: 1 }, o))],
  ["optim rmsProp", "centered", (o) => optim.rmsProp(Object.assign({ lr: 1 }, o))],
  ["data fromPixels", "channels", (o) => data.fromPixels({ data: new Uint8Array(8), width: 2, height: 1 }, o)],
  ["data toPixels", "canvas", (o) => data.toPixels({ data: [1], shape: [1, 1] }, o)],
  ["data fromAudio", "rateHz", (o) => data.fromAudio(new Float32Array(2), o)],
  ["artifact decodeArtifact", "modules", (o) => decodeArtifact(new Map(), o)],
  ["kiln openWorker", "patienceMs", (o) => openWorker(worker(), o)],
  ["kiln openWorker().call", "signal", (o) => openWorker(worker()).call("x", undefined, o)],
  ["kiln setThreads", "threadScript", (o) => setThreads("auto", o)],
];
