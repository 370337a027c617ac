/** Readers of tables, texts, sound, recordings and arrays: values on files written here and on real ones, and one line for what is broken. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  batchShapeOf,
  fromTensors,
  map,
  readCsv,
  readEdf,
  readJsonLines,
  readWav,
} from "@kiln-ml/data";
import {
  readCsvFile,
  readEdfFile,
  readJsonLinesFile,
  readWavFile,
  textFolder,
} from "@kiln-ml/data/node";
import { readNpz, writeNpz } from "@kiln-ml/formats";
import { ArtifactError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-readers-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

async function refused(call: () => unknown, text: string): Promise<void> {
  let caught: unknown;
  try {
    await call();
  } catch (error) {
    caught = error;
  }
  assert.instance(caught, ArtifactError, String(caught));
  assert.is((caught as Error).message, text);
}

test("a table has its columns as texts, numbers and classes", async () => {
  const table = await readCsv(
    'size,"kind, or so",n\r\n1.5,cat,1\r\n-2e1,"dog ""x""",\r\n3,cat,2\r\n',
  );
  assert.equal(table.names, ["size", "kind, or so", "n"]);
  assert.is(table.length, 3);
  assert.equal([...table.numbers("size")], [1.5, -20, 3]);
  const both = table.numbers(["size", 2], "NaN");
  assert.equal([...both], [1.5, 1, -20, Number.NaN, 3, 2]);
  assert.equal(batchShapeOf(both), [3, 2]);
  const { labels, classes } = table.classes("kind, or so");
  assert.equal(
    [[...labels], classes],
    [
      [0, 1, 0],
      ["cat", 'dog "x"'],
    ],
  );
  assert.equal(table.get(2), ["3", "cat", "2"]);
  const ends = await readCsv('x,y\n1,"a\r\nb"\r\n2,c\r3,d\n');
  assert.equal(ends.column("y"), ["a\nb", "c", "d"]);
  const plain = await readCsv("1;2\n3;4", { header: false });
  assert.equal([...plain.numbers()], [1, 2, 3, 4]);
});

test("what is wrong in a table is told with file, row and column", async () => {
  const read = (text: string) => readCsv(text, { name: "a.csv" });
  await refused(
    () => read("x,y\n1,2\n3\n"),
    "a.csv: row 3 has 1 cells, the header has 2\n  mend the row, or give the delimiter if it is not what was guessed",
  );
  await refused(() => read("x,y\n"), "a.csv: the table has no rows");
  await refused(() => read(""), "a.csv: the table has no rows");
  await refused(() => read('x,y\n1,"2\n3,4\n'), "a.csv: row 2: quoted field unterminated");
  const table = await read("x,y\n1,a\nb,\n");
  await refused(() => table.numbers("x"), 'a.csv: row 3: column x has "b", not a number');
  await refused(() => table.numbers("y"), 'a.csv: row 2: column y has "a", not a number');
  await refused(
    () => table.classes("y", ["a", "c"]),
    'a.csv: row 3: column y has the class "", which is not among a, c',
  );
  assert.throws(() => table.numbers("z"), "a.csv: there is no column z\n  it has x, y");
  await refused(
    () => readCsv(Uint8Array.of(0xff, 0x41), { name: "b.csv" }),
    "b.csv: is not UTF-8\n  convert the file, or decode it yourself",
  );
});

test("lines of JSON are parsed when they are asked for, and name their row", async () => {
  const items = readJsonLines<{ n: number }>('{"n": 1}\n\n{"n": 2}\nno\n', { name: "a.jsonl" });
  assert.is(items.length, 3);
  assert.equal(await items.get(1), { n: 2 });
  assert.is(items.name?.(1), "a.jsonl: row 3");
  assert.throws(
    () => map(items, (x) => x.n).get(2),
    (e: unknown) => e instanceof ArtifactError && /^a\.jsonl: row 4: is not JSON: /.test(e.message),
  );
  await refused(() => readJsonLines("\n", { name: "b.jsonl" }), "b.jsonl: the file has no lines");
});

/** A WAV file of one chunk of samples. */
function wav(code: number, bits: number, channels: number, body: Uint8Array): Uint8Array {
  const file = new Uint8Array(44 + body.length);
  const view = new DataView(file.buffer);
  const put = (at: number, text: string) => file.set(new TextEncoder().encode(text), at);
  put(0, "RIFF");
  view.setUint32(4, 36 + body.length, true);
  put(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, code, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, 8000, true);
  view.setUint16(34, bits, true);
  put(36, "data");
  view.setUint32(40, body.length, true);
  file.set(body, 44);
  return file;
}

test("sound of every width is from −1 to 1, channel by channel", () => {
  const bytes = (...x: number[]) => Uint8Array.from(x);
  const floats = (list: Float32Array | Float64Array) => new Uint8Array(list.buffer);
  const cases = [
    [1, 8, bytes(0, 128, 192, 64), [-1, 0.5, 0, -0.5]],
    [1, 16, bytes(0, 0x80, 0, 0, 0, 0x40, 0, 0xc0), [-1, 0.5, 0, -0.5]],
    [1, 24, bytes(0, 0, 0x80, 0, 0, 0, 0, 0, 0x40, 0, 0, 0xc0), [-1, 0.5, 0, -0.5]],
    [1, 32, bytes(0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0xc0), [-1, 0.5, 0, -0.5]],
    [3, 32, floats(Float32Array.of(-1, 0, 0.5, -0.5)), [-1, 0.5, 0, -0.5]],
    [3, 64, floats(Float64Array.of(-1, 0, 0.5, -0.5)), [-1, 0.5, 0, -0.5]],
  ] as const;
  for (const [code, bits, body, expected] of cases) {
    const { data, channels, length, rateHz } = readWav(wav(code, bits, 2, body));
    assert.equal([[...data], channels, length, rateHz], [[...expected], 2, 2, 8000]);
  }
});

test("sound that is cut, compressed or none is refused", async () => {
  const good = wav(1, 16, 1, Uint8Array.of(1, 2, 3, 4));
  await refused(
    () => readWav(good.subarray(0, 46), { name: "a.wav" }),
    "a.wav: is cut: samples end at byte 48, the file has 46",
  );
  await refused(
    () => readWav(wav(2, 4, 1, Uint8Array.of(1)), { name: "a.wav" }),
    "a.wav: encoding 2 of 4 bits in 1 channels is not PCM or float\n  convert it: ffmpeg -i in.wav -c:a pcm_s16le out.wav",
  );
  await refused(
    () => readWav(new TextEncoder().encode("ID3 and more"), { name: "a.wav" }),
    'a.wav: is no WAV file: starts with "ID3 "',
  );
  await refused(() => readWav(good.subarray(0, 36), { name: "a.wav" }), "a.wav: has no samples");
});

test("arrays of a file of NumPy are a data set", async () => {
  const bytes = await writeNpz({
    x: {
      dtype: "f32",
      shape: [2, 3],
      data: new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer),
    },
    y: { dtype: "i32", shape: [2], data: new Uint8Array(Int32Array.of(7, 8).buffer) },
    z: { dtype: "i32", shape: [1], data: new Uint8Array(4) },
  });
  const arrays = await readNpz(bytes);
  const set = fromTensors(arrays, ["x", "y"]);
  assert.equal(await set.gather([1]), [Float32Array.of(4, 5, 6), Int32Array.of(8)]);
  assert.equal(set.shapes, [[3], []]);
  assert.throws(
    () => fromTensors(arrays, ["x", "z"]),
    "fromTensors: samples differ: x is [2,3], z is [1]",
  );
  assert.throws(
    () => fromTensors(arrays, ["w"]),
    "fromTensors: there is no array w\n  there are x, y, z",
  );
});

test("folders of texts are read lazily, with their classes", async () => {
  const texts = join(folder, "texts");
  for (const [name, text] of [
    ["neg/1.txt", "bad"],
    ["pos/1.txt", "good"],
    ["pos/2.txt", "fine"],
  ] as const) {
    mkdirSync(join(texts, name.slice(0, 3)), { recursive: true });
    writeFileSync(join(texts, name), text);
  }
  const set = textFolder(texts);
  assert.equal(set.classes, ["neg", "pos"]);
  assert.equal(await set.get(2), { text: "fine", label: 1 });
  assert.is(set.name?.(0), join(texts, "neg/1.txt"));
  await refused(
    () => textFolder(texts, { classes: ["pos", "other"] }),
    `textFolder: ${join(texts, "neg")}: class neg is not among pos, other`,
  );
  mkdirSync(join(texts, "void"));
  await refused(
    () => textFolder(texts),
    `textFolder: ${join(texts, "void")}: the folder has no file that ends in .txt`,
  );
  await refused(
    () => textFolder(join(texts, "void")),
    `textFolder: ${join(texts, "void")}: has no folders\n  put the files of each class into a folder of its name`,
  );
});

test("a file that is none, or a pipe, is refused by its path", async () => {
  let caught: unknown;
  await readCsvFile(join(folder, "gone.csv")).catch((e: unknown) => {
    caught = e;
  });
  assert.instance(caught, ArtifactError);
  assert.match((caught as Error).message, /gone\.csv: cannot be read: ENOENT/);
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  await refused(
    () => readJsonLinesFile(pipe),
    `${pipe}: is a pipe, not a regular file\n  copy what it holds into a file, and name that`,
  );
});

test("a recording that is cut or none is refused", async () => {
  await refused(
    () => readEdf(new TextEncoder().encode("nothing at all"), { name: "a.edf" }),
    'a.edf: is no EDF file: starts with "nothing"',
  );
});

const recordings = (root: string) => join(root, "mne-tools+mne-python/mne/io/edf/tests/data");

dataTest(
  "a recording of 24 bits has the signals and values that it was checked with",
  "eeg",
  async (root) => {
    const at = recordings(root);
    const [edf, bdf] = await Promise.all([
      readEdfFile(join(at, "test.edf")),
      readEdfFile(join(at, "test.bdf")),
    ]);
    // Both were written from one recording; each is in microvolts, rounded to its own codes.
    assert.ok(edf.length > 100);
    assert.is(bdf[0]!.unit, "uV");
    // A text of the stimulus channel's neighbours, in the order of the file, is beside it.
    const rows = readFileSync(join(at, "test_edf_stim_channel.txt"), "utf8").trim().split("\n");
    const stim = await readEdfFile(join(at, "test_edf_stim_channel.edf"));
    const values = rows.map((row) => row.trim().split(/\s+/).map(Number));
    const width = values[0]!.length;
    assert.ok(stim.length >= width - 1);
    let worst = 0;
    for (const [i, row] of values.entries())
      for (let c = 0; c < width - 1; c++)
        worst = Math.max(worst, Math.abs(stim[c]!.data[i]! - row[c]!));
    assert.ok(worst < 0.5, `${worst}`);
  },
);

dataTest("a cut recording is refused with its name", "eeg", async (root) => {
  const path = join(recordings(root), "test.edf");
  const bytes = readFileSync(path);
  let caught: unknown;
  try {
    readEdf(bytes.subarray(0, bytes.length - 1000), { name: "a.edf" });
  } catch (error) {
    caught = error;
  }
  assert.instance(caught, ArtifactError);
  assert.match(
    (caught as Error).message,
    /^a\.edf: is cut: header says \d+ records, the file has \d+$/,
  );
});

dataTest("a table of recordings is read whole", "eeg", async (root) => {
  const table = await readCsvFile(join(root, "eeg-eye-state/EEG Eye State.csv"));
  assert.is(table.length, 14_980);
  assert.is(table.names.length, 15);
  assert.is(table.numbers("AF3")[0], Math.fround(4329.23));
  assert.equal(table.classes("eyeDetection").classes, ["0", "1"]);
});

dataTest("sixty seconds of speech are read", "silero-vad", async (root) => {
  const [path] = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((p) =>
    p.endsWith("test.wav"),
  );
  const { length, rateHz, channels, data } = await readWavFile(join(root, path!));
  assert.equal([length, rateHz, channels], [960_000, 16_000, 1]);
  assert.ok(data.some((x) => Math.abs(x) > 0.1));
  assert.ok(data.every((x) => Math.abs(x) <= 1));
});

test.run();
