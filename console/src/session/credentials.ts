// What a person has signed in with. Kept for the session of the browser tab alone, and sent to this origin alone.
import { signal } from "@preact/signals";
import type { AgentCard, SecurityScheme } from "../api/types.ts";

/** A place of a request where a secret goes. */
export type Slot = { in: "header" | "query"; name: string } | { in: "authorization"; scheme: string };

/** For whom a secret is: an agent by its slug, or all agents of this Worker. */
export type Audience = string;
export const EVERY_AGENT: Audience = "*";

interface Kept {
  audience: Audience;
  slot: Slot;
  secret: string;
}

const KEY = "a2a-edge.credentials";
const kept = signal<readonly Kept[]>(read());

/** Whether anything is kept, for this agent or for all. */
export function isSignedIn(agent?: string): boolean {
  return agent === undefined ? kept.value.length > 0 : secretsFor(agent).length > 0;
}

/** Keeps a secret in the place of one for the same audience and slot. */
export function keep(audience: Audience, slot: Slot, secret: string): void {
  const others = kept.value.filter((one) => one.audience !== audience || keyOf(one.slot) !== keyOf(slot));
  store([...others, { audience, slot, secret }]);
}

/** Forgets the secrets of an audience, or all of them. */
export function forget(audience?: Audience): void {
  store(audience === undefined ? [] : kept.value.filter((one) => one.audience !== audience));
}

/** What a request to an agent carries: those of the agent before those of all. */
export function applyTo(agent: string, url: URL, headers: Headers): void {
  for (const { slot, secret } of secretsFor(agent)) {
    if (slot.in === "authorization") headers.set("authorization", `${slot.scheme} ${secret}`);
    else if (slot.in === "header") headers.set(slot.name, secret);
    else url.searchParams.set(slot.name, secret);
  }
}

/** All that must not be shown, for views of raw requests. */
export function secrets(): string[] {
  return kept.value.map(({ secret }) => secret);
}

/** The slots that a card asks for, with the names of their schemes. A cookie needs none: the browser sends it by itself. */
export function slotsOf(card: AgentCard): { scheme: string; slot: Slot; description: string | undefined }[] {
  return Object.entries(card.securitySchemes ?? {}).flatMap(([scheme, of]) => {
    const slot = slotOf(of);
    const { description } = of.apiKeySecurityScheme ?? of.httpAuthSecurityScheme ?? of.oauth2SecurityScheme ?? of.openIdConnectSecurityScheme ?? {};
    return slot === undefined ? [] : [{ scheme, slot, description }];
  });
}

function slotOf(scheme: SecurityScheme): Slot | undefined {
  const { apiKeySecurityScheme: key, httpAuthSecurityScheme: http } = scheme;
  if (key !== undefined) return key.location === "cookie" ? undefined : { in: key.location, name: key.name };
  if (http !== undefined) return { in: "authorization", scheme: /^bearer$/i.test(http.scheme) ? "Bearer" : http.scheme };
  const isBearer = scheme.oauth2SecurityScheme !== undefined || scheme.openIdConnectSecurityScheme !== undefined;
  return isBearer ? { in: "authorization", scheme: "Bearer" } : undefined;
}

function secretsFor(agent: string): Kept[] {
  const found = new Map<string, Kept>();
  for (const audience of [EVERY_AGENT, agent]) {
    for (const one of kept.value) if (one.audience === audience) found.set(keyOf(one.slot), one);
  }
  return [...found.values()];
}

function keyOf(slot: Slot): string {
  return slot.in === "authorization" ? slot.in : `${slot.in}:${slot.name.toLowerCase()}`;
}

function store(next: readonly Kept[]): void {
  kept.value = next;
  try {
    if (next.length === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage they last as long as the page.
  }
}

function read(): Kept[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? (found as Kept[]) : [];
  } catch {
    return [];
  }
}
