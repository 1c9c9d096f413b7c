// Identity providers for tests: issuers on a local server, with real keys, key sets and discovery documents. They rotate their
// keys, go away, answer slowly and lie when a test says so, and count who asks them. And agents that take their tokens.

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
  /** As a key set shows it: with `kid`, `alg` and `use`. */
  readonly jwk: JsonWebKey & Record<string, unknown>;
}

/** Claims and header members of a token, or what is wanted instead of the right ones; `undefined` leaves a member out. */
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

/** A part of a token. */
export const encode = (part: unknown): string => Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

/** What of a token is signed. */
export const signingInput = (header: Members, claims: Members): string => `${encode(header)}.${encode(claims)}`;

/** The signature of a key over a text, as a token has it. */
export function signature(key: SigningKey, text: string): Buffer {
  const hash = key.algorithm === "EdDSA" ? null : "sha256";
  return signWith(hash, Buffer.from(text), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
}

/** A token with these claims. Members of `header` replace or, as `undefined`, remove those that are right. */
export function token(key: SigningKey, claims: Members, header: Members = {}): string {
  const input = signingInput({ alg: key.algorithm, typ: "JWT", kid: key.kid, ...header }, claims);
  return `${input}.${signature(key, input).toString("base64url")}`;
}

/** A token that is signed by HMAC with any bytes, whatever its header says. */
export function hmacToken(secret: string | Buffer, claims: Members, header: Members = {}): string {
  const input = signingInput({ alg: "HS256", typ: "JWT", ...header }, claims);
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

/** The audience of the tokens here. */
export const AUDIENCE = "agents";

/** Somebody who gives out tokens. */
export class Issuer {
  /** Its `iss`: a path of the server, so that each has its own documents. */
  readonly url: string;
  /** What it signs with, and, unless `published` says otherwise, what its key set shows. */
  keys: SigningKey[];
  /** What its key set shows instead of its keys. */
  published: unknown;
  /** What else the answer with its key set is. */
  answer: Answer = {};
  /** Members of its discovery document, instead of the right ones. */
  document: Members = {};
  /** Whether it answers nothing but 503. */
  isDown = false;
  readonly #sink: Sink;
  readonly #path: string;

  constructor(sink: Sink, keys: SigningKey[], name: string) {
    this.#sink = sink;
    this.#path = `/${name}`;
    this.url = sink.url + this.#path;
    this.keys = keys;
  }

  /** Where its keys are: `/jwks` below it, or where Cloudflare Access has them. */
  get jwksUrl(): string {
    return `${this.url}/jwks`;
  }

  /** How often its keys were asked for. */
  get fetches(): number {
    return this.#sink.count(`${this.#path}/jwks`) + this.#sink.count(`${this.#path}/cdn-cgi/access/certs`);
  }

  /** How often its discovery document was asked for. */
  get discoveries(): number {
    return this.#sink.count(`${this.#path}/.well-known/openid-configuration`);
  }

  /** Claims that are right for an agent of `jwt` or `access`: of alice, for five minutes. */
  claims(claims: Members = {}): Members {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.url, aud: AUDIENCE, sub: "alice", iat: now, exp: now + 300, jti: randomUUID(), ...claims };
  }

  /** A token of its first key, or of another one. Each has a `jti` of its own, so no server has seen it before. */
  token(claims: Members = {}, { key = this.keys[0], header = {} }: { key?: SigningKey | undefined; header?: Members } = {}): string {
    if (key === undefined) throw new Error("the issuer has no key");
    return token(key, this.claims(claims), header);
  }

  /** Waits for the request number `nth` for its keys, and gives what can answer it. */
  asked(nth: number) {
    return this.#sink.arrival(`${this.#path}/jwks`, nth);
  }

  /** Lets the next request for its keys wait until the test answers it. */
  holdKeys(): void {
    this.#sink.plan(`${this.#path}/jwks`, "hold");
  }

  /** Breaks the connections of the next requests for its keys. */
  dropKeys(count: number): void {
    this.#sink.plan(`${this.#path}/jwks`, ...Array.from({ length: count }, () => "drop" as const));
  }

  /** Its answer to a request below its path. */
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

  /** As Cloudflare Access shows its keys: RSA keys, and the same as certificates. */
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

  /** Adds an issuer with these keys, by default one of ES256. Its name is that of an agent by convention. */
  issuer(name: string, ...keys: SigningKey[]): Issuer {
    const issuer = new Issuer(this.sink, keys.length > 0 ? keys : [makeKey("ES256")], name);
    this.#issuers.set(name, issuer);
    return issuer;
  }

  close(): void {
    this.sink.close();
  }
}

/** A scheme that takes tokens of an issuer, whose keys are at its `jwksUrl`. */
export function jwt(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], jwks_url: issuer.jwksUrl, ...rest };
}

/** A scheme that takes tokens of an issuer, whose discovery document says where its keys are. */
export function discovered(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], discover: true, ...rest };
}

/** A scheme that takes what Cloudflare Access says for the team of an issuer. */
export function access(issuer: Issuer, rest: Members = {}): Members {
  return { kind: "cloudflare_access", team: issuer.url, audience: [AUDIENCE], ...rest };
}

/**
 * The agents of tests/agents for the variable `AGENTS`, and for each name here a copy of the agent `demo` with these schemes,
 * as `[access.schemes]` of its file would name them, and with these other members of its `[access]`.
 */
export function agentsWith(schemes: Record<string, Record<string, Members>>, rest: Record<string, Members> = {}): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string }[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  const copies = Object.entries(schemes).map(([slug, schemes]) => ({ ...demo, slug, default: false, access: { schemes, ...rest[slug] } }));
  return JSON.stringify({ ...built, agents: [...agents, ...copies] });
}

/** What a server answered to a request with a token. */
export interface Admission {
  status: number;
  /** The text of the refusal; empty where there is none. */
  message: string;
  challenge: string | null;
  retryAfter: string | null;
}

/** Asks an agent for the list of tasks, which says by its status whether the credentials are taken. */
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
