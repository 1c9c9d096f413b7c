// Command lines of pages that are not run as they are: npm, wrangler and what changes the reader's machine.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATE } from "../../scripts/lib/commands.mjs";
import { inNpmPackage, packagedNode } from "../../scripts/lib/packages.mjs";
import { root } from "./markdown.mjs";

/** Commands of the reader's machine, which a test leaves alone. */
const LEFT_ALONE = /^(?:cd|git|mkdir|cp|tar|export|alias|rustup|cargo|pip|python3? -m venv|npm (?:install|init|ci)|kill|source|\.) ?/;

/** What a command line is, without variables before it and a comment behind it. */
export function kindOf(command) {
  const bare = command.replace(/^(?:[A-Z_0-9]+=\S* )+(?=[a-z])/, "");
  if (/^curl /.test(bare)) return "curl";
  if (/^[A-Z_]+=|^wait$/.test(bare)) return "shell";
  if (/^pkill -9 -g \d+ workerd\b/.test(bare)) return "kill";
  if (/^(?:node|python3?) (?:examples\/clients\/)?send\.\w+(?: |$)/.test(bare)) return "client";
  if (/^(?:call|coordinator) /.test(bare)) return "native";
  // It asks wrangler for an account.
  if (/^npx a2a-edge keys\b/.test(bare)) return "npm";
  if (Object.hasOwn(OPERATE, /^npx a2a-edge (\w+)/.exec(bare)?.[1] ?? "")) return "operate";
  if (/^(?:npm (?:start|test|run )|npx a2a-edge (?!wrangler)|node (?:\.\.\/a2a-edge\/)?(?:scripts|create)\/)/.test(bare)) return "npm";
  if (/\bnpx (?:a2a-edge )?wrangler /.test(bare)) return "wrangler";
  if (/^node_modules\/\.bin\/node /.test(bare)) return existsSync(join(root, bare.split(" ")[1])) ? "left alone" : undefined;
  if (LEFT_ALONE.test(bare)) return "left alone";
  return undefined;
}

/** What is wrong with a command line of ours: a script or an option that does not exist. */
export function npmProblem(command) {
  const bare = command.replace(/^(?:[A-Z_0-9]+=\S* )+(?=[a-z])/, "").split(/\s#|\s[|&>]|&&/)[0].trim();
  const [name, words] = read(bare);
  if (name === undefined) return `is no command of ours: ${bare}`;
  const usage = usageOf(name);
  if (usage === undefined) return `there is no command ${name.replace("scripts/", "")}`;
  for (const word of words.filter((word) => word.startsWith("-") && word !== "--")) {
    if (!usage.includes(word.split("=")[0])) return `${name} has no option ${word}`;
  }
  return undefined;
}

function read(bare) {
  const words = bare.split(/\s+/);
  const script = /^(?:\.\.\/a2a-edge\/)?((?:scripts|create)\/[\w-]+)\.mjs$/;
  if (words[0] === "npm") {
    const isShort = words[1] !== "run";
    const name = isShort ? words[1] : words[2];
    const line = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts[name] ?? "";
    return [script.exec(line.split(" ")[1] ?? "")?.[1], words.slice(isShort ? 2 : 3)];
  }
  if (words[0] === "npx") return [words[2], words.slice(3)];
  return [script.exec(words[1])?.[1], words.slice(2)];
}

const usages = new Map();

function usageOf(name) {
  if (!usages.has(name)) {
    // The name of a script, or that of a command of the package.
    const path = join(root, name.includes("/") ? `${name}.mjs` : "scripts/a2a-edge.mjs");
    const help = existsSync(path) ? spawnSync(process.execPath, [path, ...(name.includes("/") ? [] : [name]), "--help"], { cwd: root, encoding: "utf8" }) : undefined;
    usages.set(name, help?.status === 0 ? help.stdout : undefined);
  }
  return usages.get(name);
}

/** What is wrong with a line of wrangler, by its own help. */
export function wranglerProblem(command) {
  const words = (/\bwrangler (.*)/.exec(command)?.[1] ?? "").split(/\s#|\s[|&>]/)[0].trim().split(/\s+/);
  const options = words.filter((word) => word.startsWith("-"));
  const named = words.slice(0, words.findIndex((word) => word.startsWith("-")) >>> 0);
  const help = wranglerHelp(named.slice(0, 3));
  if (help === undefined) return `wrangler does not know ${named.join(" ")}`;
  const unknown = options.find((option) => !help.includes(option.split("=")[0]));
  return unknown && `wrangler ${named.join(" ")} has no option ${unknown}`;
}

/** What wrangler finds wrong with lines of wrangler.toml; undefined where they are in order. */
export function configProblem(lines, folder) {
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, `name = "docs"\nmain = "index.js"\ncompatibility_date = "2026-11-17"\n${lines}\n`);
  const script = `require(${JSON.stringify(inNpmPackage("wrangler"))}).unstable_readConfig({ config: ${JSON.stringify(file)} })`;
  const { status, stdout, stderr } = spawnSync(packagedNode(), ["--no-warnings", "-e", script], { cwd: folder, encoding: "utf8", env: QUIET });
  const said = `${stdout}${stderr}`.trim();
  return status === 0 && said === "" ? undefined : said;
}

const QUIET = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true", WRANGLER_WRITE_LOGS: "false", NO_COLOR: "1" };

const helps = new Map();

/** What wrangler says of a command; a name behind it does not matter. Undefined where it does not know the command. */
function wranglerHelp(words) {
  const key = words.join(" ");
  if (!helps.has(key)) {
    const cli = inNpmPackage("wrangler", "wrangler-dist", "cli.js");
    const { status, stdout } = spawnSync(packagedNode(), ["--no-warnings", cli, ...words, "--help"], { cwd: root, encoding: "utf8", env: QUIET });
    // For a command that it does not know, it shows the help of the group, or nothing.
    const shown = stdout.split("\n")[0].replace(/ [<[].*/, "");
    const isKnown = status === 0 && /^wrangler \w/.test(shown) && `wrangler ${key} `.startsWith(`${shown} `) && !/^COMMANDS/m.test(stdout);
    helps.set(key, isKnown ? stdout : undefined);
  }
  return helps.get(key);
}
