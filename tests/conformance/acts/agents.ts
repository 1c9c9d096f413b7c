// The agents of behaviors.ts for the variable `AGENTS` of a Worker.
import { agentsWith, type PlayedAgent } from "../agents.ts";
import { BEHAVIORS, CONFIGURATIONS, done } from "./behaviors.ts";

const caller = (id: string, secret: string, permissions: string[]): object => ({ id, secrets: [secret], permissions });
const token = { kind: "bearer", callers: [caller("runner", "ACTS_TOKEN", ["act"]), caller("other", "ACTS_OTHER_TOKEN", ["act"]), caller("lacking", "ACTS_LACKING_TOKEN", [])] };
const GUARDED = { schemes: { token }, requires: [{ token: ["act"] }] };
const OPEN = { open: true, open_listing: true, open_webhooks: true };

/** What the card says of the scheme. */
const SECURITY = { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } }, securityRequirements: [{ schemes: { token: { list: ["act"] } } }] };

const rules = Object.entries(BEHAVIORS).map(([prefix, script]) => ({ when: { pattern: `^${prefix}\\b` }, ...script }));
const executor = { kind: "script", table: { rules: [...rules, { then: [done] }] }, run: {} };

function agent(slug: string): PlayedAgent {
  const [isPlain, isGuarded] = [slug === "acts-plain", slug === "acts-guarded"];
  const capabilities = { streaming: !isPlain, pushNotifications: !isPlain, extendedAgentCard: isGuarded };
  return {
    slug,
    // They take text alone and refuse all else, as the suite wants it of some part.
    card: { name: `ACTS, ${slug}`, capabilities, defaultInputModes: ["text/plain"], ...(isGuarded && SECURITY) },
    executor,
    more: {
      accepts: "declared",
      capabilities: { streaming: !isPlain, push_notifications: !isPlain, extended_agent_card: isGuarded, extensions: [] },
      access: isGuarded ? GUARDED : OPEN,
    },
  };
}

/** The variable `AGENTS` with these agents alone. */
export const actsAgents = (): string => agentsWith(...CONFIGURATIONS.map(({ slug }) => agent(slug)));
