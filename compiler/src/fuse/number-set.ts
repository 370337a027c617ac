/**
 * A set of small numbers, a bit each, so that one set is added to another a word at a time. Nothing is taken out.
 */
export class NumberSet {
  private words = new Int32Array(4);

  has(n: number): boolean {
    return ((this.words[n >> 5] ?? 0) & (1 << (n & 31))) !== 0;
  }

  /** Adds a number and all of another set; true if any of them is new. */
  addWith(n: number, others: NumberSet): boolean {
    this.grow(Math.max((n >> 5) + 1, others.words.length));
    const { words } = this;
    let fresh = !this.has(n);
    words[n >> 5]! |= 1 << (n & 31);
    for (let i = 0; i < others.words.length; i++) {
      const [before, added] = [words[i]!, others.words[i]!];
      if ((added & ~before) === 0) continue;
      words[i] = before | added;
      fresh = true;
    }
    return fresh;
  }

  private grow(length: number): void {
    if (length <= this.words.length) return;
    const words = new Int32Array(2 * length);
    words.set(this.words);
    this.words = words;
  }
}
