// Runs a command for operators: reads its arguments, gives it the server and the output, and turns its end into an exit code.
//
// A command is a module with `does`, a sentence; `args`, how its arguments are written, and `takes`, how many there are; `options`, each with `type`,
// `value` and `does`; `about`, further lines of its help; and `run(context)`. The help and the completion of shells come from these.
import { pathToFileURL } from "node:url";
import { moduleOf } from "../lib/commands.mjs";
import { optionLines, readOptions } from "../lib/options.mjs";
import { inPackage } from "../lib/paths.mjs";
import { Stop, messageOf } from "../lib/ui.mjs";
import { EXIT, Failure } from "./failure.mjs";
import { keptKeys, originsKept } from "./keys.mjs";
import { chosenOrigin, requireKeySafe } from "./origin.mjs";
import { Print } from "./print.mjs";
import { secretOf } from "./prompt.mjs";
import { Server } from "./server.mjs";
import { distinct, fitting, schemesOf } from "./slots.mjs";

/** The options of every command that asks a server. */
export const URL_OPTION = {
  url: { type: "string", value: "URL", does: "the server; else A2A_EDGE_URL, where you signed in last, or http://localhost:8787" },
};
export const COMMON = {
  ...URL_OPTION,
  agent: { type: "string", value: "AGENT", does: "the agent, as its URL names it; else all" },
  own: { type: "boolean", does: "act as the caller of the key, not as an operator" },
};
export const JSON_OPTION = { json: { type: "boolean", does: "JSON on one line for each result, with times in RFC 3339" } };
export const YES_OPTION = { yes: { type: "boolean", does: "do not ask" } };

/** The module of a command. */
export async function commandOf(name) {
  return (await import(pathToFileURL(inPackage(moduleOf(name))).href)).default;
}

/** Runs the command with its arguments, and sets the exit code of the process. */
export async function operate(name, args) {
  await ending(async (print) => {
    const command = await commandOf(name);
    const { values, positionals, refuse } = readOptions({ usage: usageOf(name, command), options: command.options ?? {}, positionals: true }, args);
    const [least, most] = command.takes ?? [0, 0];
    if (positionals.length < least) throw refuse(`${command.args.split(" ")[positionals.length]} is missing.`);
    if (positionals.length > most) throw refuse(`There is no argument "${positionals[most]}".`);
    return command.run(contextOf(print, values, positionals, refuse));
  });
}

/** Does `work`, which gets the output, and sets the exit code of the process: what `work` returns, or that of its failure, which is told in one line. */
export async function ending(work) {
  const print = new Print();
  try {
    process.exitCode = (await work(print)) ?? 0;
  } catch (error) {
    print.note(oneLine(error));
    process.exitCode = error instanceof Failure ? error.exit : error instanceof Stop ? EXIT.usage : EXIT.refused;
  }
}

/** The message for an error. JSON that is nested too deep overflows the stack. */
function oneLine(error) {
  return error instanceof RangeError ? "The server answered with something that cannot be shown. Is it a server of a2a-edge?" : messageOf(error);
}

function contextOf(print, values, args, refuse) {
  const failures = [];
  return {
    print,
    values,
    args,
    refuse,
    origin: () => chosenOrigin(values.url, { lastOrigin: () => originsKept()[0] }),
    server: () => serverOf(values),
    /** Tells of a failure that does not end the command; agents that fail alike are told once. */
    failed(error) {
      if (!failures.some(({ message }) => message === error.message)) print.note(error.message);
      failures.push(error);
    },
    /** The exit code of a command that some failures did not end. */
    exit: () => failures[0]?.exit ?? 0,
  };
}

/** The server that the options name, with the keys for it. */
export async function serverOf({ url, own }) {
  const origin = chosenOrigin(url, { lastOrigin: () => originsKept()[0] });
  if (!process.env.A2A_EDGE_KEY) return new Server(origin, { keys: keptKeys(origin), isOwn: own });
  requireKeySafe(origin);
  const secret = secretOf(process.env.A2A_EDGE_KEY);
  const agents = await new Server(origin).agents();
  const keys = agents.flatMap((agent) => {
    const [slot] = fitting(distinct(schemesOf(agent).map((scheme) => scheme.slot)), secret);
    return slot === undefined ? [] : [{ agent: agent.slug, slot, secret }];
  });
  return new Server(origin, { keys, isOwn: own });
}

/** The help of a command. */
export function usageOf(name, { args = "", options = {}, does, about = "" }) {
  const written = [name, args, "[OPTION...]"].filter(Boolean).join(" ");
  return `Usage: npx a2a-edge ${written}\n\n${does}\n${about === "" ? "" : `\n${about}\n`}\n${optionLines(options)}`;
}
