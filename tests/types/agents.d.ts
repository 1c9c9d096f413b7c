// What `a2a-edge build` writes as `.a2a-edge/agents.d.ts`.
import type { Agents } from "a2a-edge";

declare const agents: Agents;
export default agents;

declare module "a2a-edge" {
  interface Known {
    remotes: "weather" | "hotels";
    mcp: "rooms";
    secrets: "LOCK_KEY" | "MODEL_KEY" | "PLACES_KEY";
  }
}
