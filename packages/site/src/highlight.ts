/** Colours of code, by the parser that the editor uses. Other languages stay as they are. */
import { highlightCode, tagHighlighter, tags } from "@lezer/highlight";
import { parser } from "@lezer/javascript";
import { escaped } from "./frame.ts";

const classes = tagHighlighter([
  { tag: [tags.keyword, tags.modifier], class: "k" },
  { tag: [tags.string, tags.regexp], class: "s" },
  { tag: [tags.number, tags.bool, tags.null], class: "n" },
  { tag: tags.comment, class: "c" },
  { tag: [tags.typeName, tags.className], class: "t" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], class: "f" },
]);

const typescript = parser.configure({ dialect: "ts" });
const javascript = /^(ts|typescript|js|javascript|tsx)$/;

/** The code as HTML. */
export function highlighted(code: string, language: string): string {
  if (!javascript.test(language)) return escaped(code);
  let html = "";
  highlightCode(
    code,
    typescript.parse(code),
    classes,
    (text, kind) => {
      html += kind ? `<i class="${kind}">${escaped(text)}</i>` : escaped(text);
    },
    () => {
      html += "\n";
    },
  );
  return html;
}
