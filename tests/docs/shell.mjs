// Shell sessions of pages: what is typed, what is shown, and a bash that runs it.
import { spawn } from "node:child_process";

const TIMEOUT_MS = 30_000;

/**
 * The commands of a block, each with the output that is shown below it; undefined where none is. In a `console` block
 * commands begin with `$ `. A command goes on until its quotes are closed.
 */
export function commandsOf({ lang, text }) {
  const commands = [];
  let open;
  for (const line of text.split("\n")) {
    const typed = lang === "console" ? /^\$ (.*)$/.exec(line)?.[1] : line;
    if (open) {
      open.command += `\n${line}`;
    } else if (typed !== undefined && typed.trim() !== "" && !typed.startsWith("#")) {
      commands.push((open = { command: typed, output: undefined }));
    } else if (typed === undefined) {
      const last = commands.at(-1);
      if (last === undefined) throw new Error("the block begins with output; a command begins with `$ `");
      last.output = last.output === undefined ? line : `${last.output}\n${line}`;
    }
    if (open && isWhole(open.command)) open = undefined;
  }
  if (open) throw new Error(`the quotes of this command are not closed: ${open.command}`);
  return commands;
}

/** Whether every quote is closed, no line goes on, and no here-document is open. */
function isWhole(command) {
  let quote = "";
  for (let at = 0; at < command.length; at += 1) {
    const sign = command[at];
    if (sign === "\\" && quote !== "'") at += 1;
    else if (quote !== "" && sign === quote) quote = "";
    else if (quote === "" && /['"]/.test(sign)) quote = sign;
    else if (quote === "" && sign === "#" && /\s/.test(command[at - 1] ?? " ")) while (at + 1 < command.length && command[at + 1] !== "\n") at += 1;
  }
  const here = /<<-?\s*'?(\w+)'?/.exec(command)?.[1];
  return quote === "" && !/\\$/.test(command) && (here === undefined || command.split("\n").slice(1).includes(here));
}

/**
 * Whether an output is what is shown, where `…` stands for anything. White space does not count, nor does what is on both
 * sides of the `…` of a shortened id, nor which time it was.
 */
export function matches(shown, output) {
  const bare = (text) => text.replace(/\s+/g, "").replace(/[0-9a-f]{2,8}…[0-9a-f]{2,8}/g, "…").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
  const pattern = bare(shown).split("…").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[\\s\\S]*?");
  return new RegExp(`^${pattern}$`).test(bare(output));
}

/** A bash that keeps its variables between commands. */
export function openShell(options) {
  const bash = spawn("bash", ["--noprofile", "--norc"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  let waiting;
  const read = (chunk) => {
    output += chunk;
    const end = /\u0001(\d+)\u0001\n/.exec(output);
    if (end && waiting) {
      waiting({ code: Number(end[1]), output: output.slice(0, end.index) });
      output = output.slice(end.index + end[0].length);
    }
  };
  for (const stream of [bash.stdout, bash.stderr]) stream.setEncoding("utf8").on("data", read);
  return {
    /** Runs a command to its end; answers its exit code, and what it wrote to both streams. */
    run(command) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no end within ${TIMEOUT_MS} ms; so far: ${output}`)), TIMEOUT_MS);
        waiting = (result) => {
          clearTimeout(timer);
          waiting = undefined;
          resolve(result);
        };
        bash.stdin.write(`{ ${command}\n} 2>&1 < /dev/null; printf '\\001%s\\001\\n' $?\n`);
      });
    },
    close: () => bash.kill("SIGKILL"),
  };
}
