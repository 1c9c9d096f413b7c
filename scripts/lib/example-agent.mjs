// The program behind the agent agents/wordcount.toml of this repository: `start` and `dev` run it together with the Worker. The program
// is written as a Worker (examples/http-agents/worker/agent.js), which also accepts requests of Node.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { inProject } from "./paths.mjs";

/** The variable with the program's URL, which the agent file names. */
const VARIABLE = "WORDCOUNT_URL";

/**
 * Runs the program at a free port, if the project has both the agent and the program. It ends with this process. Returns the variables of the Worker
 * that the agent needs, as the option `--var` has them.
 */
export async function serveExampleAgent() {
  const program = inProject("examples", "http-agents", "worker", "agent.js");
  if (!existsSync(inProject("agents", "wordcount.toml")) || !existsSync(program)) return [];
  const { default: agent } = await import(pathToFileURL(program).href);
  const server = createServer((request, response) => {
    answer(agent, request, response).catch((error) => response.destroy(error));
  });
  server.unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  return [`${VARIABLE}:http://127.0.0.1:${server.address().port}`];
}

async function answer(agent, request, response) {
  const { method, headers, url } = request;
  const body = method === "GET" || method === "HEAD" ? null : Readable.toWeb(request);
  const answered = await agent.fetch(new Request(new URL(url, "http://localhost"), { method, headers, body, duplex: "half" }));
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) return response.end();
  return void Readable.fromWeb(answered.body).on("error", (error) => response.destroy(error)).pipe(response);
}
