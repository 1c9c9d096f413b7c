// Child processes and their output.
import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { guard, isStopping, signalGroup } from "./guard.mjs";
import { searchPath } from "./paths.mjs";
import { Stop, say, seconds } from "./ui.mjs";

const HEARTBEAT_MS = 20_000;

/** The environment of children: the commands of npm packages, including a suitable Node, are first in the PATH. */
export function environment(extra = {}) {
  return { ...process.env, ...extra, PATH: searchPath() };
}

/** Starts a child as the leader of a new process group, which ends with this process. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: environment(), ...options, detached: true });
  if (child.pid !== undefined) guard(child);
  return child;
}

/**
 * Runs a command to its end and passes its output on, with a heartbeat while it is silent. `shows`, if given, is called with each line as plain text; it returns
 * true to pass the line on, or a replacement. `input` is what the command reads from stdin. Returns the exit code and the whole output, unchanged (`printed`)
 * and as plain text (`output`).
 */
export function run(command, args, { quiet = false, shows, timeoutMs, input, ...options } = {}) {
  const begun = Date.now();
  const child = start(command, args, { ...options, ...(input === undefined ? {} : { stdio: ["pipe", "pipe", "pipe"] }) });
  // A command that ends without reading it closes the pipe.
  child.stdin?.on("error", () => {}).end(input);
  const output = [];
  let lastOutput = Date.now();

  const heartbeat = setInterval(() => {
    if (Date.now() - lastOutput >= HEARTBEAT_MS) {
      say(`    still working (${seconds(begun)})`);
      lastOutput = Date.now();
    }
  }, 1_000);
  const timeout = timeoutMs && setTimeout(() => signalGroup(child.pid, "SIGKILL"), timeoutMs);

  for (const [stream, sink] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
    const pass = (text) => {
      lastOutput = Date.now();
      sink.write(text);
    };
    const passOn = shows === undefined ? pass : lineFilter(shows, pass);
    stream.on("data", (chunk) => {
      output.push(chunk);
      if (!quiet) passOn(chunk);
    });
  }

  return new Promise((resolve) => {
    const finish = (code) => {
      clearInterval(heartbeat);
      clearTimeout(timeout);
      // While everything is being stopped, a failed child is not reported.
      if (isStopping()) return;
      const printed = Buffer.concat(output).toString();
      resolve({ code, printed, output: plain(printed) });
    };
    child.once("error", (error) => {
      output.push(Buffer.from(`${command}: ${error.message}\n`));
      finish(127);
    });
    child.once("close", (code, signal) => finish(code === null ? 128 + constants.signals[signal] : code));
  });
}

/**
 * The trimmed output of a short command; undefined if it fails or does not exist. Throws a `Stop` if a signal ended it, since the result is then unknown.
 */
export function query(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], ...options });
  if (result.signal) throw new Stop(`${[command, ...args].join(" ")} was ended by ${result.signal}.`);
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** Cargo's settings for output through a pipe to a terminal: colours and progress bar stay. */
export function cargoTerminal() {
  if (!process.stdout.isTTY) return {};
  return { CARGO_TERM_COLOR: "always", ...cargoProgress() };
}

/** Cargo's settings for a progress bar, even if its output is not a terminal. */
export function cargoProgress() {
  const width = String(Math.min(process.stdout.columns || 80, 100));
  return { CARGO_TERM_PROGRESS_WHEN: "always", CARGO_TERM_PROGRESS_WIDTH: width };
}

/** Passes on the lines that `shows` accepts, or its replacements; a line ends with a line feed, or as a progress bar with a carriage return. */
function lineFilter(shows, pass) {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split(/(?<=[\r\n])/);
    rest = /[\r\n]$/.test(lines[lines.length - 1]) ? "" : lines.pop();
    for (const line of lines) {
      const shown = shows(plain(line));
      if (shown) pass(shown === true ? line : shown);
    }
  };
}

/** The text without the colours and control sequences of a terminal. */
export function plain(text) {
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "").replace(/\r/g, "\n");
}
