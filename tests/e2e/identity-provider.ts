// Identity providers for tests: issuers on a local server, with real keys, key sets and discovery documents. A test can make
// them rotate keys, go down, answer slowly or lie; they count their requests. Also agents that accept their tokens.

import { createHmac, generateKeyPairSync, randomUUID, sign as signWith, type JsonWebKey, type KeyObject } from "node:crypto";
import { testAgents } from "./harness.ts";
import { Sink, type Answer } from "./sink.ts";

/** An algorithm of the keys here. */
export type Algorithm = "RS256" | "ES256" | "EdDSA";

/** A key pair of an issuer. */
export interface SigningKey {
  readonly algorithm: Algorithm;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public half in the form of a key set: with `kid`, `alg` and `use`. */
  readonly jwk: JsonWebKey & Record<string, unknown>;
}

/** Claims and header members of a token that replace the valid ones; `undefined` removes a member. */
export type Members = Record<string, unknown>;

/** Makes a key pair. */
export function makeKey(algorithm: Algorithm, { kid = randomUUID(), bits = 2048 }: { kid?: string; bits?: number } = {}): SigningKey {
  const pair =
    algorithm === "RS256" ? generateKeyPairSync("rsa", { modulusLength: bits })
    : algorithm === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("ed25519");
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid, alg: algorithm, use: "sig" };
  return { algorithm, kid, ...pair, jwk };
}

/** A part of a token in base64url. */
export const encode = (part: unknown): string => Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

/** The signed part of a token. */
export const signingInput = (header: Members, claims: Members): string => `${encode(header)}.${encode(claims)}`;

/** The signature of a key over a text, in the format of tokens. */
export function signature(key: SigningKey, text: string): Buffer {
  const hash = key.algorithm === "EdDSA" ? null : "sha256";
  return signWith(hash, Buffer.from(text), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
}

/** A token with these claims. Members of `header` replace the valid ones, or remove them if `undefined`. */
export function token(key: SigningKey, claims: Members, header: Members = {}): string {
  const input = signingInput({ alg: key.algorithm, typ: "JWT", kid: key.kid, ...header }, claims);
  return `${input}.${signature(key, input).toString("base64url")}`;
}

/** A token signed by HMAC with any bytes, whatever its header contains. */
export function hmacToken(secret: string | Buffer, claims: Members, header: Members = {}): string {
  const input = signingInput({ alg: "HS256", typ: "JWT", ...header }, claims);
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

/** The audience of the tokens here. */
export const AUDIENCE = "agents";

/** An issuer of tokens. */
export class Issuer {
  /** The `iss` of the issuer: a path of the server, so that each issuer has its own documents. */
  readonly url: string;
  /** The keys that sign and, unless `published` is set, the keys in its key set. */
  keys: SigningKey[];
  /** The contents of the issuer's key set, in place of its keys. */
  published: unknown;
  /** Further properties of the answer with its key set. */
  answer: Answer = {};
  /** Members of its discovery document that replace the valid ones. */
  document: Members = {};
  /** True if the issuer answers every request with 503. */
  isDown = false;
  readonly #sink: Sink;
  readonly #path: string;

  constructor(sink: Sink, keys: SigningKey[], name: string) {
    this.#sink = sink;
    this.#path = `/${name}`;
    this.url = sink.url + this.#path;
    this.keys = keys;
  }

  /** The URL of the issuer's keys: `/jwks` below its `iss`, unlike the path of Cloudflare Access. */
  get jwksUrl(): string {
    return `${this.url}/jwks`;
  }

  /** The number of requests for its keys. */
  get fetches(): number {
    return this.#sink.count(`${this.#path}/jwks`) + this.#sink.count(`${this.#path}/cdn-cgi/access/certs`);
  }

  /** The number of requests for its discovery document. */
  get discoveries(): number {
    return this.#sink.count(`${this.#path}/.well-known/openid-configuration`);
  }

  /** Valid claims for an agent with `jwt` or `access`: of alice, for five minutes. */
  claims(claims: Members = {}): Members {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.url, aud: AUDIENCE, sub: "alice", iat: now, exp: now + 300, jti: randomUUID(), ...claims };
  }

  /** A token of the issuer's first key, or of another key. Each token has a new `jti`, so no server has seen it before. */
  token(claims: Members = {}, { key = this.keys[0], header = {} }: { key?: SigningKey | undefined; header?: Members } = {}): string {
    if (key === undefined) throw new Error("the issuer has no key");
    return token(key, this.claims(claims), header);
  }

  /** Waits for the request number `nth` for its keys, and returns it, so that the test can answer it. */
  asked(nth: number) {
    return this.#sink.arrival(`${this.#path}/jwks`, nth);
  }

  /** Holds the next request for its keys until the test answers it. */
  holdKeys(): void {
    this.#sink.plan(`${this.#path}/jwks`, "hold");
  }

  /** Breaks the connections of the next requests for its keys. */
  dropKeys(count: number): void {
    this.#sink.plan(`${this.#path}/jwks`, ...Array.from({ length: count }, () => "drop" as const));
  }

  /** The answer of the issuer to a request below its path. */
  answerTo(below: string): Answer {
    if (this.isDown) return { status: 503, body: "down" };
    if (below === "/.well-known/openid-configuration") return json({ issuer: this.url, jwks_uri: this.jwksUrl, ...this.document });
    if (below === "/jwks") return json(this.published ?? this.keySet(), this.answer);
    if (below === "/cdn-cgi/access/certs") return json(this.published ?? this.accessCertificates(), this.answer);
    return { status: 404, body: "nothing here" };
  }

  keySet(): { keys: unknown[] } {
    return { keys: this.keys.map(({ jwk }) => jwk) };
  }

  /** The keys in the form of Cloudflare Access: RSA keys, and the same as certificates. */
  accessCertificates(): object {
    const certificates = this.keys.map(({ kid }) => ({ kid, cert: "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n" }));
    return { ...this.keySet(), public_cert: certificates[0], public_certs: certificates };
  }
}

/** A server with any number of issuers. */
export class IdentityProvider {
  readonly sink: Sink;
  readonly #issuers = new Map<string, Issuer>();

  private constructor(sink: Sink) {
    this.sink = sink;
    sink.otherwise = ({ path }) => {
      const [, name = "", ...below] = path.split("/");
      return this.#issuers.get(name)?.answerTo(`/${below.join("/")}`) ?? { status: 404, body: "nobody here" };
    };
  }

  static async open(): Promise<IdentityProvider> {
    return new IdentityProvider(await Sink.open());
  }

  /** Adds an issuer with these keys, by default one key of ES256. By convention it has the name of an agent. */
  issuer(name: string, ...keys: SigningKey[]): Issuer {
    const issuer = new Issuer(this.sink, keys.length > 0 ? keys : [makeKey("ES256")], name);
    this.#issuers.set(name, issuer);
    return issuer;
  }

  close(): void {
    this.sink.close();
  }
}

/** A scheme that accepts tokens of an issuer, whose keys are at its `jwksUrl`. */
export function jwt(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], jwks_url: issuer.jwksUrl, ...rest };
}

/** A scheme that accepts tokens of an issuer whose discovery document contains the URL of its keys. */
export function discovered(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], discover: true, ...rest };
}

/** A scheme that accepts tokens of Cloudflare Access for the team of an issuer. */
export function access(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "cloudflare_access", team: issuer.url, audience: [AUDIENCE], ...rest };
}

/**
 * The agents of tests/agents for the variable `AGENTS`, and for each name here a copy of the agent `demo` with these schemes
 * in its `[access.schemes]`, and with these other members of its `[access]`.
 */
export function agentsWith(schemes: Record<string, Record<string, Members>>, rest: Record<string, Members> = {}): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  const copies = Object.entries(schemes).map(([slug, schemes]) => ({ ...demo, slug, default: false, access: { schemes, ...rest[slug] } }));
  return JSON.stringify({ ...built, agents: [...agents, ...copies] });
}

/** The answer to a request with a token. */
export interface Admission {
  status: number;
  /** The text of the refusal; empty if there is none. */
  message: string;
  challenge: string | null;
  retryAfter: string | null;
}

/** Requests the list of tasks from an agent; the status shows if the credentials are accepted. */
export async function ask(agentUrl: string, credentials: string | Record<string, string>): Promise<Admission> {
  const headers = typeof credentials === "string" ? { authorization: `Bearer ${credentials}` } : credentials;
  const response = await fetch(`${agentUrl}/tasks?pageSize=1`, { headers: { "a2a-version": "1.0", ...headers } });
  const text = await response.text();
  const message = response.ok ? "" : text;
  return { status: response.status, message, challenge: response.headers.get("www-authenticate"), retryAfter: response.headers.get("retry-after") };
}

function json(value: unknown, { headers = {}, ...rest }: Answer = {}): Answer {
  return { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value), ...rest };
}
