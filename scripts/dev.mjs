// `npm run dev`, `npx a2a-edge dev`: like `start`, and what is saved is served in a moment.
import "./lib/node-version.mjs";
import { serveProject } from "./lib/serve-project.mjs";
import { main } from "./lib/ui.mjs";

await main(() => serveProject("dev", "As start, and serves changed agents and code as soon as they are saved."));
