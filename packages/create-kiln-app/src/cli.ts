#!/usr/bin/env node
/** The command `npm create kiln-app`. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { chosen, help, readFlags, terminal } from "./command.ts";
import { createApp } from "./create.ts";
import { Refusal } from "./refusal.ts";

async function main(args: readonly string[]): Promise<void> {
  const flags = readFlags(args);
  if (flags.says === "help") return void process.stdout.write(help);
  if (flags.says === "version") {
    const { version } = JSON.parse(
      readFileSync(new URL("../package.json", import.meta.url), "utf8"),
    );
    return void process.stdout.write(`${version}\n`);
  }
  const asking = terminal();
  try {
    const { folder, template } = await chosen(flags, asking?.ask);
    const written = await createApp(folder, template.name);
    const place = relative("", folder);
    const steps = [...(place ? [`cd ${shellWord(place)}`] : []), "npm install"];
    const lines = [...steps, `npm run ${template.script}`].map((line) => `  ${line}\n`);
    process.stdout.write(
      `${folder}: ${written.length} files from the template ${template.name}\n${lines.join("")}`,
    );
  } finally {
    asking?.close();
  }
}

const shellWord = (text: string): string => (/^[\w./\\:@-]+$/.test(text) ? text : `"${text}"`);

try {
  await main(process.argv.slice(2));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  // What a disk refuses is told as it says it; anything else is a fault of ours, with its trace.
  if (!(error instanceof Refusal) && code === undefined) throw error;
  process.stderr.write(`create-kiln-app: ${message}\n`);
  process.exitCode = 1;
}
