export declare const quickTests: readonly string[];
export declare function isQuick(path: string): boolean;
