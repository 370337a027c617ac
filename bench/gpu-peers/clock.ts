/**
 * How a peer's rows are timed on a card: warmed up, medians of 7, so many repeats and one wait at
 * the end of each. A row that fails says so and leaves the others to run; none is started when the
 * time is over. Knows nothing of any peer.
 */

/** What a row of the table does, for every peer alike. */
export interface Work {
  readonly name: string;
  readonly kind: string;
  readonly extents: readonly number[];
  readonly repeats: number;
}

/** A peer's way of doing it. */
export interface Doing {
  /** Starts the work; what it started before may still be under way. */
  readonly run: () => void | Promise<void>;
  /** Waits until all that was started is done. */
  readonly settle: () => Promise<void>;
  /** The sum of the first elements of the last results, by which peers are compared. */
  readonly value: () => Promise<number>;
  readonly drop: () => void;
}

export interface Peer {
  readonly name: string;
  readonly kinds: Readonly<Record<string, (...extents: number[]) => Doing>>;
  /** What the device complained of since it was last asked. */
  readonly complaints: () => string[];
}

/** Of the peer's process; what is left after it is for the row under way. */
const limitMs = 54_000;
const warmUpMs = 400;
const sampleMs = 200;
/** A run this slow is measured thrice, and has warmed the card up. */
const slowMs = 700;

async function timed(doing: Doing, times: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < times; i++) await doing.run();
  await doing.settle();
  return performance.now() - start;
}

interface Measured {
  readonly ms: number;
  readonly value: number;
  readonly note: string;
}

function refuse(complaints: readonly string[]): void {
  if (complaints.length) throw new Error(complaints[0]);
}

async function measured(peer: Peer, doing: Doing, wanted: number): Promise<Measured> {
  await timed(doing, 1);
  // What a device refuses takes no time, and would say so at each run.
  refuse(peer.complaints());
  await timed(doing, 1);
  // Of the second run, which a step's first update shows in.
  const value = await doing.value();
  let once = await timed(doing, 1);
  const repeats = (): number => Math.max(1, Math.min(wanted, Math.floor(sampleMs / once)));
  // The first runs compile, so that what a run takes shows only as they go on.
  for (let spent = 0; once < slowMs && spent < warmUpMs; ) {
    const many = repeats();
    const took = await timed(doing, many);
    spent += took;
    once = Math.min(once, took / many);
  }
  const samples = once < slowMs ? 7 : 3;
  const many = repeats();
  const times: number[] = [];
  for (let i = 0; i < samples; i++) times.push((await timed(doing, many)) / many);
  const ms = times.sort((a, b) => a - b)[samples >> 1]!;
  return { ms, value, note: `median of ${samples}, ${many} repeats` };
}

/** What follows the names in a row: its time, or why it has none. */
export async function timeOf(peer: Peer, { kind, extents, repeats }: Work): Promise<string> {
  const make = peer.kinds[kind];
  if (!make) return `absent: nothing is written for ${kind}`;
  let doing: Doing | undefined;
  try {
    doing = make(...extents);
    const { ms, value, note } = await measured(peer, doing, repeats);
    refuse(peer.complaints());
    return `${ms.toFixed(4)} ms\tvalue ${value.toPrecision(6)}\t${note}`;
  } catch (error) {
    peer.complaints();
    return `absent: ${String(error).replace(/\s+/g, " ").slice(0, 300)}`;
  } finally {
    doing?.drop();
  }
}

/**
 * Prints a row a work: `peer⇥work⇥time ms⇥…`. The works are the process's first argument, as JSON.
 */
export async function printRows(peer: Peer): Promise<void> {
  for (const work of JSON.parse(process.argv[2] ?? "[]") as Work[]) {
    const isOver = performance.now() > limitMs;
    const found = isOver ? "absent: the time was over" : await timeOf(peer, work);
    console.log(`${peer.name}\t${work.name}\t${found}`);
  }
  // Dawn's threads would keep it.
  process.exit(0);
}
