/** `kiln cache`: the programs that are kept between processes, and an end to them. */
import { cacheFolder, Disk, mostBytes, openDisk } from "../cache/disk.ts";
import { bytesText } from "./extents.ts";
import { helpOf, shared, tableOf } from "./options.ts";
import { say } from "./terminal.ts";
import { parseOptions, UsageError } from "./usage.ts";

export const options = [shared.json];

export const help = helpOf(
  "cache [clear] [options]",
  options,
  `Lists the compiled programs that are kept, or removes them. KILN_CACHE is another folder
for them, or "off".
`,
);

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("cache", args, tableOf(options));
  const [what, extra] = positionals;
  if ((what !== undefined && what !== "clear") || extra !== undefined)
    throw new UsageError(`kiln cache: takes clear or nothing, got ${positionals.join(" ")}`);
  const disk = openDisk();
  if (!(disk instanceof Disk)) {
    say(values.json ? "null\n" : "no programs are kept: KILN_CACHE is off, or Node is too old\n");
    return 0;
  }
  const { folder } = disk;
  if (what === "clear") {
    const removed = disk.clear();
    say(values.json ? `${JSON.stringify({ folder, removed })}\n` : `${removed} removed\n`);
    return 0;
  }
  say(values.json ? `${JSON.stringify({ folder, files: disk.files() }, null, 2)}\n` : list(disk));
  return 0;
}

function list(disk: Disk): string {
  const files = disk.files();
  const total = files.reduce((sum, f) => sum + f.bytes, 0);
  const lines = files.map(({ name, bytes, usedMs }) => {
    const used = new Date(usedMs).toISOString().slice(0, 16).replace("T", " ");
    return `  ${used}  ${bytesText(bytes).padStart(9)}  ${name.slice(0, 16)}\n`;
  });
  const head = `${cacheFolder()}: ${files.length} programs, ${bytesText(total)} of at most ${bytesText(mostBytes)}\n`;
  return head + lines.join("");
}
