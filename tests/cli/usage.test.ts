/** Wrong usage: a message, a hint, exit code 2. And what help and version print. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { main } from "../../packages/kiln/src/cli/main.ts";
import { say, status } from "../../packages/kiln/src/cli/terminal.ts";
import { serveDefaults } from "../../packages/serve/src/server.ts";
import { heard, type Spoken } from "./heard.ts";

/** The command in this process, with what it prints. */
const kiln = (...args: string[]): Promise<Spoken> => heard(() => main(args));

async function refuses(args: readonly string[], message: string): Promise<void> {
  const { code, out, err } = await kiln(...args);
  assert.is(err, `${message}\n`);
  assert.is(out, "");
  assert.is(code, 2);
}

test("the version is that of the package", async () => {
  const { version } = JSON.parse(readFileSync("packages/kiln/package.json", "utf8"));
  const { code, out } = await kiln("--version");
  assert.match(out, new RegExp(`^${version}\\ntargets here: js`));
  assert.is(code, 0);
});

test("every command has help, which fits a terminal", async () => {
  for (const args of [
    [],
    ["run"],
    ["compile"],
    ["inspect"],
    ["bench"],
    ["tune"],
    ["generate"],
    ["chat"],
    ["serve"],
    ["doctor"],
    ["cache"],
    ["completion"],
  ]) {
    const { code, out } = await kiln(...args, "--help");
    assert.is(code, 0);
    assert.match(out, /^Usage: kiln/);
    for (const line of out.split("\n")) assert.ok(line.length <= 100, line);
  }
});

test("no command, and an unknown one", async () => {
  const { code, err } = await kiln();
  assert.is(code, 2);
  assert.match(err, /^kiln: needs a command\n/);
  await refuses(
    ["train"],
    "kiln: unknown command train\n  commands are run, compile, inspect, bench, tune, generate, chat, serve, doctor, explain, cache, completion",
  );
  await refuses(["inspct"], "kiln: unknown command inspct\n  did you mean inspect?");
});

test("an unknown option", () =>
  refuses(
    ["run", "--tarjet", "js", "x.ts"],
    "kiln run: unknown option '--tarjet'\n  did you mean --target?",
  ));

test("an unknown option that is near none", () =>
  refuses(["run", "--zz", "x.ts"], "kiln run: unknown option '--zz'\n  see kiln run --help"));

test("doctor says what is here, and what to do about the rest", async () => {
  const { code, out } = await kiln("doctor", "--json");
  assert.is(code, 0);
  const { findings } = JSON.parse(out) as {
    findings: { what: string; ok: boolean; advice?: string }[];
  };
  const names = findings.map((f) => f.what);
  for (const what of ["js", "wasm", "relaxed SIMD", "threads", "webgpu", "TypeScript"])
    assert.ok(names.includes(what), names.join());
  for (const f of findings) assert.ok(f.ok || f.advice, `${f.what} lacks advice`);
  const text = await kiln("doctor");
  assert.match(text.out, /^kiln-ml \d/);
});

test("completion is a script of the tables, which the shell understands", async () => {
  const { code, out } = await kiln("completion", "bash");
  assert.is(code, 0);
  const ask = (words: readonly string[]): string[] =>
    execFileSync(
      "bash",
      [
        "-c",
        `${out}\nCOMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _kiln; echo "\${COMPREPLY[@]}"`,
      ],
      { encoding: "utf8" },
    )
      .trim()
      .split(" ");
  assert.equal(ask(["kiln", "in"]), ["inspect"]);
  assert.equal(ask(["kiln", "compile", "--t"]), ["--target", "--text", "--tuning"]);
  assert.equal(ask(["kiln", "run", "--target", "w"]), ["wasm", "webgpu"]);
  const fish = await kiln("completion", "fish");
  assert.match(fish.out, /^complete -c kiln .* -a run\n/);
  await refuses(
    ["completion", "tcsh"],
    "kiln completion: needs one shell, got tcsh\n  shells are bash, zsh, fish",
  );
});

test("help of serve tells the defaults of the library", async () => {
  const { out } = await kiln("serve", "--help");
  const { port, host, queue, batch, maxBodyBytes } = serveDefaults;
  for (const [name, value] of Object.entries({
    port,
    host,
    queue,
    batch,
    "max-body": maxBodyBytes,
  }))
    assert.match(out, new RegExp(`--${name} .*\\(${value}\\)|--${name} .*${value}`));
});

test("progress is a line of a terminal, which what is said takes the place of", async () => {
  const { isTTY } = process.stderr;
  const { TERM } = process.env;
  const all: string[] = [];
  const writers = [process.stdout.write, process.stderr.write];
  const listen = ((text: string) => all.push(text)) as unknown as typeof process.stdout.write;
  try {
    process.stdout.write = listen;
    process.stderr.write = listen;
    process.stderr.isTTY = true;
    process.env.TERM = "xterm";
    status("compiling f: fuse");
    say("done\n");
    say("more\n");
    process.stderr.isTTY = false;
    status("compiling g: fuse");
  } finally {
    [process.stdout.write, process.stderr.write] = writers as [typeof listen, typeof listen];
    process.stderr.isTTY = isTTY;
    if (TERM === undefined) delete process.env.TERM;
    else process.env.TERM = TERM;
  }
  assert.equal(all, ["\r\x1b[2Kcompiling f: fuse", "\r\x1b[2K", "done\n", "more\n"]);
});

test("no file, one that is not there, and two", async () => {
  await refuses(["inspect"], "kiln inspect: needs a file\n  see kiln inspect --help");
  await refuses(["bench", "none.ts"], "kiln bench: none.ts does not exist");
  await refuses(
    ["run", "a.ts", "b.ts"],
    "kiln run: takes one file, got 2: a.ts b.ts\n  put arguments of the script behind --",
  );
});

test("an option with a bad value", async () => {
  const { err, code } = await kiln("run", "--target", "cuda", "package.json");
  assert.match(err, /^kiln run: unknown target cuda\n {2}targets are auto, js/);
  assert.is(code, 2);
  await refuses(
    ["bench", "--runs", "0", "package.json"],
    "kiln bench: --runs must be an integer of 1 or more, got 0",
  );
  await refuses(
    ["run", "--threads", "0", "package.json"],
    "kiln run: --threads must be an integer of 1 or more, got 0",
  );
  await refuses(
    ["inspect", "--adapter", "big", "package.json"],
    "kiln inspect: unknown adapter big\n  adapters are none, integrated, discrete",
  );
  await refuses(
    ["inspect", "--dims", "N", "package.json"],
    "kiln inspect: --dims must be like N=32,T=8, got N",
  );
});

test("a dim that is no number, an extent that is no expression, and extents of a script", async () => {
  await refuses(
    ["compile", "--extents", "batch", "-o", "x.kiln", "package.json"],
    "kiln compile: --extents must be like batch=1,height=32*h, got batch",
  );
  await refuses(
    ["bench", "--extents", "batch=1", "packages/tools/start.mjs"],
    "kiln bench: --extents is for ONNX files, and packages/tools/start.mjs is none\n  a script says the extents itself",
  );
});

const extentsLike = "kiln bench: --extents must be like batch=1,height=32*h, got";

test("dims and extents with no value, with another behind it, and told twice", async () => {
  const like = "must be like N=32,T=8, got";
  const script = "packages/tools/start.mjs";
  for (const given of ["N=", "N= ", "=3", "N=3=4", "N=1e2", "N=-1", "N=99999999999999999999"])
    await refuses(["bench", `--dims=${given}`, script], `kiln bench: --dims ${like} ${given}`);
  const twice = ["bench", "--dims", "N=3,N=4", script];
  await refuses(twice, "kiln bench: --dims says twice what N is: N=3,N=4");
  await refuses(
    ["bench", "--extents", "n=3,n=k", script],
    "kiln bench: --extents says twice what n is: n=3,n=k",
  );
  await refuses(["bench", "--extents", "n=", script], `${extentsLike} n=`);
});

test("compile without a place to write to", () =>
  refuses(
    ["compile", "package.json"],
    "kiln compile: needs --out\n  kiln compile model.ts -o model.kiln",
  ));

test("a stage that does not exist", async () => {
  const { err, code } = await kiln("inspect", "--stage", "nothing", "x.kiln.json", "package.json");
  assert.is(code, 2);
  assert.match(err, /^kiln inspect: takes one file/);
  await refuses(
    ["inspect", "--stage", "graph", "LICENSE"],
    "kiln inspect: no stage graph in an artifact\n  stages are signature, kernels, plan, costs, placement",
  );
});

test.run();
