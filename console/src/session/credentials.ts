// The secrets with which a person has signed in. They are kept only for the session of the browser tab, and sent only
// to this origin.
import { signal } from "@preact/signals";
import type { Slot } from "./schemes.ts";

export type { Slot } from "./schemes.ts";

/** The target of a secret: an agent by its slug, or all agents of this Worker. */
export type Audience = string;
export const EVERY_AGENT: Audience = "*";

interface Kept {
  audience: Audience;
  slot: Slot;
  /** The name of the scheme in the card. */
  scheme: string;
  secret: string;
}

const KEY = "a2a-edge.credentials";
const kept = signal<readonly Kept[]>(read());

/** True if there are secrets, for this agent or for any. */
export function isSignedIn(agent?: string): boolean {
  return agent === undefined ? kept.value.length > 0 : secretsFor(agent).length > 0;
}

/** The kept schemes, without the secrets. */
export function keptSchemes(): { audience: Audience; slot: Slot; scheme: string }[] {
  return kept.value.map(({ audience, slot, scheme }) => ({ audience, slot, scheme }));
}

/** Keeps a secret; it replaces a secret for the same audience and slot. */
export function keep(audience: Audience, slot: Slot, secret: string, scheme: string): void {
  const others = kept.value.filter((one) => one.audience !== audience || keyOf(one.slot) !== keyOf(slot));
  store([...others, { audience, slot, scheme, secret }]);
}

/** Deletes the secrets of an audience, one of its secrets, or all secrets. */
export function forget(audience?: Audience, slot?: Slot): void {
  const goes = (one: Kept) => (audience === undefined || one.audience === audience) && (slot === undefined || keyOf(one.slot) === keyOf(slot));
  store(kept.value.filter((one) => !goes(one)));
}

/** Adds the secrets for an agent to a request. Secrets for this agent replace those for all agents. */
export function applyTo(agent: string, url: URL, headers: Headers): void {
  for (const { slot, secret } of secretsFor(agent)) place(slot, secret, url, headers);
}

/** Adds a secret to its slot. */
export function place(slot: Slot, secret: string, url: URL, headers: Headers): void {
  if (slot.in === "query") url.searchParams.set(slot.name, secret);
  else headers.set(slot.in === "header" ? slot.name : "authorization", valueOf(slot, secret));
}

/** The value of the header or parameter. */
export function valueOf(slot: Slot, secret: string): string {
  return slot.in === "authorization" ? `${slot.scheme} ${secret}` : secret;
}

/** True if a secret for one slot would replace a secret for the other slot in a request. */
export function isSameSlot(one: Slot, other: Slot): boolean {
  return keyOf(one) === keyOf(other) && (one.in !== "authorization" || other.in !== "authorization" || one.scheme === other.scheme);
}

function secretsFor(agent: string): Kept[] {
  const found = new Map<string, Kept>();
  // A request that concerns no particular agent may be sent by a caller that any agent accepts.
  const audiences = agent === "" ? [...new Set(kept.value.map(({ audience }) => audience))].reverse().sort((one) => (one === EVERY_AGENT ? 1 : 0)) : [EVERY_AGENT, agent];
  for (const audience of audiences) {
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
    // Without storage, the secrets are kept until the page is closed.
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
