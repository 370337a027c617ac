export interface TestFile {
  readonly name: string;
  readonly url: string;
}
export interface Total {
  readonly passed: number;
  readonly failed: number;
}
export declare function runPool(
  files: readonly TestFile[],
  options: {
    readonly setup: string;
    readonly out: string;
    readonly count: number;
    readonly execArgv: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): Promise<Total>;
