/** What examples of the reference find beside the names of `kiln-ml`: values of common names, made afresh for each, and some of an entry alone. */
import * as kiln from "kiln-ml";
import * as train from "kiln-ml/train";

const { data, fft, linalg, nn, ones, optim, random, tensor, zeros } = kiln;

const sample = (...shape: number[]): kiln.Tensor => random.uniform(random.key(1), shape);
const whole = (values: number[] | number[][]): kiln.Tensor => tensor(values, { dtype: "i32" });
const square = () =>
  tensor([
    [2, 1],
    [1, 3],
  ]);
const edges = whole([
  [0, 1, 2],
  [1, 2, 0],
]);
const numbered = data.fromArrays(
  [
    Float32Array.from({ length: 40 }, (_, i) => i),
    Int32Array.from({ length: 40 }, (_, i) => i % 2),
  ],
  [[], []],
);

/** Two batches of one feature and a class. */
const loader = () =>
  new data.DataLoader(
    data.fromArrays([Float32Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 0, 1)], [[1], []]),
    { batch: 2 },
  );

class Attending extends nn.Module {
  att = new nn.Linear(3, 3);
  forward(x: kiln.Tensor): kiln.Tensor {
    return this.att.forward(x);
  }
}

/** By entry, what its examples find besides. */
// biome-ignore format: an entry a line
const own: Readonly<Record<string, () => Record<string, unknown>>> = {
  at: () => ({ x: sample(3, 2) }),
  cdist: () => ({ points: sample(5, 2), centres: sample(3, 2) }),
  checkpoint: () => ({ block: new nn.Linear(3, 3) }),
  convTranspose: () => ({ x: sample(1, 2, 4, 4), w: sample(2, 3, 3, 3) }),
  cosineSimilarity: () => ({ query: sample(2, 3), keys: sample(2, 3) }),
  deformConv: () => ({ x: sample(1, 2, 4, 4), offset: sample(1, 18, 4, 4), w: sample(3, 2, 3, 3) }),
  "nn.DeformConv2d": () => ({ image: sample(1, 3, 4, 4) }),
  einsum: () => ({ x: square(), q: sample(1, 2, 2, 3), k: sample(1, 2, 2, 3) }),
  gridSample: () => ({ image: sample(1, 1, 3, 3), theta: tensor([[[1, 0, 0], [0, 1, 0]]]) }),
  affineGrid: () => ({ image: sample(1, 1, 3, 3), theta: tensor([[[1, 0, 0], [0, 1, 0]]]) }),
  interpolate: () => ({ image: sample(1, 3, 8, 8) }),
  jvp: () => ({ x: sample(3) }),
  vjp: () => ({ x: sample(3) }),
  maxPoolWithIndices: () => ({ x: sample(1, 1, 4, 4) }),
  maxUnpool: () => kiln.maxPoolWithIndices(sample(1, 1, 4, 4), { size: 2 }) as never,
  pixelShuffle: () => ({ x: sample(1, 4, 3, 3) }),
  pixelUnshuffle: () => ({ x: sample(1, 1, 6, 6) }),
  segmentMax: () => ({ ids: whole([0, 3]) }),
  segmentMean: () => ({ messages: sample(3, 2), targets: whole([0, 1, 1]), nodes: 2 }),
  segmentSoftmax: () => ({ scores: sample(3), targets: whole([0, 1, 1]), nodes: 2 }),
  slogdet: () => ({ covariance: square() }),
  tensor: () => ({ h: zeros([2, 3], "f16") }),
  vmap: () => ({ w: sample(4, 3), vectors: sample(2, 3), xs: sample(2, 3), y: sample(3) }),
  "linalg.eigh": () => ({ covariance: square() }),
  "linalg.lstsq": () => ({ x: tensor([1, 2, 3]), y: tensor([2, 4, 6]) }),
  "linalg.lu": () => ({ x: square() }),
  "linalg.matrixPower": () => ({ transitions: square() }),
  "linalg.slogdet": () => ({ covariance: square(), slogdet: linalg.slogdet }),
  "linalg.triangularSolve": () => ({ l: tensor([[1, 0], [2, 1]]) }),
  "nn.Bilinear": () => ({ a: sample(2, 4), b: sample(2, 5) }),
  "nn.EmbeddingBag": () => ({ words: whole([1, 2, 3]), offsets: whole([0, 2]) }),
  "nn.GATConv": () => ({ x: sample(3, 16), edges }),
  "nn.GCNConv": () => ({ x: sample(3, 16), edges }),
  "nn.SAGEConv": () => ({ x: sample(3, 16), edges }),
  "nn.GINConv": () => ({ x: sample(3, 8), edges }),
  "nn.messagePassing": () => ({ x: sample(3, 2), edges }),
  "nn.hook": () => ({ net: { fc1: new nn.Linear(2, 2) }, shapes: [] }),
  "nn.lora": () => ({ net: new Attending() }),
  "nn.mergeLora": () => ({ net: nn.lora(new Attending()) }),
  "nn.removeWeightNorm": () => ({ layer: nn.weightNorm(new nn.Linear(2, 2)) }),
  "nn.LSTMCell": () => ({ cell: new nn.LSTMCell(2, 3), first: sample(1, 2), second: sample(1, 2) }),
  "nn.RNNCell": () => ({ x: sample(1, 8), before: sample(1, 16) }),
  "nn.RotaryEncoding": () => ({ q: sample(1, 2, 4, 16) }),
  "nn.summary": () => ({ net: new nn.Linear(784, 10) }),
  "nn.TransformerEncoderLayer": () => ({ x: sample(1, 3, 64), mask: nn.causalMask(3) }),
  "nn.cosineEmbedding": () => ({ left: sample(2, 3), right: sample(2, 3) }),
  "nn.ctc": () => ({ logits: sample(5, 2, 4), labels: whole([[1, 2], [3, 1]]), inputLengths: whole([5, 4]), targetLengths: whole([2, 1]) }),
  "nn.rnnt": () => ({ joint: sample(2, 5, 3, 4), labels: whole([[1, 2], [0, 1]]), inputLengths: whole([5, 4]), targetLengths: whole([2, 1]) }),
  "nn.dice": () => ({ scores: sample(2, 4), mask: ones([2, 4]) }),
  "nn.focal": () => ({ scores: sample(2, 4), labels: ones([2, 4]) }),
  "nn.gaussianNll": () => ({ mean: sample(3), target: sample(3), logVariance: zeros([3]) }),
  "nn.gramMatrix": () => ({ features: sample(1, 2, 3, 3) }),
  "nn.gramMatrixLoss": () => ({ features: sample(1, 2, 3, 3), styleFeatures: sample(1, 2, 3, 3) }),
  "nn.hingeEmbedding": () => ({ distances: sample(3) }),
  "nn.infoNce": () => ({ image: sample(3, 4), text: sample(3, 4) }),
  "nn.klDiv": () => ({ scores: sample(2, 3), teacher: sample(2, 3) }),
  "nn.lp": () => ({ x: sample(3), target: sample(3) }),
  "nn.marginRanking": () => ({ better: sample(3), worse: sample(3) }),
  "nn.multiLabelSoftMargin": () => ({ scores: sample(2, 3), labels: ones([2, 3]) }),
  "nn.multiMargin": () => ({ scores: sample(2, 3) }),
  "nn.poissonNll": () => ({ logRate: sample(3), counts: ones([3]) }),
  "nn.softMargin": () => ({ scores: sample(3) }),
  "nn.tripletMargin": () => ({ anchor: sample(2, 3), same: sample(2, 3), other: sample(2, 3) }),
  "optim.clipByNorm": () => {
    const [v, w] = [kiln.param([1, 2]), kiln.param([3, 4])];
    return { v, w, loss: v.mul(w).sum() };
  },
  "optim.ReduceOnPlateau": () => ({ validationLoss: 0.5 }),
  "optim.SWA": () => ({ net: new nn.Linear(2, 2), copy: new nn.Linear(2, 2), optimizer: undefined, loss: undefined }),
  "train.fit": () => ({ net: new nn.Sequential(new nn.Linear(1, 2)), loader: loader(), validation: loader() }),
  "data.fromTensors": () => ({ readNpz: () => ({ x: { shape: [2, 1], data: new Float32Array(2) }, y: { shape: [2], data: new Int32Array(2) } }), bytes: new Uint8Array() }),
  "data.itemsOf": () => ({ images: new Float32Array(2 * 784), labels: new Int32Array(2) }),
  "data.kFold": () => ({ dataset: numbered, labels: Int32Array.from({ length: 40 }, (_, i) => i % 2) }),
  "data.pad": () => ({ sequences: data.itemsOf([[Float32Array.of(1)], [Float32Array.of(1, 2)]]) }),
};

/** The names of the page's own namespace stand for themselves there. */
const namespaces: Readonly<Record<string, object>> = {
  data,
  optim,
  schedules: { schedule: optim.schedule },
  losses: nn,
  fft: { fft },
};

export function examplesScope(page: string, name: string): Record<string, unknown> {
  const net = new nn.Sequential(new nn.Linear(3, 3), new nn.ReLU(), new nn.Linear(3, 3));
  const x = tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  const values = {
    net,
    x,
    y: x.mul(0.5),
    a: square(),
    b: tensor([[1], [2]]),
    logits: x,
    key: random.key(0),
    opt: new optim.SGD(net.parameters(), { lr: 0.1 }),
  };
  return { ...kiln, ...values, train, ...namespaces[page], ...own[name]?.() };
}
