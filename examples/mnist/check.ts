/**
 * What deploy.ts needs to compare itself with this process: the test digits with the scores they get here, and
 * some batches with the losses that training on them gives here.
 */
import { writeSafetensors } from "@kiln-ml/artifact";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import { type CompiledFunction, data, type Tensor } from "kiln-ml";

interface Trained {
  readonly train: data.Mnist;
  readonly test: data.Mnist;
  readonly predict: CompiledFunction<[Tensor], { scores: Tensor }>;
  readonly step: CompiledFunction<[Tensor, Tensor], { loss: Tensor }>;
}

const bytes = (array: Float32Array | Int32Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const f32 = (array: Float32Array, shape: number[]) =>
  ({ dtype: "f32", shape, data: bytes(array) }) as const;
const i32 = (array: Int32Array, shape: number[]) =>
  ({ dtype: "i32", shape, data: bytes(array) }) as const;

const steps = 5;
const batch = 32;

export async function writeCheck(path: string, { train, test, predict, step }: Trained) {
  const range = (n: number) => Uint32Array.from({ length: n }, (_, i) => i);
  const [x, y] = await test.gather(range(test.length));
  const scores = (await (
    await predict({ data: x, shape: [y.length, 784] })
  ).scores.data()) as Float32Array;
  const [nextX, nextY] = await train.gather(range(Math.min(train.length, steps * batch)));
  const losses: number[] = [];
  const samples = data.fromArrays([nextX, nextY] as const, [[784], []]);
  for await (const [xs, ys] of new data.DataLoader(samples, { batch }))
    losses.push(await (await step(xs, ys)).loss.item());
  await writeFileAtomic(
    path,
    writeSafetensors({
      "test.images": f32(x, [y.length, 784]),
      "test.labels": i32(y, [y.length]),
      "test.scores": f32(scores, [y.length, 10]),
      "next.images": f32(nextX, [losses.length, batch, 784]),
      "next.labels": i32(nextY, [losses.length, batch]),
      "next.losses": f32(Float32Array.from(losses), [losses.length]),
    }),
  );
}
