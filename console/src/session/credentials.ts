// What a person has signed in with. Kept for the session of the browser tab alone, and sent to this origin alone.
import { signal } from "@preact/signals";
import type { Slot } from "./schemes.ts";

export type { Slot } from "./schemes.ts";

/** For whom a secret is: an agent by its slug, or all agents of this Worker. */
export type Audience = string;
export const EVERY_AGENT: Audience = "*";

interface Kept {
  audience: Audience;
  slot: Slot;
  /** What the card calls its scheme, for people. */
  scheme: string;
  secret: string;
}

const KEY = "a2a-edge.credentials";
const kept = signal<readonly Kept[]>(read());

/** Whether anything is kept, for this agent or for all. */
export function isSignedIn(agent?: string): boolean {
  return agent === undefined ? kept.value.length > 0 : secretsFor(agent).length > 0;
}

/** What is kept, without the secrets. */
export function keptSchemes(): { audience: Audience; slot: Slot; scheme: string }[] {
  return kept.value.map(({ audience, slot, scheme }) => ({ audience, slot, scheme }));
}

/** Keeps a secret in the place of one for the same audience and slot. */
export function keep(audience: Audience, slot: Slot, secret: string, scheme: string): void {
  const others = kept.value.filter((one) => one.audience !== audience || keyOf(one.slot) !== keyOf(slot));
  store([...others, { audience, slot, scheme, secret }]);
}

/** Forgets the secrets of an audience, one of them, or all that are kept. */
export function forget(audience?: Audience, slot?: Slot): void {
  const goes = (one: Kept) => (audience === undefined || one.audience === audience) && (slot === undefined || keyOf(one.slot) === keyOf(slot));
  store(kept.value.filter((one) => !goes(one)));
}

/** What a request to an agent carries: those of the agent before those of all. */
export function applyTo(agent: string, url: URL, headers: Headers): void {
  for (const { slot, secret } of secretsFor(agent)) place(slot, secret, url, headers);
}

/** Puts a secret where it goes. */
export function place(slot: Slot, secret: string, url: URL, headers: Headers): void {
  if (slot.in === "query") url.searchParams.set(slot.name, secret);
  else headers.set(slot.in === "header" ? slot.name : "authorization", valueOf(slot, secret));
}

/** The value of its header or parameter. */
export function valueOf(slot: Slot, secret: string): string {
  return slot.in === "authorization" ? `${slot.scheme} ${secret}` : secret;
}

/** Whether a secret for one of these slots would be sent in the place of a secret for the other. */
export function isSameSlot(one: Slot, other: Slot): boolean {
  return keyOf(one) === keyOf(other) && (one.in !== "authorization" || other.in !== "authorization" || one.scheme === other.scheme);
}

function secretsFor(agent: string): Kept[] {
  const found = new Map<string, Kept>();
  // What is asked of no agent in particular needs a caller whom one of them knows.
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
