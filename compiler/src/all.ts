/**
 * The compiler with all its targets loaded, for tools and tests that compile by name and need not
 * wait. A page imports `index.ts` and awaits `loadTarget`.
 */
import { addTarget } from "./targets/index.ts";
import { js } from "./targets/js/target.ts";
import { native } from "./targets/native/target.ts";
import { wasm } from "./targets/wasm/target.ts";
import { webgpu } from "./targets/wgsl/target.ts";

for (const target of [js, wasm, native, webgpu]) addTarget(target);

export * from "./index.ts";
