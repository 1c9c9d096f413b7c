// Fronts of servers with the official SDK for JavaScript, of 1.0 and of 0.3.

import { startServer, startServerOf03 } from "./servers/js.ts";
import { passes } from "./servers/passes.ts";

passes(
  { name: "@a2a-js/sdk", start: startServer },
  { name: "@a2a-js/sdk over HTTP+JSON", start: startServer, settings: { binding: "HTTP+JSON" } },
  { name: "@a2a-js/sdk 0.3", start: startServerOf03 },
);
