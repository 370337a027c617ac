/** What the engine refuses, verbatim: each is one line and the way out, and nothing is lost. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { input, makeNode } from "@kiln-ml/ir";
import { byPath, exportStableHlo, mesh } from "@kiln-ml/stablehlo";
import { xla } from "@kiln-ml/xla";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { skip } from "../support/skip.ts";
import { fakeEngine } from "./engine.ts";

const rejected = async (what: () => Promise<unknown>, message: string | RegExp): Promise<void> => {
  try {
    await what();
  } catch (error) {
    const found = (error as Error).message;
    if (typeof message === "string") assert.is(found, message);
    else assert.match(found, message);
    assert.is(found.split("\n").length, 2, found);
    return;
  }
  assert.unreachable("nothing was refused");
};

const one = { data: new Float32Array(8), shape: [4, 2] };

test("without Python the way to it is told", async () => {
  const engine = xla({ mesh: mesh({ data: 2 }), python: "no-such-python" });
  const message =
    'xla: no-such-python was not found\n  install it: python3 -m pip install "jax>=0.11" numpy; or name another Python by KILN_PYTHON, or xla({ python })';
  await rejected(() => engine.open(), message);
  const step = compile((x: Tensor) => x.sum(), { engine });
  await rejected(() => step(one as never), message);
});

test("what the process refuses of jaxlib is told as it says it", async () => {
  const text =
    'xla: jaxlib is 0.4.30, 0.11 or newer is needed\n  install it: python3 -m pip install --upgrade "jax>=0.11" numpy';
  await rejected(() => fakeEngine([`--refuse=${text}`]).open(), text);
});

// The process's own script loads jax only when it is greeted: Python alone can ask this of it.
const taken = "a coordinator's port that another holds is told before jax meets it";
if (spawnSync("python3", ["--version"]).status !== 0) skip(taken, "there is no python3");
else
  test(taken, async () => {
    const server = createServer().listen(0, "0.0.0.0");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const script = `
import sys
sys.path.insert(0, "packages/xla/python")
import sidecar
try:
    sidecar.require_free("first-host:${port}")
except sidecar.Refused as refused:
    print(refused, end="")
`;
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout } = spawnSync("python3", ["-c", script], { encoding: "utf8", env });
    await new Promise((resolve) => server.close(resolve));
    assert.is(
      stdout,
      `xla: port ${port} of first-host:${port} is taken: Address already in use\n  name another port in the coordinator of every host`,
    );
  });

test("another protocol, and fewer devices than the mesh", async () => {
  await rejected(
    () => fakeEngine(["--protocol=9"]).open(),
    "xla: the engine speaks protocol 9, this Kiln speaks 2\n  install the same version of both",
  );
  await rejected(
    () => fakeEngine(["--devices=1"], { mesh: mesh({ data: 4, model: 2 }) }).open(),
    "xla: the mesh data=4, model=2 has 8 devices, there is 1 (fake)\n  make the mesh smaller, or try it on devices made of this processor: xla({ mesh, virtual: true })",
  );
});

test("specs that name no axis and ops without a row are told before anything is sent", async () => {
  const engine = fakeEngine([], { shard: byPath({ arg0: ["dta", null] }) });
  await rejected(
    () => compile((x: Tensor) => x.sum(), { engine })(one as never),
    "stablehlo: the mesh data=4 cannot cut arg0 [4,2] by [dta,null]: the mesh has no axis dta\n  name axes of the mesh, one entry an axis, with extents that divide; a batch that is short is left out by { dropLast: true }",
  );
  engine.close();
  const x = input("x", "f32", [2]);
  const own = (op: string, t: typeof x) =>
    makeNode({ op, operands: [t], attrs: {}, dtype: t.dtype, shape: t.shape });
  assert.throws(
    () =>
      exportStableHlo(
        { params: [x], results: [own("fft", own("erfinv", x))] },
        { mesh: mesh({ data: 2 }) },
      ),
    /^stablehlo: no row for erfinv, fft\n/,
  );
});

test("a process that is killed within a run rejects what reads it, and the next run starts another", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-xla-"));
  const engine = fakeEngine(["--die-at-run=1", `--once=${join(folder, "died")}`]);
  const double = compile((x: Tensor) => x.mul(2), { engine });
  const y = (await double(one as never)) as Tensor;
  assert.is((await y.data()).length, 8);
  await rejected(
    async () => ((await double(one as never)) as Tensor).data(),
    "xla: the engine's process was ended by SIGKILL\n  what it held is lost; go on from the last checkpoint: fit(…, { resume: folder })",
  );
  assert.is(engine.isLost, true);
  assert.is((await ((await double(one as never)) as Tensor).data()).length, 8);
  engine.close();
  rmSync(folder, { recursive: true });
});

test("options that do not fit are refused", () => {
  const refused = (define: () => unknown, message: string): void =>
    assert.throws(define, (e: Error) => {
      assert.is(e.message, message);
      return true;
    });
  refused(
    () => xla({ mesh: { data: 8 } as never }),
    "xla: the mesh is Object, not a grid of devices\n  give one: xla({ mesh: mesh({ data: 8 }) })",
  );
  refused(
    () => xla({ mesh: mesh({ data: 2 }), hosts: { coordinator: "first", count: 2, index: 2 } }),
    'xla: hosts are {"coordinator":"first","count":2,"index":2}\n  give { coordinator: "first-host:4321", count: 2, index: 0 }, the index from 0',
  );
  refused(
    () => compile((x: Tensor) => x, { engine: "xla" as never }),
    'compile: the engine is "xla", which runs nothing\n  give one of @kiln-ml/xla: xla({ mesh: mesh({ data: 8 }) })',
  );
  refused(
    () => compile((x: Tensor) => x, { engine: fakeEngine(), target: "js" }),
    "compile: the engine xla takes no target beside it\n  leave one of them out",
  );
});

test.run();
