/** Warnings, each told once in a process, unless the program has asked for silence. */
const told = new Set<string>();

const severities = ["verbose", "info", "warning", "error", "fatal"] as const;
export type LogLevel = (typeof severities)[number];

export const isLogLevel = (value: unknown): value is LogLevel =>
  severities.includes(value as LogLevel);

export const severityOf = (level: LogLevel): number => severities.indexOf(level);

/** The severity of a warning. */
const warning = severityOf("warning");

/** Tells `text` unless it was told before, or `quietest`, the least severity that is told, is beyond a warning. */
export function warnOnce(text: string, quietest: number): void {
  if (quietest > warning || told.has(text)) return;
  told.add(text);
  console.warn(`onnxruntime: ${text}`);
}
