// Serves the built Worker with `wrangler dev`, and shows the part of its output that matters to users.
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { createInterface } from "node:readline";
import { ADDRESS_OPTIONS, DEFAULT_HOST, DEFAULT_PORT, isLoopback, ownUrlAt, readAddress, urlAt } from "./address.mjs";
import { command as commandLine } from "./command.mjs";
import { servesAssets } from "./console.mjs";
import { isStopping, signalGroup } from "./guard.mjs";
import { inProject, projectDir } from "./paths.mjs";
import { passedOn, readOptions } from "./options.mjs";
import { freePort } from "./port.mjs";
import { plain, start } from "./process.mjs";
import { Stop, say } from "./ui.mjs";
import { whenVariablesChange } from "./variables.mjs";
import { tellsOfAsking, toldUnservable } from "./unservable.mjs";
import { wranglerCommand, wranglerEnvironment } from "./wrangler.mjs";

/** The options that are passed to wrangler dev unchanged. */
const PASSED_ON = {
  var: { type: "string", multiple: true },
  "persist-to": { type: "string" },
  "inspector-port": { type: "string" },
  "log-level": { type: "string" },
  "test-scheduled": { type: "boolean" },
};

const AS_DEPLOYED = `    --as-deployed          without the variable DEVELOPMENT and the modules of development: refuses what a deployment refuses
`;

const usage = (command, does) => `Usage: ${commandLine(command, "[--port N] [--var NAME:VALUE]...")}

${does}

    -p, --port N           serve at http://localhost:N (default: the variable PORT, else ${DEFAULT_PORT})
    --host ADDRESS         listen at this address (default: the variable BIND_HOST, else ${DEFAULT_HOST}); 0.0.0.0 for all
    --var NAME:VALUE       set a variable of the Worker; may be repeated
    --persist-to FOLDER    keep tasks there (default: .wrangler/state)
    --inspector-port N     where debuggers connect
    --log-level LEVEL      of wrangler: debug, info, log, warn, error or none
    --test-scheduled       fire the cron trigger by GET /__scheduled
${command === "start" ? AS_DEPLOYED : ""}    -h, --help             this text`;

/** Reads the options of the commands `start` and `dev`; `does` is the first sentence of their help. */
export function serveOptions(command, does, args = process.argv.slice(2)) {
  const options = { ...ADDRESS_OPTIONS, ...PASSED_ON, ...(command === "start" ? { "as-deployed": { type: "boolean" } } : {}) };
  const { values, refuse } = readOptions({ usage: usage(command, does), options }, args);
  const address = readAddress(values, refuse);
  if (values.var?.some((text) => /^DEVELOPMENT(?::|$)/.test(text))) {
    throw refuse(`DEVELOPMENT is set by this command. What a deployment serves is served by: ${commandLine("start", "--as-deployed")}`);
  }
  const asDeployed = values["as-deployed"] === true;
  return { command, ...address, asDeployed, vars: values.var, state: values["persist-to"], rest: passedOn(values, Object.keys(PASSED_ON)) };
}

/**
 * Serves the module `main` until interrupted. wrangler is ended and started again when the runtime dies, by a crash or by `kill -9` (its own restart
 * hangs if its proxy has died, too), and when a file of variables changes, which wrangler reads at its start alone.
 */
export async function serve(options, { main, engine, environment, note, access }) {
  for (let served = 0; ; served += 1) {
    const { died, changed, ready, early, code } = await serveOnce(options, { main, engine, environment, note: served === 0 ? note ?? stored(options.state) : undefined, access });
    if (isStopping()) return;
    if (changed !== undefined) {
      say(`${changed} has changed; starting the Worker again.`);
      continue;
    }
    if (!ready) throw new Stop(`wrangler dev did not start:\n\n${early.join("\n").trim()}`);
    if (!died) throw new Stop(`wrangler dev ended by itself (exit code ${code}).`);
    say("The runtime has died; starting it again.");
  }
}

/** Serves until wrangler ends, or the runtime dies. The greeting is shown with a `note`, and with who may call (`access`); without, it is one line. */
async function serveOnce({ command, host, port, asDeployed, rest }, { main, engine, environment, note, access }) {
  const token = randomUUID();
  const child = startWrangler(main, { host, port }, rest, { extra: environment, asDeployed, engine, token });

  // The output of wrangler before it serves is only shown if it never does.
  const early = [];
  let [ready, died, hinted, changed] = [false, false, false, undefined];
  const unwatch = whenVariablesChange((name) => {
    changed = name;
    signalGroup(child.pid, "SIGTERM");
  });
  const ended = new AbortController();
  let [at, asked] = [undefined, 0];
  const ask = async () => {
    asked += 1;
    const told = asDeployed ? undefined : await toldUnservable(at, token, ended.signal);
    if (told !== undefined) say(told);
  };
  const show = (line) => {
    if (died || changed !== undefined) return;
    if (asked > 0 && tellsOfAsking(line)) {
      asked -= 1;
      return;
    }
    if (ready && /Local server updated and ready/.test(line)) void ask();
    if (servedAt(line) && !ready) {
      ready = true;
      at = servedAt(line);
      void ask();
      const url = urlAt({ host, port });
      say(note === undefined ? `Serving at ${url} again.` : banner(url, note));
      if (note !== undefined && access !== undefined) say(`${isLoopback(host) ? "" : OPEN_TO_THE_NETWORK}${access}\n`);
    } else if (!ready) {
      early.push(line);
    } else if (/Workers runtime crashed/.test(line)) {
      died = true;
      signalGroup(child.pid, "SIGKILL");
    } else if (command === "start" && /restarting build|Reloading local server|Local server updated/.test(line)) {
      // wrangler watches the sources, but its build command does nothing here.
      if (!hinted) say(`The sources have changed: start again to serve them, or use ${commandLine("dev")}.`);
      hinted = true;
    } else {
      const text = tidy(line);
      if (text !== undefined) say(text);
    }
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", show);
  const code = await new Promise((resolve) => child.once("close", resolve));
  ended.abort();
  unwatch();
  return { died, changed, ready, early, code };
}

/**
 * Serves the module `main` at a free port while `work` runs, which receives the URL and the token for `/_dev/agents`. Tasks are stored in the folder `state`. `variables` are set in
 * addition to those of the project. The output of wrangler is shown only if it does not begin to serve.
 */
export async function serveWhile(main, state, work, variables = {}) {
  const [port, inspector] = [await freePort(), await freePort()];
  const given = Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const options = ["--inspector-port", String(inspector), "--persist-to", state, ...given];
  const token = randomUUID();
  const child = startWrangler(main, { host: DEFAULT_HOST, port }, options, { token });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const said = [];
  const ready = new Promise((resolve) => {
    const read = (line) => {
      said.push(line);
      if (servedAt(line)) resolve(servedAt(line));
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", read);
  });
  const url = await Promise.race([ready, ended.then(() => undefined)]);
  if (url === undefined) throw new Stop(`wrangler dev did not start:\n\n${said.join("\n").trim()}`);
  try {
    return await work(url, token);
  } finally {
    signalGroup(child.pid, "SIGTERM");
    await ended;
  }
}

/**
 * Serves the module `main` at an address. Unless it is served `asDeployed`, the variables of development are set: DEVELOPMENT, the URL of the
 * scripted model (dev/model/), and the `token` for `/_dev/agents`. `engine` takes the place of the engine of the package.
 */
function startWrangler(main, { host, port }, args, { extra, engine, token, asDeployed = false } = {}) {
  const where = ["--ip", host, "--port", String(port)];
  const variables = { DEVELOPMENT: "true", DEV_MODEL_URL: `${ownUrlAt({ host, port })}/_dev/model`, DEV_TOKEN: token };
  const development = Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const fixed = [...(asDeployed ? ["--var", "DEVELOPMENT:false"] : development), "--show-interactive-dev-session=false", ...(engine === undefined ? [] : ["--alias", `a2a-edge/engine:${engine}`])];
  const [node, nodeArgs] = wranglerCommand("dev", main, ...where, ...args, ...fixed);
  return start(node, nodeArgs, { cwd: projectDir, env: wranglerEnvironment(extra) });
}

const stored = (folder = ".wrangler/state") => `Ctrl-C ends it; tasks are kept in ${folder}.`;

const OPEN_TO_THE_NETWORK = "Warning: this is not a loopback address, so others reach this machine. ";

const servedAt = (line) => /Ready on (https?:\/\/\S+)/.exec(line)?.[1];

function banner(url, note) {
  const agents = readdirSync(inProject("agents")).filter((name) => name.endsWith(".toml")).map((name) => basename(name, ".toml"));
  const [first, ...others] = agents.map((name) => `${url}/${name}`);
  const request = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "SendMessage",
    params: { message: { messageId: "hello-1", role: "ROLE_USER", parts: [{ text: "hello" }] } },
  });
  return `
a2a-edge serves at ${url}

    card    ${url}/.well-known/agent-card.json
    agents  ${[first, ...others.map((other) => `            ${other}`)].join("\n")}
    MCP     ${url}/mcp${servesAssets() ? `\n    console ${url}/console/` : ""}

Try: curl -s ${url}/ -H 'content-type: application/json' -H 'a2a-version: 1.0' -d '${request}'

${note}
`;
}

/** A line of wrangler without its label; undefined for an uninformative line. */
function tidy(line) {
  const label = /^(?:\u001b\[[0-9;]*m)*\[(?:wrangler:\w+|custom build)\](?:\u001b\[[0-9;]*m)* ?/;
  const text = line.replace(label, "");
  if (text !== line && (text === "" || text.startsWith("[INFO]: ") || text.startsWith("Running: "))) return undefined;
  if (/^⎔ Connection status|^Your Worker has access to|^Binding +Resource|^env\.\w+ \(/.test(plain(text))) return undefined;
  if (text.startsWith("Attaching additional modules") || /^[┌├└]─|^│ (?:Name|Total|index_bg)/.test(text)) return undefined;
  return text;
}
