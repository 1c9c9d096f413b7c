// Serves the Worker with `wrangler dev`, and shows the part of its output that matters to users.
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { ADDRESS_OPTIONS, DEFAULT_HOST, DEFAULT_PORT, isLoopback, ownUrlAt, readAddress, urlAt } from "./address.mjs";
import { servesAssets } from "./assets.mjs";
import { command as commandLine } from "./command.mjs";
import { askWorker, devToken, resumeTasks, tellsOfAsking, toldUnusable } from "./dev-agents.mjs";
import { FailedStart, unlabeled } from "./failed-start.mjs";
import { isStopping, signalGroup } from "./guard.mjs";
import { openKillSwitch } from "./kill-switch.mjs";
import { hold, ownerOf } from "./lock.mjs";
import { passedOn, readOptions } from "./options.mjs";
import { OTHERS, OTHERS_HELP } from "./others.mjs";
import { hasRust, inProject, projectDir, shown, stateDir } from "./paths.mjs";
import { freePort } from "./port.mjs";
import { plain, start } from "./process.mjs";
import { publishServed } from "./served.mjs";
import { changeOfSources } from "./sources.mjs";
import { Stop, say } from "./ui.mjs";
import { whenVariablesChange } from "./variables.mjs";
import { readConfig, wranglerCommand, wranglerEnvironment } from "./wrangler.mjs";

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
${OTHERS_HELP}
${command === "start" ? AS_DEPLOYED : ""}    -h, --help             this text`;

/** Reads the options of the commands `start` and `dev`; `does` is the first sentence of their help. */
export function serveOptions(command, does, args = process.argv.slice(2)) {
  const options = { ...ADDRESS_OPTIONS, ...PASSED_ON, ...OTHERS, ...(command === "start" ? { "as-deployed": { type: "boolean" } } : {}) };
  const { values, refuse } = readOptions({ usage: usage(command, does), options }, args);
  const address = readAddress(values, refuse);
  if (values.var?.some((text) => /^DEVELOPMENT(?::|$)/.test(text))) {
    throw refuse(`DEVELOPMENT is set by this command. What a deployment serves is served by: ${commandLine("start", "--as-deployed")}`);
  }
  const asDeployed = values["as-deployed"] === true;
  const { var: vars, with: others = [], "persist-to": state } = values;
  return { command, ...address, asDeployed, vars, others, state, rest: passedOn(values, Object.keys(PASSED_ON)) };
}

/**
 * Serves until interrupted. wrangler is ended and started again when the runtime dies, by a crash or by `kill -9` (its own restart hangs if its proxy
 * has died, too), when a file of variables changes, which wrangler reads at its start alone, and when sources change whose code has failed at its start.
 *
 * `agents` are their slugs, for the greeting; `vars` variables of the Worker, each NAME:VALUE; `environment` that of wrangler; `live`, if given, is told when the
 * Worker serves; `told` is called with what the Worker tells of itself each time that it begins to serve.
 */
export async function serve(options, { agents, access, note, vars = [], environment, live, told }) {
  let greeting = { agents, access, note: note ?? stored(options.state) };
  const kills = options.asDeployed ? undefined : await openKillSwitch();
  for (;;) {
    const { died, changed, ready, failure, early, code } = await serveOnce(options, { vars, environment, live, told, greeting, kills });
    live?.over();
    if (isStopping()) return;
    if (ready) greeting = undefined;
    if (failure !== undefined) {
      say(`\n${failure}\n\nThe Worker is started again when its sources change.\n`);
      await changeOfSources();
      continue;
    }
    if (changed !== undefined) {
      say(`${changed} has changed; starting the Worker again.`);
      continue;
    }
    if (!ready) throw new Stop(`wrangler dev did not start:\n\n${early.join("\n").trim()}`);
    if (!died) throw new Stop(`wrangler dev ended by itself (exit code ${code}).`);
    say("The runtime has died; starting it again.");
  }
}

/** Holds the local state until this process ends. Two runtimes must not write the same databases. */
export function takeState({ command, state = stateDir, host, port }) {
  const file = resolve(projectDir, state, "served.lock");
  if (hold(file, urlAt({ host, port })) !== undefined) return;
  const { pid, note: url } = ownerOf(file) ?? {};
  throw new Stop(`The agents of this folder are served already, at ${url} by process ${pid}.\n\n    End it with Ctrl-C, or: kill ${pid}\n    or serve with other tasks beside it: ${commandLine(command, "--port N", "--persist-to FOLDER")}`);
}

/** Serves until wrangler ends, or the runtime dies. With a greeting, the start is shown in full, and otherwise as one line. */
async function serveOnce({ command, host, port, asDeployed, rest }, { vars, environment, live, told, greeting, kills }) {
  const token = asDeployed ? undefined : devToken();
  const own = kills === undefined ? vars : [...vars, `DEV_KILL_URL:${kills.url}`];
  const child = await startWrangler({ host, port }, [...own.flatMap((text) => ["--var", text]), ...rest], { environment, token });
  if (kills !== undefined) kills.wrangler = child.pid;

  // The output of wrangler before it serves is only shown if it never does.
  const early = [];
  let [ready, died, hinted, changed, failure] = [false, false, false, undefined, undefined];
  const failing = new FailedStart((message, isThrown) => {
    // wrangler waits for a change that mends the mistake. The Worker of before goes on meanwhile, but gets no requests.
    if (!isThrown) return say(`\n${message}\n\n${ready ? WAITING : "The Worker is served when that is mended."}\n`);
    // wrangler ends then by itself or, at its first start, waits without an end.
    failure = message;
    return signalGroup(child.pid, "SIGKILL");
  });
  const unwatch = whenVariablesChange((name) => {
    changed = name;
    signalGroup(child.pid, "SIGTERM");
  });
  const ended = new AbortController();
  let at;
  const serves = async () => {
    if (token === undefined) return;
    // Tasks whose runs have ended with the Worker before go on, with the agents of now.
    await live?.served(at, token);
    void resumeTasks(at, token, ended.signal);
    const answer = await askWorker(at, token, ended.signal);
    if (answer === undefined) return;
    const text = toldUnusable(answer);
    if (text !== undefined) say(`\n${text}\n`);
    await told?.(answer);
  };
  const show = (line) => {
    if (died || changed !== undefined || failure !== undefined || tellsOfAsking(plain(line))) return;
    if (ready && /Local server updated and ready/.test(line)) void serves();
    if (servedAt(line) && !ready) {
      ready = true;
      at = servedAt(line);
      const url = urlAt({ host, port });
      const kill = killOf(child.pid);
      say(greeting === undefined ? `Serving at ${url} again.\n${kill}` : banner(url, greeting, kill));
      if (greeting?.access !== undefined) say(`${isLoopback(host) ? "" : OPEN_TO_THE_NETWORK}${greeting.access}\n`);
      void serves();
    } else if (failing.takes(line)) {
      // It is told when it is complete.
    } else if (!ready) {
      early.push(line);
    } else if (/Workers runtime crashed/.test(line)) {
      died = true;
      signalGroup(child.pid, "SIGKILL");
    } else if (command === "start" && hasRust && /restarting build/.test(line)) {
      // wrangler watches the sources, but its build command does nothing here.
      if (!hinted) say(`The sources have changed: start again to compile them, or use ${commandLine("dev")}.`);
      hinted = true;
    } else {
      const text = tidy(line);
      if (text !== undefined) say(text);
    }
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", show);
  const code = await new Promise((resolved) => child.once("close", resolved));
  failing.end();
  ended.abort();
  unwatch();
  return { died, changed, ready, failure, early, code };
}

/**
 * Serves at a free port while `work` runs, which receives the URL and the token of `/_dev/agents`. Tasks are stored in the folder `state`. `vars`
 * are set in addition to those of the project. The output of wrangler is shown only if it does not begin to serve.
 */
export async function serveWhile(state, work, { vars = {}, args = [] } = {}) {
  const [port, inspector, token] = [await freePort(), await freePort(), devToken()];
  const given = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const options = ["--inspector-port", String(inspector), "--persist-to", state, ...given, ...args];
  const child = await startWrangler({ host: DEFAULT_HOST, port }, options, { token });
  const ended = new Promise((resolved) => child.once("close", resolved));
  const { url, failure } = await beginOf(child, ended);
  if (url === undefined) {
    signalGroup(child.pid, "SIGKILL");
    throw new Stop(failure);
  }
  try {
    return await work(url, token);
  } finally {
    signalGroup(child.pid, "SIGTERM");
    await ended;
  }
}

/** The `url` at which wrangler serves, or the reason why it does not, its `failure`. */
function beginOf(child, ended) {
  return new Promise((begun) => {
    const said = [];
    const failing = new FailedStart((failure) => begun({ failure }));
    const read = (line) => {
      said.push(line);
      failing.takes(line);
      const url = servedAt(line);
      if (url !== undefined) begun({ url });
    };
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", read);
    void ended.then(() => {
      failing.end();
      begun({ failure: `wrangler dev did not start:\n\n${said.join("\n").trim()}` });
    });
  });
}

/**
 * Starts wrangler at an address. With a `token`, it serves the Worker behind the front of development, with its variables: DEVELOPMENT, the token of
 * `/_dev/agents`, and the URL of the scripted model (dev/model/). Without one, it serves what a deployment serves.
 */
async function startWrangler({ host, port }, args, { environment, token }) {
  // With the file named, a `vite build` of before does not lead wrangler to the settings of what that has built.
  const where = ["--config", inProject("wrangler.toml"), "--ip", host, "--port", String(port)];
  const served = token === undefined ? ["--var", "DEVELOPMENT:false"] : [publishServed((await readConfig()).main), ...variables({ host, port, token })];
  const [node, nodeArgs] = wranglerCommand("dev", ...served, ...where, ...args, "--show-interactive-dev-session=false");
  return start(node, nodeArgs, { cwd: projectDir, env: wranglerEnvironment(environment) });
}

function variables({ host, port, token }) {
  const set = { DEVELOPMENT: "true", DEV_TOKEN: token, DEV_MODEL_URL: `${ownUrlAt({ host, port })}/_dev/model` };
  return Object.entries(set).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
}

const WAITING = "Requests wait until that is mended; tasks under way go on.";

const stored = (folder = stateDir) => `Ctrl-C ends it; tasks are kept in ${shown(resolve(projectDir, folder))}.`;

/** The line that says how to end this server as a crash would, and no other one of the machine. wrangler leads the group of its processes. */
const killOf = (wrangler) => `To see that tasks outlive a crash: pkill -9 -g ${wrangler} workerd`;

const OPEN_TO_THE_NETWORK = "Warning: this is not a loopback address, so others reach this machine. ";

const servedAt = (line) => /Ready on (https?:\/\/\S+)/.exec(line)?.[1];

function banner(url, { agents, note }, kill) {
  const [first = "none: put a file into agents/", ...others] = agents.map((name) => `${url}/${name}`);
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
${kill}
`;
}

/** A line of wrangler without its label; undefined for an uninformative line. */
function tidy(line) {
  const text = unlabeled(line);
  if (text !== line && (text === "" || text.startsWith("[INFO]: ") || text.startsWith("Running: "))) return undefined;
  if (/^⎔ Connection status|^✨ Parsed|^Your Worker has access to|^Binding +Resource|^env\.\w+ (?:\(| )/.test(plain(text))) return undefined;
  if (text.startsWith("Attaching additional modules") || /^[┌├└]─|^│ (?:Name|Total|index_bg)/.test(text)) return undefined;
  return text;
}
