/**
 * Models that are compiled already: their programs, and beside them the files that texts need,
 * which are those of the model that was compiled.
 */
import type { LoadedEntries } from "kiln-ml/entries";
import type { ChatTemplate } from "./chat-template.ts";
import { EntriesSession, factsIn, factsName, factsOf } from "./entries-session.ts";
import { LanguageModelError } from "./errors.ts";
import type { Tokenizer } from "./generate.ts";
import { readGguf, withoutTensors } from "./gguf.ts";
import { jsonTokenizer } from "./json-tokenizer.ts";
import { jsonIn, type ModelFiles } from "./model-files.ts";
import { chatIn, ggufChat, ggufTokenizer } from "./open-model.ts";
import type { TextSession } from "./session.ts";

/** A session of the runtime alone, and what texts are for it. */
export interface CompiledModel {
  readonly session: EntriesSession;
  readonly tokenizer: Tokenizer;
  /** Undefined for a model that was not made to converse. */
  readonly chat: ChatTemplate | undefined;
}

const vocabularyName = "vocabulary.gguf";
const copied = ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"];

/**
 * What lies beside an artifact of `session.programs()` so that it makes texts: the tokenizer and
 * the chat template of the model's own files, and what its config says of texts.
 */
export async function textFilesOf(
  files: ModelFiles,
  session: TextSession,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const facts = `${JSON.stringify(factsOf(session), null, 2)}\n`;
  const out = new Map<string, Uint8Array>([[factsName, new TextEncoder().encode(facts)]]);
  const gguf = [...files.names].find((name) => name.endsWith(".gguf"));
  if (files.names.has("config.json") || gguf === undefined)
    for (const name of copied) if (files.names.has(name)) out.set(name, await files.read(name));
  if (out.size === 1 && gguf !== undefined)
    out.set(vocabularyName, withoutTensors(await files.read(gguf), gguf));
  return out;
}

/** Whether files are such as `textFilesOf` gives. */
export const hasTexts = ({ names }: Pick<ModelFiles, "names">): boolean => names.has(factsName);

/**
 * The session of an artifact's entries, with the tokenizer beside them. Rejects with
 * LanguageModelError for files that are absent or fit no text.
 */
export async function openCompiledModel(
  files: ModelFiles,
  entries: LoadedEntries,
): Promise<CompiledModel> {
  const session = new EntriesSession(entries, factsIn(await jsonIn(files, factsName)));
  if (files.names.has(vocabularyName)) {
    const file = readGguf(await files.read(vocabularyName), { file: vocabularyName });
    return { session, tokenizer: await ggufTokenizer(file), chat: await ggufChat(file) };
  }
  const tokens = await jsonIn(files, "tokenizer.json");
  if (!tokens)
    throw new LanguageModelError(
      `openCompiledModel: ${files.name} has no tokenizer.json\n  copy it from the model that was compiled`,
    );
  const about = (await jsonIn(files, "tokenizer_config.json")) ?? {};
  const tokenizer = await jsonTokenizer(tokens, about);
  return { session, tokenizer, chat: await chatIn(files, about) };
}
