/** What takes options, read off the sources by their patterns. */

/** Exported functions and classes of a file with a parameter of options, by name. */
export function takersIn(text: string): string[] {
  const typed = /\w*(Options|Bounds)\b|\{ readonly \w+\?: /;
  const names: string[] = [];
  for (const part of text.split(/\n(?=export |const |abstract class |class |function )/)) {
    const [head] = part.split(/\n(?: {2})?(?=\S[^\n]*\{\n {4})/);
    const named = /^export (?:async |abstract )*(?:function|class|const) (\w+)/.exec(part);
    if (!named) continue;
    const isClass = /^export (abstract )?class/.test(part);
    const signature = isClass
      ? (/constructor\(([\s\S]*?)\) \{/.exec(part)?.[1] ?? "")
      : part.slice(0, part.search(/\): [^=]*?(\{\n|=>\s)/) + 1 || head!.length);
    if (typed.test(signature)) names.push(named[1]!);
  }
  // Functions that are made by another: `export const sum = reducing("sum", …)`.
  for (const [, name, maker] of text.matchAll(/export const (\w+) = (\w+)\(/g))
    if (new RegExp(`const ${maker} =[^;]*?Options`).test(text)) names.push(name!);
  return names;
}
