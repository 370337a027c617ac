/**
 * What examples of the reference find beside the names of `kiln-ml`: what their page says, and
 * bytes of files.
 */
import * as kiln from "kiln-ml";
import * as train from "kiln-ml/train";

const { data, nn, optim, random } = kiln;

/** Two batches of one feature and a class. */
const loader = () =>
  new data.DataLoader(
    data.fromArrays([Float32Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 0, 1)], [[1], []]),
    { batch: 2 },
  );

/** An IDX file of zeros. */
function idx(rank: number, shape: number[]): Uint8Array {
  const size = shape.reduce((a, b) => a * b, 1);
  return Uint8Array.of(
    0,
    0,
    8,
    rank,
    ...shape.flatMap((n) => [0, 0, 0, n]),
    ...Array(size).fill(0),
  );
}

/** A WAV file of one channel of 16 bits, 8000 samples a second. */
function wav(samples: number[]): Uint8Array {
  const u32 = (n: number) => [n & 255, (n >> 8) & 255, (n >> 16) & 255, n >> 24];
  const text = (t: string) => [...t].map((c) => c.charCodeAt(0));
  const body = samples.flatMap((x) => u32(x * 32768).slice(0, 2));
  const format = [1, 0, 1, 0, ...u32(8000), ...u32(16000), 2, 0, 16, 0];
  const chunks = [
    ...text("fmt "),
    ...u32(16),
    ...format,
    ...text("data"),
    ...u32(body.length),
    ...body,
  ];
  return Uint8Array.from([...text("RIFF"), ...u32(4 + chunks.length), ...text("WAVE"), ...chunks]);
}

/** A model of one feature and two classes, and what trains it. */
function training() {
  const net = new nn.Sequential(new nn.Linear(1, 2));
  const optimizer = (params: kiln.Tensor[]) => new optim.SGD(params, { lr: 0.1 });
  return { net, optimizer, loader: loader(), validation: loader() };
}

/** The names of the page's own namespace stand for themselves there. */
const namespaces: Readonly<Record<string, object>> = {
  data,
  schedules: { schedule: optim.schedule },
};

/** What a page says that its examples find, made afresh for each. */
const ofPage: Readonly<Record<string, () => object>> = {
  random: () => ({ key: random.key(0) }),
  train: training,
};

/** By entry, the bytes of files that its examples read. */
const ofEntry: Readonly<Record<string, () => object>> = {
  "data.mnistFromIdx": () => ({ images: idx(3, [1, 28, 28]), labels: idx(1, [1]) }),
  "data.readWav": () => ({ bytes: wav([0, 0.5]) }),
};

export const examplesScope = (page: string, name: string): Record<string, unknown> => ({
  ...kiln,
  train,
  ...namespaces[page],
  ...ofPage[page]?.(),
  ...ofEntry[name]?.(),
});
