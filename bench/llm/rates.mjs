/** What a peer's process measures and prints: CPU times of prompts and of tokens behind them. */

export const now = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

/**
 * Prints the rates of `tell(length, which, made)`, which resolves to the times of the first token
 * of a prompt and of those after it, and ends the process.
 */
export async function printRates(lengths, loadMs, tell) {
  const [firstTokenMs] = await tell(lengths.first, 1, 1);
  const [nextFirstTokenMs] = await tell(lengths.first, 2, 1);
  await tell(lengths.first, 2, 8);
  const prefills = [];
  const tokens = [];
  for (const which of [3, 4, 5]) {
    const [first, ...more] = await tell(lengths.prompt, which, lengths.made);
    prefills.push(first);
    // A mean of each text: the processor's clock counts in steps of milliseconds.
    tokens.push(more.reduce((a, b) => a + b, 0) / more.length);
  }
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  const [least, middle, most] = [...tokens].sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      loadMs,
      firstTokenMs,
      nextFirstTokenMs,
      prefillTokensPerSecond: (1000 * lengths.prompt) / median(prefills),
      decodeTokensPerSecond: 1000 / middle,
      // Half the distance between the quartiles of three.
      spread: (most - least) / 4 / middle,
      peakMiB,
    }),
  );
  process.exit(0);
}
