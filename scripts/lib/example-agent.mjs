// The program behind the agent agents/wordcount.toml of this repository: `start` and `dev` run it together with the Worker. The program
// is written as a Worker (examples/http-agents/worker/agent.js), which also accepts requests of Node.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { inProject } from "./paths.mjs";
import { say } from "./ui.mjs";

const PORT = 8790;

/** Runs the program, if the project has both the agent and the program. It ends with this process. */
export async function serveExampleAgent(port = PORT) {
  const program = inProject("examples", "http-agents", "worker", "agent.js");
  if (!existsSync(inProject("agents", "wordcount.toml")) || !existsSync(program)) return undefined;
  const { default: agent } = await import(pathToFileURL(program).href);
  const server = createServer((request, response) => {
    answer(agent, request, response).catch((error) => response.destroy(error));
  });
  server.unref();
  return new Promise((resolve) => {
    server.once("error", (error) => {
      const other = "it is in use. If another start or dev of a2a-edge uses it, its program answers for the agent wordcount here, too";
      say(`The program of the agent wordcount was not started at port ${port}: ${error.code === "EADDRINUSE" ? other : error.code}.`);
      resolve(undefined);
    });
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

async function answer(agent, request, response) {
  const { method, headers, url } = request;
  const body = method === "GET" || method === "HEAD" ? null : Readable.toWeb(request);
  const answered = await agent.fetch(new Request(new URL(url, "http://localhost"), { method, headers, body, duplex: "half" }));
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  if (answered.body === null) return response.end();
  return void Readable.fromWeb(answered.body).on("error", (error) => response.destroy(error)).pipe(response);
}
