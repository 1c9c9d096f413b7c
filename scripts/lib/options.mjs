// The arguments of the npm scripts. Each script reads them before any other work. The default import is necessary: with
// it, an older Node without parseArgs still reaches the check in node-version.mjs.
import util from "node:util";
import { Stop, say } from "./ui.mjs";

/**
 * Reads the arguments after `npm run <script> --`. `options` has the form for `util.parseArgs`; `--help` prints `usage`
 * and ends the process. Throws a `Stop` for anything unknown.
 */
export function readOptions({ usage, options = {}, positionals = false }, args = process.argv.slice(2)) {
  const known = { help: { type: "boolean", short: "h" }, ...options };
  const { tokens } = util.parseArgs({ args, options: known, strict: false, allowPositionals: true, tokens: true });
  const refuse = (problem) => new Stop(`${problem}\n\n${usage}`);
  const isOption = ({ kind }) => kind === "option";
  if (tokens.some((token) => isOption(token) && token.name === "help")) {
    say(usage);
    process.exit(0);
  }

  const values = {};
  for (const token of tokens.filter(isOption)) {
    const { name, rawName, value, inlineValue } = token;
    if (!Object.hasOwn(known, name)) throw refuse(`There is no option "${rawName}".`);
    const { type, multiple } = known[name];
    if (type === "boolean" && value !== undefined) throw refuse(`${rawName} takes no value, got "${value}".`);
    // Without "=", a value that begins with a dash is treated as the next option.
    const isMissing = value === undefined || value === "" || (!inlineValue && value.startsWith("-"));
    if (type === "string" && isMissing) throw refuse(`${rawName} needs a value.`);
    const given = type === "boolean" ? true : value;
    values[name] = multiple ? [...(values[name] || []), given] : given;
  }
  const rest = tokens.filter(({ kind }) => kind === "positional").map(({ value }) => value);
  if (!positionals && rest.length > 0) throw refuse(`There is no argument "${rest[0]}".`);
  return { values, positionals: rest, refuse };
}

/** The arguments that pass these values on to another program, in the order of `names`. */
export function passedOn(values, names) {
  return names.flatMap((name) => {
    if (values[name] === undefined) return [];
    if (values[name] === true) return [`--${name}`];
    return [values[name]].flat().map((value) => `--${name}=${value}`);
  });
}

/** The lines of a help for options, each with `short`, `value` and `does`, and for --help. */
export function optionLines(options) {
  const lines = [...Object.entries(options), ["help", { short: "h", does: "this text" }]].map(([option, { short, value, does }]) => {
    const written = `${short === undefined ? "" : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`;
    return `    ${written.padEnd(22)} ${does}`;
  });
  return lines.join("\n");
}
