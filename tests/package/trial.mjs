// The project that scripts/lib/trial-package.mjs has made of the packed packages, and the commands of its author. There are neither cargo nor cc.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../scripts/lib/port.mjs";

const { A2A_TRIAL: folder, A2A_TRIAL_PATH: PATH } = process.env;
if (folder === undefined) throw new Error("these tests are run by: npm test -- package");

export const at = (...parts) => join(folder, ...parts);
export const read = (path) => readFileSync(at(path), "utf8");
export const write = (path, content) => writeFileSync(at(path), content);
export const remove = (path) => rmSync(at(path), { recursive: true, force: true });

/** Starts a program in the project; its output grows while it runs. */
export const start = (program, ...args) => startAs({}, program, ...args);

/** The same as another user, where `user` names one as `spawn` does. */
export function startAs(user, program, ...args) {
  const child = spawn(program, args, { cwd: folder, env: { HOME: dirname(folder), PATH }, ...user });
  const running = { child, output: "" };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (running.output += chunk));
  running.ended = new Promise((resolve) => child.once("close", (code) => resolve({ code, output: running.output })));
  return running;
}

/** Runs a program in the project to its end. */
export const run = (program, ...args) => start(program, ...args).ended;

/** Serves the project with `start` or `dev` while `work` runs. */
export async function serving(command, work) {
  const port = await freePort();
  const running = start("npm", "run", command, "--", "--port", String(port), "--inspector-port", String(await freePort()));
  try {
    await until(() => running.output.includes("a2a-edge serves at") || running.child.exitCode !== null, () => `it serves:\n${running.output}`);
    if (running.child.exitCode !== null) throw new Error(running.output);
    return await work(`http://127.0.0.1:${port}`, running);
  } finally {
    running.child.kill("SIGTERM");
    await running.ended;
  }
}

/** Sends a text to an agent, and returns the text of the first artifact. */
export async function ask(url, slug, text) {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const answer = await fetch(`${url}/${slug}/message:send`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message }) });
  const { task } = await answer.json();
  return task?.artifacts?.[0]?.parts[0].text;
}

/** Waits until `condition` answers something true, and answers that. */
export async function until(condition, what) {
  for (let tries = 0; tries < 600; tries += 1) {
    const answer = await condition();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`waited in vain until ${what()}`);
}
