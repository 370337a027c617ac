/** The editor: CodeMirror in the colours of the page, with names of Kiln completed from a list that the build makes. */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completeAnyWord,
} from "@codemirror/autocomplete";
import { javascript, javascriptLanguage } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

/** What follows which word, such as `nn.`: names with what they are. "" is what the front door exports, "." methods of tensors. */
export type Names = Readonly<Record<string, readonly Completion[]>>;

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.regexp], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.className], color: "var(--code-type)" },
  { tag: tags.function(tags.variableName), color: "var(--code-call)" },
  { tag: tags.function(tags.propertyName), color: "var(--code-call)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--sheet)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sheet)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--soft)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--mark)" },
  ".cm-tooltip": { backgroundColor: "var(--sheet)", border: "1px solid var(--line)" },
  ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--sheet)",
  },
  ".cm-fault": { backgroundColor: "var(--fault)" },
});

const faultAt = StateEffect.define<number | undefined>();

/** The line that failed, until the text changes. */
const fault = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, docChanged, state }) {
    let next = docChanged ? Decoration.none : marks;
    for (const effect of effects) {
      if (!effect.is(faultAt)) continue;
      const known = effect.value !== undefined && effect.value <= state.doc.lines;
      next = known
        ? Decoration.set(
            Decoration.line({ class: "cm-fault" }).range(state.doc.line(effect.value).from),
          )
        : Decoration.none;
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Completes `nn.`, `optim.` and the like, methods behind any other dot, and the names of the front door. */
function complete(names: Names) {
  return (context: CompletionContext): CompletionResult | null => {
    const dotted = context.matchBefore(/[\w$)\]]+\.\w*$/);
    if (dotted) {
      const [owner, typed] = dotted.text.split(".");
      const options = names[`${owner}.`] ?? names["."] ?? [];
      return { from: context.pos - typed!.length, options, validFor: /^\w*$/ };
    }
    const word = context.matchBefore(/\w+$/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: names[""] ?? [], validFor: /^\w*$/ };
  };
}

export class Editor {
  readonly #view: EditorView;

  constructor(parent: HTMLElement, names: Names, run: () => void) {
    const ran = (): boolean => {
      run();
      return true;
    };
    const extensions: Extension[] = [
      keymap.of([{ key: "Mod-Enter", run: ran }]),
      basicSetup,
      javascript({ typescript: true }),
      javascriptLanguage.data.of({ autocomplete: complete(names) }),
      javascriptLanguage.data.of({ autocomplete: completeAnyWord }),
      syntaxHighlighting(highlight),
      look,
      fault,
      EditorView.contentAttributes.of({ "aria-label": "program" }),
    ];
    this.#view = new EditorView({ parent, extensions });
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  set text(text: string) {
    const { state } = this.#view;
    this.#view.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } });
    this.#view.scrollDOM.scrollTop = 0;
  }

  /** Marks the line that failed, none without a number. */
  mark(line?: number): void {
    this.#view.dispatch({ effects: faultAt.of(line) });
  }
}
