/**
 * Device memory with reuse: buffers come in size classes, a released one waits in its class for the
 * next request. Knows what is live and for whom; what a buffer is, the device says. Never clears a
 * reused buffer: whoever asks for memory writes it before reading it.
 */

/** A piece of device memory. */
export interface Buffer {
  /** Unique in the process; the key of cached bind groups. */
  readonly id: number;
  readonly sizeBytes: number;
  /** Whose it is while it is handed out; the heap's to say. */
  owner?: string | undefined;
}

/** In bytes. `pooled` is held for reuse, `peak` the most that was ever live. */
export interface MemoryReport {
  readonly live: number;
  readonly pooled: number;
  readonly peak: number;
  readonly byOwner: Readonly<Record<string, number>>;
}

/**
 * Four classes an octave: at most a quarter of a buffer is waste, and close sizes share buffers.
 */
export function sizeClass(sizeBytes: number): number {
  if (sizeBytes <= 64) return Math.max(16, Math.ceil(sizeBytes / 16) * 16);
  const step = 2 ** Math.floor(Math.log2(sizeBytes)) / 4;
  return Math.ceil(sizeBytes / step) * step;
}

/** Buffers that wait for their last owner: sharing them saves nothing worth having. */
const smallBytes = 1024;

/**
 * Under what a free buffer waits. A single number is as large as a program's loss: the loss, kept by
 * its caller, would take the buffer of a slot, and kernels would be bound anew at every run.
 */
const freeKey = (bytes: number, owner: string): string =>
  bytes <= smallBytes ? `${bytes} ${owner}` : `${bytes}`;

export class Heap<B extends Buffer> {
  readonly #create: (sizeBytes: number, use: string) => B;
  readonly #destroy: (buffer: B) => void;
  readonly #maxBytes: number;
  /** By size class; small ones by their last owner too. */
  readonly #free = new Map<string, B[]>();
  /** Every buffer there is, handed out or waiting. */
  readonly #all = new Set<B>();
  #live = 0;
  #pooled = 0;
  #peak = 0;

  constructor(
    create: (sizeBytes: number, use: string) => B,
    destroy: (buffer: B) => void,
    maxBytes: number,
  ) {
    this.#create = create;
    this.#destroy = destroy;
    this.#maxBytes = maxBytes - (maxBytes % 16);
  }

  /** `use` is what memory that must be created is for. */
  acquire(sizeBytes: number, owner: string, use = owner): B {
    const bytes = Math.min(sizeClass(sizeBytes), Math.max(this.#maxBytes, sizeBytes));
    const reused = this.#free.get(freeKey(bytes, owner))?.pop();
    if (reused) this.#pooled -= bytes;
    const buffer = reused ?? this.#createOrDrain(bytes, use);
    buffer.owner = owner;
    this.#live += bytes;
    this.#peak = Math.max(this.#peak, this.#live);
    return buffer;
  }

  /** Gives a buffer back, for reuse unless `keep` is false. */
  release(buffer: B, keep = true): void {
    if (buffer.owner === undefined) return;
    const bytes = buffer.sizeBytes;
    const key = freeKey(bytes, buffer.owner);
    buffer.owner = undefined;
    this.#live -= bytes;
    if (!keep) {
      this.#end(buffer);
      return;
    }
    this.#pooled += bytes;
    const list = this.#free.get(key);
    if (list) list.push(buffer);
    else this.#free.set(key, [buffer]);
    if (this.#pooled > this.#peak) this.#trim();
  }

  /** Destroys what waits for reuse. */
  drain(): void {
    for (const list of this.#free.values()) for (const buffer of list) this.#end(buffer);
    this.#free.clear();
    this.#pooled = 0;
  }

  /** Destroys everything, live or not. */
  clear(): void {
    this.drain();
    for (const buffer of this.#all) {
      buffer.owner = undefined;
      this.#end(buffer);
    }
    this.#live = 0;
  }

  /** Bytes of the buffers that are handed out. */
  get live(): number {
    return this.#live;
  }

  report(): MemoryReport {
    const byOwner: Record<string, number> = {};
    for (const { owner, sizeBytes } of this.#all)
      if (owner !== undefined) byOwner[owner] = (byOwner[owner] ?? 0) + sizeBytes;
    return { live: this.#live, pooled: this.#pooled, peak: this.#peak, byOwner };
  }

  /** When memory is short, what waits for reuse goes first. */
  #createOrDrain(bytes: number, use: string): B {
    let made: B;
    try {
      made = this.#create(bytes, use);
    } catch {
      this.drain();
      made = this.#create(bytes, use);
    }
    this.#all.add(made);
    return made;
  }

  #end(buffer: B): void {
    this.#all.delete(buffer);
    this.#destroy(buffer);
  }

  /**
   * What waits never exceeds the most that was live, or a program whose sizes drift would keep
   * every class it ever used. Oldest classes go first: a Map keeps the order in which they first
   * came.
   */
  #trim(): void {
    for (const [key, list] of this.#free) {
      while (this.#pooled > this.#peak && list.length > 0) {
        const oldest = list.shift()!;
        this.#end(oldest);
        this.#pooled -= oldest.sizeBytes;
      }
      if (list.length === 0) this.#free.delete(key);
      if (this.#pooled <= this.#peak) return;
    }
  }
}
