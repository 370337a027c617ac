/** Requests of tests, and the models that they ask. */
import type { Tensor } from "@kiln-ml/ir";
import { Decoder, decoderConfig, TextSession, type Tokenizer } from "@kiln-ml/llm";
import { type ServeOptions, type Server, serve } from "@kiln-ml/serve";

/** Numbers as texts: token 7 is " 7", which is its length in characters too. */
export const numbers: Tokenizer = {
  size: 24,
  encode: (text) => text.split(" ").filter(Boolean).map(Number),
  decode: (tokens) => tokens.map((t) => ` ${t}`).join(""),
};

/** A decoder that ends no text, with room for `context` tokens. */
export function endless(context: number): Decoder {
  return new Decoder(
    decoderConfig({
      model_type: "llama",
      vocab_size: 24,
      hidden_size: 16,
      intermediate_size: 24,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      max_position_embeddings: context,
    }),
  );
}

/** A session whose texts stand still where a test asks something meanwhile. */
export class HeldSession extends TextSession {
  #free = Infinity;
  #held: Promise<void> | undefined;

  /** Lets `free` steps run and holds the next one; the function lets all go on. */
  hold(free: number): () => void {
    this.#free = free;
    let goOn!: () => void;
    this.#held = new Promise((resolve) => {
      goOn = resolve;
    });
    return () => {
      this.#free = Infinity;
      goOn();
    };
  }

  override async step(...args: Parameters<TextSession["step"]>): Promise<Tensor> {
    if (this.#free-- <= 0) await this.#held;
    return super.step(...args);
  }
}

export const sessionOf = (net: Decoder): HeldSession =>
  new HeldSession(net, { target: "js", chunk: 8 });

export const started = (model: Parameters<typeof serve>[0], options: Partial<ServeOptions> = {}) =>
  serve(model, { name: "m", port: 0, ...options });

export const post = (
  { url }: Server,
  path: string,
  body: unknown,
  more: RequestInit = {},
): Promise<Response> =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...more,
  });

/** The error of an answer, as `status code: message`. */
export async function refusal(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return `${response.status} ${error.code}: ${error.message}`;
}

/** The value of a sample of /metrics; 0 if there is none. */
export async function sample({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((l) => l.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/** Waits until `when` holds. */
export async function until(when: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (await when()) return;
    await new Promise((next) => setTimeout(next, 50));
  }
  throw new Error("what was waited for did not come");
}
