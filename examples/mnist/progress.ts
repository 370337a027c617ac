/**
 * One line that says how far a loop is: redrawn in place on a terminal, a plain line now and then elsewhere. Draws no
 * other screen furniture, and takes no colours.
 */
const redrawMs = 100;
const plainMs = 5000;

export class Progress {
  readonly #total: number;
  readonly #out: NodeJS.WriteStream;
  readonly #started = performance.now();
  #printed = performance.now();
  #done = 0;

  /** `total` is how many samples the whole loop sees. */
  constructor(total: number, out: NodeJS.WriteStream = process.stdout) {
    this.#total = total;
    this.#out = out;
  }

  /** `count` more samples are done; `text` says where the loop is. */
  add(count: number, text: string): void {
    this.#done += count;
    const now = performance.now();
    if (this.#done >= this.#total) return;
    if (now - this.#printed < (this.#out.isTTY ? redrawMs : plainMs)) return;
    this.#printed = now;
    if (this.#out.isTTY) this.#out.write(`\r${this.#line(text)}\x1b[K`);
    else this.#out.write(`${this.#line(text)}\n`);
  }

  /** A line that stays, for the end of an epoch. */
  keep(text: string): void {
    this.#printed = performance.now();
    const line = `${text}  ${this.#rate().toFixed(0)} images/s`;
    this.#out.write(this.#out.isTTY ? `\r${line}\x1b[K\n` : `${line}\n`);
  }

  /** Samples a second since the start. */
  #rate(): number {
    return this.#done / ((performance.now() - this.#started) / 1000);
  }

  #line(text: string): string {
    const rate = this.#rate();
    const percent = Math.floor((100 * this.#done) / this.#total);
    const left = Math.ceil((this.#total - this.#done) / rate);
    const line = `${text}  ${rate.toFixed(0)} images/s  ${percent} %, ${left} s left`;
    // A line that wraps could not be drawn over. Some terminals do not tell their width.
    return this.#out.isTTY ? line.slice(0, (this.#out.columns || 80) - 1) : line;
  }
}
