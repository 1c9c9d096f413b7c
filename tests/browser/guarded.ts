// Agents that ask for credentials, one for each kind of scheme, beside an open one and the club; and what specs of signing in do.

import assert from "node:assert/strict";
import { caller, guarded, secretsOf } from "../e2e/access.ts";
import type { View } from "./view.ts";

/** The secrets of the Worker, each another one in each run. */
export const secrets = secretsOf("PAGE_KEY", "ALICE_PASSWORD", "OPS_KEY");

const key = (more: object = {}) => ({ kind: "api_key", name: "X-Page-Key", callers: [caller("page", ["PAGE_KEY"])], ...more });
const people = { kind: "basic", callers: [caller("alice", ["ALICE_PASSWORD"])] };
const access = { kind: "cloudflare_access", team: "https://example.cloudflareaccess.com", audience: ["console"] };

const keyIn = (location: string, name: string) => ({ apiKeySecurityScheme: { location, name } });
const password = { httpAuthSecurityScheme: { scheme: "Basic" } };
const alternatives = (...all: string[][]) => all.map((names) => ({ schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])) }));

/** What the cards of the agents declare: the build makes it from their tables, which are made here. */
const CARDS: Record<string, object> = {
  keyed: { securitySchemes: { key: keyIn("header", "X-Page-Key") }, securityRequirements: alternatives(["key"]) },
  people: { securitySchemes: { people: password }, securityRequirements: alternatives(["people"]) },
  query: { securitySchemes: { query: keyIn("query", "key") }, securityRequirements: alternatives(["query"]) },
  cookie: { securitySchemes: { cookie: keyIn("cookie", "session") }, securityRequirements: alternatives(["cookie"]) },
  both: { securitySchemes: { key: keyIn("header", "X-Page-Key"), people: password }, securityRequirements: alternatives(["key", "people"]) },
  edge: { securitySchemes: { edge: keyIn("header", "Cf-Access-Jwt-Assertion"), tls: { mtlsSecurityScheme: {} } }, securityRequirements: alternatives(["edge"], ["tls"]) },
  ops: { securitySchemes: { key: keyIn("header", "X-Ops-Key") }, securityRequirements: alternatives(["key"]) },
};

/** The variable `AGENTS` with them. */
export function guardedAgents(): string {
  const { agents, ...built } = JSON.parse(guarded({
    keyed: { schemes: { key: key() } },
    people: { schemes: { people } },
    query: { schemes: { query: key({ in: "query", name: "key" }) } },
    cookie: { schemes: { cookie: key({ in: "cookie", name: "session" }) } },
    both: { schemes: { key: key(), people }, requires: [{ key: [], people: [] }] },
    edge: { schemes: { edge: access, tls: { kind: "mutual_tls" } } },
    ops: { schemes: { key: { ...key({ name: "X-Ops-Key" }), callers: [caller("ops", ["OPS_KEY"], { permissions: ["operator"] })] } } },
  })) as { agents: { slug: string; card: string }[] };
  const shown = agents.flatMap((agent): object[] => {
    const declared = CARDS[agent.slug];
    if (declared !== undefined) return [{ ...agent, card: JSON.stringify({ ...JSON.parse(agent.card), name: agent.slug, ...declared }) }];
    return ["demo", "club"].includes(agent.slug) ? [agent] : [];
  });
  return JSON.stringify({ ...built, agents: shown });
}

/** A 401 is an error in the browser's console, too. */
export const REFUSED = /status of 401/;

/** A secret that nobody has. */
export const WRONG = "a-wrong-secret-71c0ffee";

/** Types a secret into the field of the dialog, which has the focus as soon as it is there, in the place of what it has. */
export async function typed(view: View, secret: string): Promise<void> {
  await view.until(() => view.page.evaluate(() => document.activeElement?.matches("input[type=password]") ?? false), "the field has no focus");
  await view.page.keyboard.type(secret);
  assert.equal(await view.page.evaluate(() => (document.activeElement as HTMLInputElement).value), secret, "the field has another text");
}

/** Nothing of a secret is in the address, in the page's markup, in its text, or in storage that outlives the tab. */
export async function hides(view: View, ...given: string[]): Promise<void> {
  const seen = await view.page.evaluate(() => {
    const attributes = [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes].map(({ value }) => value));
    return [location.href, document.cookie, JSON.stringify(localStorage), document.body.innerText, JSON.stringify(history.state), ...attributes].join("\n");
  });
  for (const secret of [...given, WRONG]) {
    assert.ok(!seen.includes(secret), "the page shows a secret");
    for (const { url } of view.record.requests) assert.ok(!url.includes(secret) || url.includes("key="), `a secret in ${url}`);
  }
}
