/** A call of every kernel that has a row, for comparing with tfjs's own cpu backend. */
import * as tf from "@tensorflow/tfjs-core";

type Call = () => tf.Tensor | tf.Tensor[];

/** Numbers between −1 and 1 that look like chance. */
function noise(shape: number[], seed = 1): tf.Tensor {
  let state = seed * 7919;
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
  return tf.tensor(values, shape);
}

const x = (): tf.Tensor => noise([2, 3, 4]);
const y = (): tf.Tensor => noise([3, 4], 2);
const unit = (): tf.Tensor => tf.mul(x(), 0.9);
const positive = (): tf.Tensor => tf.add(tf.abs(x()), 0.1);
const flags = (): tf.Tensor => tf.greater(x(), 0);
const whole = (): tf.Tensor => tf.tensor([7, -7, 5, -5, 0, 3], [6], "int32");
const divisor = (): tf.Tensor => tf.tensor([2, 2, -3, -3, 5, 3], [6], "int32");
const image = (): tf.Tensor4D => noise([2, 6, 5, 3]) as tf.Tensor4D;
/** The cpu backend exchanges the sides of others in its gradients of resizing. */
const square = (): tf.Tensor => noise([2, 5, 5, 3]);
const filter = (): tf.Tensor4D => noise([3, 2, 3, 4], 2) as tf.Tensor4D;
const deep = (): tf.Tensor4D => noise([3, 2, 3, 2], 3) as tf.Tensor4D;
const volume = (): tf.Tensor5D => noise([1, 4, 4, 3, 2]) as tf.Tensor5D;
const index = (): tf.Tensor1D => tf.tensor1d([2, 0, 1, 1], "int32");
const places = (): tf.Tensor2D => tf.tensor2d([[0, 1], [2, 3]], [2, 2], "int32"); // biome-ignore format: pairs
const complex = (): tf.Tensor => tf.complex(x(), noise([2, 3, 4], 5));
const parts = (z: tf.Tensor): tf.Tensor[] => [tf.real(z), tf.imag(z)];

const kernel = (name: string, inputs: object, attrs: object = {}): tf.Tensor =>
  tf.engine().runKernel(name, inputs as never, attrs as never) as tf.Tensor;

const gradientOf = (fn: (...xs: never[]) => tf.Tensor, ...xs: tf.Tensor[]): tf.Tensor[] =>
  tf.grads(fn as (...all: tf.Tensor[]) => tf.Tensor)(xs);

// biome-ignore format: one call a row
export const samples: readonly Call[] = [
  () => tf.abs(x()), () => tf.acos(unit()), () => tf.acosh(tf.add(positive(), 1)),
  () => tf.asin(unit()), () => tf.asinh(x()), () => tf.atan(x()), () => tf.atanh(unit()),
  () => tf.ceil(x()), () => tf.cos(x()), () => tf.cosh(x()), () => tf.elu(x()),
  () => tf.erf(x()), () => tf.exp(x()), () => tf.expm1(x()), () => tf.floor(x()),
  () => tf.isFinite(tf.div(1, tf.relu(x()))), () => tf.isInf(tf.div(1, tf.relu(x()))),
  () => tf.isNaN(tf.sqrt(x())), () => tf.log(positive()), () => tf.log1p(positive()),
  () => tf.neg(x()), () => tf.reciprocal(positive()), () => tf.relu(x()), () => tf.relu6(tf.mul(x(), 9)),
  () => tf.round(tf.mul(x(), 5)), () => tf.rsqrt(positive()), () => tf.selu(x()), () => tf.sigmoid(x()),
  () => tf.sign(x()), () => tf.sin(x()), () => tf.sinh(x()), () => tf.softplus(x()),
  () => tf.sqrt(positive()), () => tf.square(x()), () => tf.tan(x()), () => tf.tanh(x()),
  () => tf.logicalNot(flags()), () => tf.leakyRelu(x(), 0.3), () => tf.step(x(), 0.2),
  () => tf.clipByValue(x(), -0.5, 0.4),
  () => tf.add(x(), y()), () => tf.sub(x(), y()), () => tf.mul(x(), y()), () => tf.div(x(), y()),
  () => tf.floorDiv(whole(), divisor()), () => tf.mod(whole(), divisor()), () => tf.mod(x(), 0.3),
  () => tf.pow(positive(), y()), () => tf.atan2(x(), y()), () => tf.maximum(x(), y()),
  () => tf.minimum(x(), y()), () => tf.squaredDifference(x(), y()),
  () => kernel("BitwiseAnd", { a: whole(), b: divisor() }),
  () => tf.equal(whole(), divisor()), () => tf.notEqual(whole(), divisor()), () => tf.less(x(), y()),
  () => tf.lessEqual(x(), y()), () => tf.greater(x(), y()), () => tf.greaterEqual(x(), y()),
  () => tf.logicalAnd(flags(), tf.greater(y(), 0)), () => tf.logicalOr(flags(), tf.greater(y(), 0)),
  () => tf.prelu(x(), y()), () => gradientOf(tf.elu, x()), () => tf.addN([x(), x(), x()]),
  () => tf.where(flags(), x(), tf.neg(x())),
  () => tf.sum(x(), 1), () => tf.sum(flags(), [0, 2]), () => tf.prod(x(), -1), () => tf.max(x(), 0, true),
  () => tf.min(x()), () => tf.mean(x(), [1, 2]), () => tf.all(flags(), 1), () => tf.any(flags(), 2),
  () => tf.argMax(x(), 1), () => tf.argMin(x(), 2), () => tf.cumsum(x(), 1, true, true),
  () => tf.cumprod(x(), 2), () => tf.softmax(x()), () => tf.logSoftmax(x()),
  () => tf.cast(tf.mul(x(), 9), "int32"), () => tf.cast(x(), "bool"), () => tf.cast(flags(), "float32"),
  () => tf.expandDims(x(), 1), () => tf.transpose(x(), [2, 0, 1]), () => tf.concat([x(), x()], 1),
  () => tf.slice(x(), [0, 1, 1], [2, 2, 2]), () => tf.stridedSlice(x(), [1, 2, 3], [0, 0, 0], [-1, -1, -2]),
  () => tf.split(x(), [1, 3], 2), () => tf.stack([x(), x()], 1), () => tf.unstack(x(), 1),
  () => tf.tile(x(), [1, 2, 1]), () => tf.pad(x(), [[0, 0], [1, 2], [0, 1]], 3),
  () => tf.mirrorPad(x(), [[0, 0], [2, 1], [1, 0]], "reflect"), () => tf.reverse(x(), [0, 2]),
  () => tf.image.flipLeftRight(image()),
  () => tf.onesLike(x()), () => tf.zerosLike(x()), () => tf.fill([2, 3], 4), () => tf.range(0, 5, 2),
  () => tf.linspace(0, 1, 5), () => tf.oneHot(index(), 3), () => tf.diag(tf.tensor1d([1, 2, 3])),
  () => tf.depthToSpace(noise([1, 2, 2, 8]) as tf.Tensor4D, 2),
  () => tf.spaceToBatchND(noise([1, 4, 4, 1]), [2, 2], [[0, 0], [2, 0]]),
  () => tf.batchToSpaceND(noise([4, 2, 2, 1]), [2, 2], [[0, 1], [0, 0]]),
  () => tf.batchToSpaceND(noise([4, 2, 2, 3, 2]), [2, 2], [[0, 1], [0, 0]]),
  () => tf.pool(image(), 2, "max", "same", 2),
  () => tf.clipByValue(tf.tensor1d([Number.NaN, -2, 0.1, 2]), -0.5, 0.4),
  () => tf.matMul(x(), y(), false, true), () => tf.einsum("bij,kj->bki", x(), y()),
  () => tf.fused.matMul({ a: x(), b: y(), transposeB: true, bias: noise([3], 4), activation: "relu" }),
  () => tf.conv2d(image(), filter(), 2, "same"), () => tf.depthwiseConv2d(image(), deep(), 1, "valid"),
  () => tf.fused.conv2d({ x: image(), filter: filter(), strides: 1, pad: 1, bias: noise([4], 4), activation: "sigmoid" }),
  () => tf.fused.depthwiseConv2d({ x: image(), filter: deep(), strides: 1, pad: "same", activation: "elu" }),
  () => gradientOf((a, w) => tf.conv2d(a, w, 2, "same"), image(), filter()),
  () => gradientOf((a, w) => tf.depthwiseConv2d(a, w, 1, "same"), image(), deep()),
  () => tf.conv3d(volume(), noise([2, 2, 2, 2, 3], 2) as tf.Tensor5D, 1, "same"),
  () => gradientOf((a, w) => tf.conv3d(a, w, 1, "valid"), volume(), noise([2, 2, 2, 2, 3], 2)),
  () => tf.maxPool(image(), 3, 2, "same"), () => tf.avgPool(image(), 3, 2, "same"),
  () => gradientOf((a) => tf.maxPool(a, 2, 2, "valid"), image()),
  () => gradientOf((a) => tf.avgPool(a, 3, 2, "same"), image()),
  () => tf.maxPool3d(volume(), 2, 1, "same"), () => tf.avgPool3d(volume(), 2, 1, "same"),
  () => gradientOf((a) => tf.maxPool3d(a, 2, 2, "valid"), volume()),
  () => gradientOf((a) => tf.avgPool3d(a, 2, 1, "same"), volume()),
  () => tf.batchNorm(image(), noise([3]) as tf.Tensor1D, tf.abs(noise([3], 2)) as tf.Tensor1D, noise([3], 4) as tf.Tensor1D),
  () => tf.localResponseNormalization(image(), 1, 1, 0.5, 0.6),
  () => gradientOf((a) => tf.localResponseNormalization(a, 1, 1, 0.5, 0.6), image()),
  () => tf.gather(x(), index(), 1), () => tf.gatherND(y(), places()), () => tf.scatterND(places(), tf.tensor1d([1, 2]), [3, 4]),
  () => tf.tensorScatterUpdate(y(), places(), tf.tensor1d([1, 2])),
  () => tf.sparseToDense(tf.tensor1d([1, 3], "int32"), tf.tensor1d([5, 6]), [5], 1),
  () => tf.unsortedSegmentSum(noise([4, 2]), index(), 3),
  () => { const { values, indices } = tf.topk(x(), 2); return [values, indices]; },
  () => tf.searchSorted(tf.tensor1d([1, 3, 5]), tf.tensor1d([0, 3, 9]), "right"),
  () => tf.bincount(index(), tf.tensor1d([]), 4), () => tf.denseBincount(tf.reshape(index(), [2, 2]) as tf.Tensor2D, tf.tensor2d([], [0, 0]), 4),
  () => tf.image.resizeBilinear(image(), [4, 9], true), () => tf.image.resizeNearestNeighbor(image(), [9, 3], false, true),
  () => gradientOf((a) => tf.image.resizeBilinear(a, [4, 9]), square()),
  () => gradientOf((a) => tf.image.resizeNearestNeighbor(a, [9, 3]), square()),
  () => tf.abs(complex()), () => parts(tf.mul(complex(), complex())), () => parts(tf.add(complex(), complex())),
  () => parts(tf.fft(complex())), () => parts(tf.ifft(complex())), () => parts(tf.concat([complex(), complex()], 1)),
];
