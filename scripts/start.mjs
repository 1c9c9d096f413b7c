// `npm start`, `npx a2a-edge start`: sets everything up and serves the agents locally.
import "./lib/node-version.mjs";
import { serveProject } from "./lib/serve-project.mjs";
import { main } from "./lib/ui.mjs";

await main(() => serveProject("start", "Sets everything up and serves the agents."));
