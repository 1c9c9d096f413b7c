// Other Workers, which the one of the project calls by service bindings: started from their folders, beside it. wrangler connects them by their names.
import { existsSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { FailedStart, unlabeled } from "./failed-start.mjs";
import { isStopping, signalGroup } from "./guard.mjs";
import { freePort } from "./port.mjs";
import { plain, start } from "./process.mjs";
import { Stop, say, step } from "./ui.mjs";
import { parseConfig, readConfig, wranglerCommand, wranglerEnvironment } from "./wrangler.mjs";

/** The option with the folders. */
export const OTHERS = { with: { type: "string", multiple: true } };

export const OTHERS_HELP = "    --with FOLDER          also start the Worker of this folder, which a service binding names; may be repeated";

const CONFIGS = ["wrangler.toml", "wrangler.jsonc", "wrangler.json"];

/**
 * Starts the Workers of these folders. When they serve, returns a function that ends them; they end with this process, too. What they store is in
 * `state`, a function that gives a folder for each; unless it is given, where wrangler keeps it.
 */
export async function startOthers(folders, state = (folder) => join(folder, ".wrangler", "state")) {
  const ends = [];
  if (folders.length > 0) {
    const { services = [] } = await readConfig();
    const bound = services.map(({ service }) => service);
    const others = await Promise.all(folders.map((given) => otherOf(given, bound)));
    for (const other of others) ends.push(await step(`Starting the Worker ${other.name} of ${other.given}`, () => startOther(other, state(other.folder))));
  }
  return () => Promise.all(ends.map((end) => end()));
}

/** The Worker of a folder. */
async function otherOf(given, bound) {
  const config = CONFIGS.map((name) => resolve(given, name)).find(existsSync);
  if (config === undefined) throw new Stop(`--with ${given}: there is no ${CONFIGS.join(", ")} in that folder.`);
  const { name = basename(resolve(given)) } = await parseConfig(undefined, config);
  if (bound.includes(name)) return { name, given, config, folder: realpathSync(resolve(given)) };
  const known = bound.length > 0 ? `; it has: ${bound.join(", ")}` : "";
  const lines = ["[[services]]", 'binding = "THE_NAME_IN_AGENT_FILES"', `service = "${name}"`].map((line) => `    ${line}`).join("\n");
  throw new Stop(`--with ${given}: the Worker there is "${name}", and wrangler.toml has no service binding to it${known}.\n\nAdd:\n\n${lines}`);
}

async function startOther({ name, config, folder }, state) {
  const [port, inspector] = [await freePort(), await freePort()];
  const options = ["--config", config, "--port", String(port), "--inspector-port", String(inspector), "--persist-to", state];
  const [node, args] = wranglerCommand("dev", ...options, "--show-interactive-dev-session=false");
  // A Worker that is a project of a2a-edge has a build command of its own.
  const child = start(node, args, { cwd: folder, env: wranglerEnvironment({ built: false }) });
  const closed = new Promise((resolved) => child.once("close", resolved));
  const said = [];
  let [serves, isEnding] = [false, false];
  const failure = await new Promise((settled) => {
    const failing = new FailedStart(settled);
    const show = (line) => {
      if (serves) return showLine(name, line);
      said.push(line);
      failing.takes(line);
      if (!/Ready on http/.test(line)) return undefined;
      serves = true;
      return settled(undefined);
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", show);
    void closed.then((code) => {
      failing.end();
      if (serves && !isEnding && !isStopping()) say(`The Worker ${name} has ended (exit code ${code}), so that calls to it fail until this command is started again.`);
      settled(`wrangler dev did not start:\n\n${said.join("\n").trim()}`);
    });
  });
  const end = () => {
    isEnding = true;
    signalGroup(child.pid, "SIGTERM");
    return closed;
  };
  if (failure === undefined) return end;
  signalGroup(child.pid, "SIGKILL");
  throw new Stop(`The Worker ${name} of ${folder} is not served. ${failure}`);
}

function showLine(name, line) {
  const text = plain(unlabeled(line)).trim();
  if (text !== "" && !/^⎔ Connection status|^env\.\w+ |^Your Worker has access to|^Binding +Resource/.test(text)) say(`[${name}] ${text}`);
}
