// Callers of the agents `club` and `lodge`: a Worker with their secrets, and the permissions of each.
import { createHmac } from "node:crypto";
import { startWorker, type Worker, type WorkerOptions } from "./harness.ts";

export const CARD = "/.well-known/agent-card.json";

export const KEYS = {
  guest: "guest-key-6e1f0c9d4b7a8352",
  member: "member-key-2b9d7c0a5e4f8163",
  insider: "insider-key-f3a8170b6c5d9e42",
};
export const TOKEN = "token-91c4e7a20d8b6f35";
export const SECRET = "lodge-secret-0f8d3b6a1c5e7924f8d3b6a1c5e79240";
export const ISSUER = "https://id.example";

export const VARS: Record<string, string> = {
  CLUB_GUEST_KEY: KEYS.guest, CLUB_MEMBER_KEY: KEYS.member, CLUB_INSIDER_KEY: KEYS.insider, CLUB_TOKEN: TOKEN,
  LODGE_SECRET: SECRET, LODGE_ISSUER: ISSUER,
};

/** A Worker that recognizes members of the club, and holders of tokens of the lodge. */
export function startClub(vars: Record<string, string> = {}, options: WorkerOptions = {}): Promise<Worker> {
  return startWorker({ ...options, vars: { ...VARS, ...vars } });
}

/** A JWT for the lodge. */
export function jwt(claims: Record<string, unknown> = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const expires = Math.floor(Date.now() / 1000) + 3_600;
  const input = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: ISSUER, aud: "lodge", sub: "alice", exp: expires, ...claims })}`;
  return `${input}.${createHmac("sha256", SECRET).update(input).digest("base64url")}`;
}

export interface Card {
  name: string;
  supportedInterfaces: { url: string }[];
  capabilities: { extendedAgentCard?: boolean };
  skills: { id: string }[];
  securitySchemes?: Record<string, Record<string, unknown>>;
  securityRequirements?: unknown;
  signatures?: { protected: string; signature: string }[];
}

export const skillsOf = (card: Card) => card.skills.map(({ id }) => id);

/** GetExtendedAgentCard, over one of the bindings. */
export async function askExtended(binding: "JSONRPC" | "HTTP+JSON", url: string, headers: Record<string, string>) {
  if (binding === "HTTP+JSON") return fetch(`${url}/extendedAgentCard`, { headers: { "a2a-version": "1.0", ...headers } });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "GetExtendedAgentCard" });
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers }, body });
}

/** The card in an answer to GetExtendedAgentCard. */
export async function cardIn(binding: "JSONRPC" | "HTTP+JSON", response: Response): Promise<Card> {
  const body = (await response.json()) as { result: Card } & Card;
  return binding === "JSONRPC" ? body.result : body;
}
