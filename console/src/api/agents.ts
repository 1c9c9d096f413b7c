// The agents of this Worker.
import { signal } from "@preact/signals";
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
  /** The versions of A2A that it speaks, as `1.0`. */
  dialects: string[];
  /** Whether everybody may call it. */
  isOpen: boolean;
  capabilities?: { streaming?: boolean; pushNotifications?: boolean; extendedAgentCard?: boolean };
  skills?: { id: string; name: string }[];
  access?: {
    /** As in its card. */
    securitySchemes: Record<string, SecurityScheme>;
    securityRequirements: { schemes?: Record<string, unknown> }[];
    /** Whether callers of it can be operators. */
    hasOperators: boolean;
  };
  health: Health;
}

/** Whether an agent can work. */
export interface Health {
  /** `down`, `silent` and `unbound` are told by `GET /console/api/agents/<slug>/health`; `unasked` is what the console says before it has asked. */
  state: "ok" | "partial" | "misconfigured" | "down" | "silent" | "unbound" | "unasked";
  /** In development: whether its executor or its access is wrong. */
  part?: "executor" | "access";
  reason?: string;
  /** Whether it needs something outside of the Worker, of which the catalogue does not say whether it is there. */
  outside?: boolean;
}

export interface Catalogue {
  version: string;
  development: boolean;
  agents: CataloguedAgent[];
}

/** The newest catalogue; undefined until it is there. */
export const catalogue = signal<Catalogue | undefined>(undefined);
/** Why there is none. */
export const catalogueProblem = signal<Problem | undefined>(undefined);

/** The catalogue, once its first reading is over; undefined if that failed. */
export async function catalogueOnceRead(): Promise<Catalogue | undefined> {
  if (catalogue.value === undefined && catalogueProblem.value === undefined) await (reading ?? loadCatalogue());
  return catalogue.value;
}

/** The reading of the catalogue that is under way, or the last one. */
let reading: Promise<void> | undefined;

/** Reads the catalogue anew. */
export function loadCatalogue(): Promise<void> {
  reading = readCatalogue();
  return reading;
}

async function readCatalogue(): Promise<void> {
  try {
    catalogue.value = await json<Catalogue>({ agent: "", path: "/console/api/agents", isQuiet: true });
    catalogueProblem.value = undefined;
  } catch (error) {
    catalogueProblem.value = error instanceof Problem ? error : new Problem(String(error));
  }
}

/** The agent of this slug, as far as the catalogue is there. */
export function agentOf(slug: string): CataloguedAgent | undefined {
  return catalogue.value?.agents.find((agent) => agent.slug === slug);
}
