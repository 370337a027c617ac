/**
 * Device memory with reuse: buffers come in size classes, a released one waits in its class for the next
 * request. Knows what is live and for whom; what a buffer is, the device says. Never clears a reused buffer:
 * whoever asks for memory writes it before reading it.
 */

/** A piece of device memory. */
export interface Buffer {
  /** Unique in the process; the key of cached bind groups. */
  readonly id: number;
  readonly sizeBytes: number;
}

/** In bytes. `pooled` is held for reuse, `peak` the most that was ever live. */
export interface MemoryReport {
  readonly live: number;
  readonly pooled: number;
  readonly peak: number;
  readonly byOwner: Readonly<Record<string, number>>;
}

/** Four classes an octave: at most a quarter of a buffer is waste, and close sizes share buffers. */
export function sizeClass(sizeBytes: number): number {
  if (sizeBytes <= 64) return Math.max(16, Math.ceil(sizeBytes / 16) * 16);
  const step = 2 ** Math.floor(Math.log2(sizeBytes)) / 4;
  return Math.ceil(sizeBytes / step) * step;
}

export class Heap<B extends Buffer> {
  readonly #create: (sizeBytes: number) => B;
  readonly #destroy: (buffer: B) => void;
  readonly #maxBytes: number;
  readonly #free = new Map<number, B[]>();
  readonly #owners = new Map<B, string>();
  #live = 0;
  #pooled = 0;
  #peak = 0;

  constructor(create: (sizeBytes: number) => B, destroy: (buffer: B) => void, maxBytes: number) {
    this.#create = create;
    this.#destroy = destroy;
    this.#maxBytes = maxBytes - (maxBytes % 16);
  }

  acquire(sizeBytes: number, owner: string): B {
    const bytes = Math.min(sizeClass(sizeBytes), Math.max(this.#maxBytes, sizeBytes));
    const reused = this.#free.get(bytes)?.pop();
    if (reused) this.#pooled -= bytes;
    const buffer = reused ?? this.#createOrDrain(bytes);
    this.#owners.set(buffer, owner);
    this.#live += bytes;
    this.#peak = Math.max(this.#peak, this.#live);
    return buffer;
  }

  /** Gives a buffer back, for reuse unless `keep` is false. */
  release(buffer: B, keep = true): void {
    if (!this.#owners.delete(buffer)) return;
    const bytes = buffer.sizeBytes;
    this.#live -= bytes;
    if (!keep) {
      this.#destroy(buffer);
      return;
    }
    this.#pooled += bytes;
    const list = this.#free.get(bytes);
    if (list) list.push(buffer);
    else this.#free.set(bytes, [buffer]);
    this.#trim();
  }

  /** Destroys what waits for reuse. */
  drain(): void {
    for (const list of this.#free.values()) list.forEach(this.#destroy);
    this.#free.clear();
    this.#pooled = 0;
  }

  /** Destroys everything, live or not. */
  clear(): void {
    this.drain();
    for (const buffer of this.#owners.keys()) this.#destroy(buffer);
    this.#owners.clear();
    this.#live = 0;
  }

  /** Bytes of the buffers that are handed out. */
  get live(): number {
    return this.#live;
  }

  report(): MemoryReport {
    const byOwner: Record<string, number> = {};
    for (const [b, owner] of this.#owners) byOwner[owner] = (byOwner[owner] ?? 0) + b.sizeBytes;
    return { live: this.#live, pooled: this.#pooled, peak: this.#peak, byOwner };
  }

  /** When memory is short, what waits for reuse goes first. */
  #createOrDrain(bytes: number): B {
    try {
      return this.#create(bytes);
    } catch {
      this.drain();
      return this.#create(bytes);
    }
  }

  /**
   * What waits never exceeds the most that was live, or a program whose sizes drift would keep every class it
   * ever used. Oldest classes go first: a Map keeps the order in which they first came.
   */
  #trim(): void {
    for (const [bytes, list] of this.#free) {
      while (this.#pooled > this.#peak && list.length > 0) {
        this.#destroy(list.shift()!);
        this.#pooled -= bytes;
      }
      if (list.length === 0) this.#free.delete(bytes);
      if (this.#pooled <= this.#peak) return;
    }
  }
}
