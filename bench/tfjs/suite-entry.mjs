/**
 * The core's own specs on one backend, in one process: jasmine's globals are set, the specs are
 * defined, and each result is a line of JSON. Bundled beside tfjs by `suite.ts`, which says which
 * backend; the specs are never copied.
 */
import jasmineRequire from "jasmine-core/lib/jasmine-core/jasmine.js";

const backend = process.env.BACKEND;
const only = process.env.ONLY;
const jasmine = jasmineRequire.core(jasmineRequire);
const env = jasmine.getEnv();
Object.assign(globalThis, jasmineRequire.interface(jasmine, env));
globalThis.jasmine = jasmine;
jasmine.DEFAULT_TIMEOUT_INTERVAL = 20_000;
console.warn = () => {};
const print = process.stdout.write.bind(process.stdout);
console.log = () => {};
console.error = () => {};

await import("@tensorflow/tfjs-core/dist/engine");
await import("@tensorflow/tfjs-backend-cpu");
let kiln;
if (backend === "kiln") {
  kiln = await import("@kiln-ml/tfjs");
  kiln.setTarget(process.env.TARGET ?? "wasm");
  if (process.env.TARGET === "webgpu") {
    const { openWebGpu } = await import("kiln-ml/runtime");
    const { useDevice } = await import("kiln-ml");
    useDevice(await openWebGpu({ allowSoftware: true }));
  }
}
await import("@tensorflow/tfjs-core/dist/register_all_gradients");
await import("@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops");
const { setTestEnvs } = await import("@tensorflow/tfjs-core/dist/jasmine_util");
setTestEnvs([{ name: backend, backendName: backend, isDataSync: process.env.TARGET !== "webgpu" }]);
await import("@tensorflow/tfjs-core/dist/tests");

env.clearReporters();
env.configure({
  random: false,
  failFast: false,
  specFilter: (spec) => !only || spec.getFullName().includes(only),
});
const totals = {};
env.addReporter({
  specDone({ fullName, status, failedExpectations }) {
    const why = failedExpectations[0]?.message;
    print(
      `${JSON.stringify({ name: fullName, status, why, stack: process.env.STACK && failedExpectations[0]?.stack })}\n`,
    );
    const now = kiln?.counts().fallbacks ?? {};
    for (const name in now) totals[name] = Math.max(totals[name] ?? 0, now[name]);
  },
});
await new Promise((resolve) => {
  env.addReporter({ jasmineDone: resolve });
  env.execute();
});
print(`${JSON.stringify({ fallbacks: totals })}\n`);
process.exit(0);
