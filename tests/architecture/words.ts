/** Words that were renamed away, as rules from files to complaints: one line each, an empty list is a pass. */
import { isCode, type SourceFile } from "./source-files.ts";

/** Words that were renamed away: where they may not come back, and what is said now (docs/glossary.md). */
const formerWords: readonly { readonly was: RegExp; readonly in: RegExp; readonly now: string }[] =
  [
    { was: /\bfringe\w*/i, in: /^(compiler|runtime|packages)\//, now: "edge tile" },
    { was: /\bsideSums?\b/, in: /^compiler\//, now: "operandReduction" },
    { was: /\bmanners\b/, in: /^compiler\//, now: "AccessMode" },
    {
      was: /\bTouch\b|\btouch\(|\btouches\b(?= (in|ahead|for|cost))/,
      in: /^compiler\/src\/(schedule|targets)\//,
      now: "prefetch",
    },
    { was: /\bfence(At|s)?\b/, in: /^compiler\//, now: "scheduleBarrier" },
    { was: /\bsettle\b/, in: /^compiler\//, now: "materialise" },
    { was: /\b(Job|job)\b/, in: /^compiler\//, now: "LoweringContext" },
    { was: /\b[Pp]lacement\b/, in: /^compiler\/src\/(fuse|lower|schedule)\//, now: "ComputeAt" },
    { was: /\bgroup\.scalars\b|\bfewLines\b/, in: /^compiler\//, now: "guests, skinny" },
    { was: /\b(tall|broad): number/, in: /^compiler\/src\/schedule\//, now: "BM, BN, TM, TN" },
    { was: /\bcrews?\b/i, in: /^runtime\//, now: "executor, worker pool" },
    { was: /\bleases?\b/i, in: /^runtime\//, now: "arena" },
    { was: /#turns\b/, in: /^runtime\//, now: "run queue" },
    { was: /\b(Move|moveTogether)\b|\bmove\(move/, in: /^packages\/optim\//, now: "Update" },
  ];

/** Lines of sources that say a word which was renamed away. */
export function renamedWords(files: readonly SourceFile[]): string[] {
  return files.filter(isCode).flatMap(({ path, text }) => {
    const banned = formerWords.filter((w) => w.in.test(path));
    return text.split("\n").flatMap((line, i) =>
      banned.flatMap(({ was, now }) => {
        const found = was.exec(line);
        return found ? [`${path}:${i + 1}: ${found[0]} is called ${now} now`] : [];
      }),
    );
  });
}
