/** Amounts as people read them. */

function scaled(n: number, unit: string, powers: readonly string[]): string {
  if (n < 1000) return `${Math.round(n)}${unit === "" ? "" : ` ${powers[0]}${unit}`}`;
  const power = Math.min(powers.length - 1, Math.floor(Math.log10(n) / 3));
  const value = n / 1000 ** power;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${powers[power]}${unit}`;
}

export const bytes = (n: number): string => scaled(n, "B", ["", "k", "M", "G", "T"]);
export const flops = (n: number): string => scaled(n, "", ["", "K", "M", "G", "T"]);
export const rate = (n: number, unit: string): string => scaled(n, unit, ["", "k", "M", "G", "T"]);
export const count = (n: number): string => n.toLocaleString("en-US");

export function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 0.1) return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
  return `${(ms * 1000).toFixed(ms < 0.001 ? 2 : 1)} µs`;
}

export const percent = (x: number): string => `${(100 * x).toFixed(x < 0.1 ? 1 : 0)} %`;
