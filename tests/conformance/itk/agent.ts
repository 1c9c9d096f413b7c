// The agent that the ITK starts as `current`: `agent.ts --httpPort N --grpcPort N`. A Worker serves it in all versions and over both bindings
// that it has, as an agent of kind "http"; the program behind it (crates/a2a/tests/itk, named by `A2A_ITK_PROGRAM`) carries out the instructions
// and calls other agents by our client. The ITK posts to `/jsonrpc/`, which is the name of the agent.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { freePort } from "../../../scripts/lib/port.mjs";
import { startWorker } from "../../e2e/harness.ts";
import { agentsWith } from "../agents.ts";

const { values } = parseArgs({ options: { httpPort: { type: "string" }, grpcPort: { type: "string" } } });
const program = process.env["A2A_ITK_PROGRAM"];
if (values.httpPort === undefined || program === undefined) throw new Error("--httpPort and A2A_ITK_PROGRAM are needed");

const port = await freePort();
const child = spawn(program, [String(port)], { stdio: "inherit" });
// The ITK ends whatever listens at the port of the agent, so the Worker may be gone before this process hears of it.
process.once("exit", () => child.kill());
const AGENTS = agentsWith({
  slug: "jsonrpc",
  card: {
    name: "a2a-edge",
    description: "Carries out instructions of the ITK.",
    skills: [{ id: "itk", name: "ITK", description: "Carries out an instruction, and answers with its texts.", tags: ["test"] }],
    defaultInputModes: ["application/x-protobuf"],
  },
  executor: { kind: "http", table: { url: `http://127.0.0.1:${port}` }, run: { timeout_ms: 120_000 } },
  more: { capabilities: { streaming: true, push_notifications: true, extended_agent_card: false } },
});
const worker = await startWorker({ port: Number(values.httpPort), vars: { AGENTS } });
console.log(`serving at ${worker.url}`);

const signal = new Promise<void>((resolve) => {
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve());
});
await Promise.race([signal, once(child, "exit")]);
await worker.stop();
process.exit();
