/** Runs the command from source in a folder of its own, as a user's project would have it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const root = resolve(".");

/** Below node_modules, so that packages are found and the repository stays clean. */
export class Project {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(root, "node_modules/.cache/kiln-cli", `${name}-${process.pid}`);
    mkdirSync(this.folder, { recursive: true });
    process.on("exit", () => rmSync(this.folder, { recursive: true, force: true }));
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  kiln(...args: string[]): Outcome {
    return this.#spawn(process.execPath, this.#command(args));
  }

  /** The command with its output going to another, through a shell. */
  kilnTo(reader: string, ...args: string[]): Outcome {
    const words = [process.execPath, ...this.#command(args)].map((w) => `'${w}'`);
    return this.#spawn("sh", ["-c", `${words.join(" ")} | ${reader}`]);
  }

  #command(args: readonly string[]): string[] {
    const tsx = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
    const node = ["--conditions=@kiln-ml/source", "--import", tsx];
    return [...node, join(root, "packages/kiln/src/cli.ts"), ...args];
  }

  #spawn(command: string, args: readonly string[]): Outcome {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: this.folder,
      encoding: "utf8",
      env: { ...process.env, KILN_DEBUG: "", NODE_OPTIONS: "" },
    });
    return { code: status, out: stdout, err: stderr };
  }
}
