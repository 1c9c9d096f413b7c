// The agents of this Worker.
import { signal } from "@preact/signals";
import { currency } from "./currency.ts";
import { json } from "./http.ts";
import { Problem } from "./problem.ts";
import type { SecurityScheme } from "./types.ts";

/** An agent of the catalogue (`GET /console/api/agents`). */
export interface CataloguedAgent {
  slug: string;
  name: string;
  description: string;
  version: string;
  isDefault: boolean;
  /** The versions of A2A that the agent supports, for example `1.0`. */
  dialects: string[];
  /** True if callers need no credentials. */
  isOpen: boolean;
  capabilities?: { streaming?: boolean; pushNotifications?: boolean; extendedAgentCard?: boolean };
  skills?: { id: string; name: string }[];
  access?: {
    /** As in the card. */
    securitySchemes: Record<string, SecurityScheme>;
    securityRequirements: { schemes?: Record<string, unknown> }[];
    /** True if callers of the agent can be operators. */
    hasOperators: boolean;
  };
  health: Health;
}

/** The health of an agent. */
export interface Health {
  /** `down`, `silent` and `unbound` come from `GET /console/api/agents/<slug>/health`; `unasked` is the console's own state before that request. */
  state: "ok" | "partial" | "misconfigured" | "down" | "silent" | "unbound" | "unasked";
  /** In development: the misconfigured part. */
  part?: "executor" | "access";
  reason?: string;
  /** True if the agent needs something outside of the Worker, whose state is not part of the catalogue. */
  outside?: boolean;
}

export interface Catalogue {
  version: string;
  development: boolean;
  /** The currency of costs; null if the deployment tells none. */
  currency: string | null;
  agents: CataloguedAgent[];
}

/** The newest catalogue; undefined until it is loaded. */
export const catalogue = signal<Catalogue | undefined>(undefined);
/** The reason for a missing catalogue. */
export const catalogueProblem = signal<Problem | undefined>(undefined);

/** The catalogue, after its first loading has ended; undefined if that failed. */
export async function catalogueOnceRead(): Promise<Catalogue | undefined> {
  if (catalogue.value === undefined && catalogueProblem.value === undefined) await (reading ?? loadCatalogue());
  return catalogue.value;
}

/** The current or last loading of the catalogue. */
let reading: Promise<void> | undefined;

/** Loads the catalogue again. */
export function loadCatalogue(): Promise<void> {
  reading = readCatalogue();
  return reading;
}

async function readCatalogue(): Promise<void> {
  try {
    catalogue.value = await json<Catalogue>({ agent: "", path: "/console/api/agents", isQuiet: true });
    currency.value = catalogue.value.currency ?? undefined;
    catalogueProblem.value = undefined;
  } catch (error) {
    catalogueProblem.value = error instanceof Problem ? error : new Problem(String(error));
  }
}

/** The agents of the catalogue that can run; undefined until it is loaded. */
export function runnableAgents(): CataloguedAgent[] | undefined {
  return catalogue.value?.agents.filter(({ health }) => health.state !== "misconfigured");
}

/** The agent with this slug, if the catalogue is loaded. */
export function agentOf(slug: string): CataloguedAgent | undefined {
  return catalogue.value?.agents.find((agent) => agent.slug === slug);
}
