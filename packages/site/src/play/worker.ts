/** Runs one program and answers for what it compiled. What it says, draws and fails with goes to the page. */
import { openTarget } from "../gallery/device.ts";
import type { Target, ToWorker } from "./messages.ts";
import { post, scope } from "./post.ts";
import { onRecorded, recorded } from "./recorded.ts";
import { failureOf, lineIn, listen, sited } from "./said.ts";

let url = "";

const list = (): void =>
  post({
    kind: "programs",
    programs: recorded.map(({ name, stack, calls }, id) => {
      const line = lineIn(stack, url);
      return { id, name, calls, ...(line === undefined ? {} : { line }) };
    }),
  });

async function run(module: string, target: Target): Promise<void> {
  url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  listen();
  onRecorded(list);
  try {
    // What the machine lacks is told before the program runs.
    post({ kind: "ready", device: await openTarget(target) });
    const started = performance.now();
    await import(url);
    list();
    post({ kind: "done", ms: performance.now() - started });
  } catch (error) {
    list();
    post({ kind: "failed", ...failureOf(error, url) });
  }
}

async function inspect(id: number, profile: boolean): Promise<void> {
  const { compiled, last } = recorded[id]!;
  try {
    const inspection = await compiled.inspect({
      site: (site) => sited(site, url),
      ...(profile && last ? { profile: last } : {}),
    });
    post({ kind: "inspection", program: id, inspection });
  } catch (error) {
    post({ kind: "refused", program: id, text: failureOf(error, url).text });
  }
}

scope.addEventListener("message", ({ data }: { readonly data: ToWorker }) => {
  if (data.kind === "run") void run(data.module, data.target);
  else void inspect(data.program, data.profile);
});
// Promises that a program forgets are its failures too.
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  post({ kind: "failed", ...failureOf(event.reason, url) });
});
