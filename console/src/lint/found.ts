// What is known of a card that is checked: the card itself, where it was found, and what the agent answers.
import type { AgentCard } from "../api/types.ts";
import { list, members, readCard, type Members } from "../api/card.ts";
import { jsonIn } from "../api/json-in.ts";
import type { Outcome, Probe } from "./probe.ts";

/** A card as it was found. */
export interface Found {
  /** In 1.0, whatever was served; of any shape. */
  card: AgentCard;
  /** As it was served, byte for byte. */
  text: string;
  /** The URL that it was served at. */
  foundAt: string;
  /** Whether it is of this Worker, whose settings the advice can name. */
  isLocal: boolean;
  /** Whether it is of a Worker that runs for development, where much is meant to be open. */
  isDevelopment?: boolean;
  /** What the agent answered, if it was asked. */
  probe?: Probe | undefined;
  /** Whether a signature fits; undefined where that was not looked at. */
  isGenuine?: boolean | undefined;
}

/** How much a finding matters: `error`: clients fail or are misled; `warning`: some do; `advice`: it could be better. */
export type Severity = "error" | "warning" | "advice";

/** One thing about a card that could be better. */
export interface Finding {
  severity: Severity;
  /** The member of the card, as `skills[2].tags`. */
  about: string;
  /** What is so, and what follows from it. */
  text: string;
  /** What to do. */
  fix: string;
}

/** What a rule looks at. */
export interface Subject extends Found {
  /** The card in 1.0 with every member in its shape. */
  read: AgentCard;
  /** The card in 1.0 as it is. */
  raw: Members;
  /** The text as it was served, as JSON. */
  served: Members;
  /** The URL that it was served at, if it is one. */
  at: URL | undefined;
  outcome(method: keyof Probe): Outcome | undefined;
}

/** Finds what a rule of this kind can find. */
export type Rule = (subject: Subject) => Finding[];

/** The subject of a card that was found. */
export function subjectOf(found: Found): Subject {
  const served = members(jsonIn(found.text));
  // A card of 1.0 is looked at as it was served: what was read of it lacks what could not be read.
  const raw = list(served["supportedInterfaces"]).length > 0 || !isOlder(served) ? served : members(found.card);
  return { ...found, read: readCard(raw), raw, served, at: urlOf(found.foundAt), outcome: (method) => found.probe?.[method] };
}

/** Whether a card says in the way of 0.3 or 0.1 where its agent is. */
export function isOlder(served: Members): boolean {
  return typeof served["url"] === "string" && !("supportedInterfaces" in served);
}

/** The absolute URL that a text is, if it is one. */
export function urlOf(text: unknown): URL | undefined {
  try {
    return typeof text === "string" ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether only programs on the same machine, or in the same network, reach this host. */
export function isPrivate({ hostname }: URL): boolean {
  return isLoopback(hostname) || /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)|\.(local|internal|lan)$|^\[f[cde]/.test(hostname);
}

/** Whether this host is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\])$|(^|\.)localhost$/.test(hostname);
}

export const error = (about: string, text: string, fix: string): Finding => ({ severity: "error", about, text, fix });
export const warning = (about: string, text: string, fix: string): Finding => ({ severity: "warning", about, text, fix });
export const advice = (about: string, text: string, fix: string): Finding => ({ severity: "advice", about, text, fix });

/** The finding if the condition holds, for lists of them. */
export function when(condition: boolean, finding: () => Finding): Finding[] {
  return condition ? [finding()] : [];
}
