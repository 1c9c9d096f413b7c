// The input of the checks of a card: the card itself, its URL, and the answers of the agent.
import type { AgentCard } from "../api/types.ts";
import { list, members, readCard, type Members } from "../api/card.ts";
import { jsonIn } from "../api/json-in.ts";
import type { Outcome, Probe } from "./probe.ts";

/** A found card. */
export interface Found {
  /** The card in the form of 1.0; members may have any shape. */
  card: AgentCard;
  /** The served text, byte for byte. */
  text: string;
  /** The URL of the card. */
  foundAt: string;
  /** True if the card is of this Worker, so that the advice can name its settings. */
  isLocal: boolean;
  /** True if the card is of a Worker in development, where open access is usually intended. */
  isDevelopment?: boolean;
  /** The answers of the agent, if it was called. */
  probe?: Probe | undefined;
  /** True if a signature is valid; undefined if this was not checked. */
  isGenuine?: boolean | undefined;
}

/**
 * The weight of a finding: `error`: clients fail or are misled; `warning`: some clients fail; `advice`: an improvement.
 */
export type Severity = "error" | "warning" | "advice";

/** One possible improvement of a card. */
export interface Finding {
  severity: Severity;
  /** The member of the card, for example `skills[2].tags`. */
  about: string;
  /** The fact and its consequence. */
  text: string;
  /** The change to make. */
  fix: string;
}

/** The input of a rule. */
export interface Subject extends Found {
  /** The card in the form of 1.0; every member has its shape. */
  read: AgentCard;
  /** The card in the form of 1.0 with unchanged members. */
  raw: Members;
  /** The served text, parsed as JSON. */
  served: Members;
  /** The URL of the card, if it is valid. */
  at: URL | undefined;
  outcome(method: keyof Probe): Outcome | undefined;
}

/** Returns the findings of one kind. */
export type Rule = (subject: Subject) => Finding[];

/** The subject for a found card. */
export function subjectOf(found: Found): Subject {
  const served = members(jsonIn(found.text));
  // A card of 1.0 is checked as it was served: the parsed card lacks unreadable members.
  const raw = list(served["supportedInterfaces"]).length > 0 || !isOlder(served) ? served : members(found.card);
  return { ...found, read: readCard(raw), raw, served, at: urlOf(found.foundAt), outcome: (method) => found.probe?.[method] };
}

/** True if a card names its agent's URL in the way of 0.3 or 0.1. */
export function isOlder(served: Members): boolean {
  return typeof served["url"] === "string" && !("supportedInterfaces" in served);
}

/** The absolute URL in a text; undefined if the text is not one. */
export function urlOf(text: unknown): URL | undefined {
  try {
    return typeof text === "string" ? new URL(text) : undefined;
  } catch {
    return undefined;
  }
}

/** True if only programs on the same machine, or in the same network, can reach this host. */
export function isPrivate({ hostname }: URL): boolean {
  return isLoopback(hostname) || /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.)|\.(local|internal|lan)$|^\[f[cde]/.test(hostname);
}

/** True if this host is the machine itself. */
export function isLoopback(hostname: string): boolean {
  return /^(127\.[\d.]+|0\.0\.0\.0|\[::1?\])$|(^|\.)localhost$/.test(hostname);
}

export const error = (about: string, text: string, fix: string): Finding => ({ severity: "error", about, text, fix });
export const warning = (about: string, text: string, fix: string): Finding => ({ severity: "warning", about, text, fix });
export const advice = (about: string, text: string, fix: string): Finding => ({ severity: "advice", about, text, fix });

/** A list with the finding if the condition is true; otherwise empty. */
export function when(condition: boolean, finding: () => Finding): Finding[] {
  return condition ? [finding()] : [];
}
