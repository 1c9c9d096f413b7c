// The failure of a request, in the form that the console shows.
import { jsonIn } from "./json-in.ts";

/** A member of a request that the server refused, with the reason. */
export interface FieldViolation {
  field: string;
  description: string;
}

/** The reason of a problem for an answer that does not follow A2A. */
export const UNEXPECTED = "UNEXPECTED_ANSWER";

/** A failed request. `message` is text of the server, or of the console if there was no answer. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The code of JSON-RPC, if there is one. */
  readonly code: number | undefined;
  /** The reason of the error, for example `TASK_NOT_FOUND` (spec §5.4). */
  readonly reason: string | undefined;
  readonly violations: readonly FieldViolation[];
  /** The number of seconds after which the server allows the next request. */
  readonly retryAfter: number | undefined;
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string | undefined;
  /** The id of the request in the logs of the server. */
  readonly requestId: string | undefined;
  /** The called agent: the slug of an agent of this Worker, or a URL. */
  readonly agent: string | undefined;

  constructor(message: string, about: Partial<Omit<Problem, keyof Error>> = {}) {
    super(message);
    this.status = about.status ?? 0;
    this.code = about.code;
    this.reason = about.reason;
    this.violations = about.violations ?? [];
    this.retryAfter = about.retryAfter;
    this.challenge = about.challenge;
    this.requestId = about.requestId;
    this.agent = about.agent;
  }

  /** True if a retry may help: there was no answer, or the server is busy. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** A card that cannot be used, with the served text. */
export class UnfitCard extends Problem {
  /** The served text; only its beginning, if `isCut`. */
  readonly text: string;
  readonly isCut: boolean;
  readonly foundAt: string;

  constructor(told: Problem, { text, isCut, foundAt }: Pick<UnfitCard, "text" | "isCut" | "foundAt">) {
    super(told.message, told);
    [this.text, this.isCut, this.foundAt] = [text, isCut, foundAt];
  }
}

/** The problem in an answer: an error of JSON-RPC or of HTTP+JSON, or the status of a server that follows neither. */
export function problemOf(status: number, headers: Headers, text: string, agent?: string): Problem {
  const error = errorIn(text);
  const details = Array.isArray(error?.["data"]) ? error["data"] : Array.isArray(error?.["details"]) ? error["details"] : [];
  const members = details.filter((detail): detail is Record<string, unknown> => typeof detail === "object" && detail !== null);
  const seconds = Number(headers.get("retry-after") ?? NaN);
  const said = typeof error?.["message"] === "string" ? error["message"] : undefined;
  return new Problem(said ?? `The server answered ${status}.`, {
    status,
    code: typeof error?.["code"] === "number" ? error["code"] : undefined,
    reason: members.map((detail) => detail["reason"]).find((reason) => typeof reason === "string"),
    violations: members.flatMap(violationsIn),
    retryAfter: Number.isFinite(seconds) ? seconds : undefined,
    challenge: headers.get("www-authenticate") ?? undefined,
    requestId: headers.get("x-request-id") ?? undefined,
    agent,
  });
}

function errorIn(text: string): Record<string, unknown> | undefined {
  const body = jsonIn(text);
  const error = typeof body === "object" && body !== null && "error" in body ? body.error : undefined;
  return typeof error === "object" && error !== null ? (error as Record<string, unknown>) : undefined;
}

function violationsIn(detail: Record<string, unknown>): FieldViolation[] {
  const listed = detail["fieldViolations"];
  if (!Array.isArray(listed)) return [];
  return listed.filter((one): one is FieldViolation => typeof one?.field === "string" && typeof one?.description === "string");
}
