/**
 * Cuts a WebGPU message, which goes on with where it arose, to the line that says what is wrong.
 */
export const firstLine = (message: string): string => message.trim().split("\n")[0]!;
