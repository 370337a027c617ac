/** Refusals as clients read them: a status, and JSON of the form that OpenAI's clients know. */
import { KilnError } from "kiln-ml/ir";

/** Why a request is not served. */
export class RequestError extends KilnError {
  override name = "RequestError";
  readonly status: 400 | 404 | 405 | 413 | 415 | 429 | 499 | 500 | 503;
  /** What programs ask for: `context_length_exceeded`, `queue_full`. */
  readonly code: string;
  /** The field of the request that is meant. */
  readonly param: string | undefined;

  constructor(status: RequestError["status"], code: string, message: string, param?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** A field that is wrong. */
export const wrongField = (param: string, message: string): RequestError =>
  new RequestError(400, "invalid_value", `${param} ${message}`, param);

const kinds: Readonly<Record<number, string>> = {
  429: "rate_limit_error",
  500: "server_error",
  503: "server_error",
};

/** The refusal that an error is: ours are the client's matter, others this server's. */
export function refusalOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof KilnError && !error.message.startsWith("bug in"))
    return new RequestError(400, "invalid_value", error.message);
  return new RequestError(500, "internal_error", "the server failed: its log says why");
}

export const bodyOf = ({ message, status, param, code }: RequestError): object => ({
  error: {
    message,
    type: kinds[status] ?? "invalid_request_error",
    param: param ?? null,
    code,
  },
});
