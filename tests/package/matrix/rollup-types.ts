/** As much of the bundlers' types as the matrix uses: they are no dependencies, so their own cannot be imported. */

interface Bundle {
  write(options: object): Promise<unknown>;
  close(): Promise<void>;
}

interface Message {
  readonly message: string;
}

interface Stats {
  toJson(options: object): { errors: readonly Message[]; warnings: readonly Message[] };
}

interface WebpackCompiler {
  run(done: (error: Error | null, stats: Stats) => void): void;
  close(done: () => void): void;
}

export declare const rollup: { rollup(options: object): Promise<Bundle> };
export declare const resolver: { default(options?: object): unknown };
export declare const vite: { build(options: object): Promise<unknown> };
export declare const webpack: { default(options: object): WebpackCompiler };
export declare const stats: Stats;
