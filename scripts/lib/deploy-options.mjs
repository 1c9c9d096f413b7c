// The options of `deploy` and `rollback`, from which their help and the completion of shells are made.
import { command } from "./command.mjs";
import { optionLines } from "./options.mjs";

/** `isPassed` marks the options that wrangler deploy gets unchanged, `with` those that belong to another one. */
export const DEPLOY_OPTIONS = {
  "dry-run": { type: "boolean", does: "tells what a deployment would do, and packs it; needs no login and changes nothing at Cloudflare" },
  env: { type: "string", short: "e", value: "NAME", does: "deploys the environment [env.NAME] of wrangler.toml" },
  yes: { type: "boolean", does: "does not ask" },
  temporary: { type: "boolean", does: "without a login: in a temporary account, which can be claimed later" },
  message: { type: "string", value: "TEXT", does: "describes the version" },
  tag: { type: "string", value: "TEXT", isPassed: true, does: "names the version" },
  var: { type: "string", multiple: true, value: "NAME:VALUE", isPassed: true, does: "sets a variable of the Worker; may be repeated" },
  "keep-vars": { type: "boolean", isPassed: true, does: "keeps the variables that were set in the dashboard" },
  "secrets-file": { type: "string", value: "FILE", isPassed: true, does: "uploads secrets from this file, too" },
  domain: { type: "string", multiple: true, value: "NAME", isPassed: true, does: "also serves at this domain of the account; may be repeated" },
  route: { type: "string", multiple: true, value: "PATTERN", isPassed: true, does: "also serves at this route; may be repeated" },
  strict: { type: "boolean", isPassed: true, does: "stops where a setting was changed in the dashboard meanwhile" },
  diff: { type: "string", value: "URL", does: "deploys nothing: compares the agents with those that run at URL" },
  check: { type: "string", value: "URL", does: "deploys nothing: tries the server at URL, with up to two messages to one agent" },
  agent: { type: "string", value: "AGENT", with: ["check"], does: "with --check: the agent to send to; else the default agent" },
  text: { type: "string", value: "TEXT", with: ["check"], does: "with --check: what is sent to it" },
  webhook: { type: "string", value: "URL", with: ["check"], does: "with --check: where its notifications go; else to the server itself" },
  json: { type: "boolean", with: ["check", "diff"], does: "with --check and --diff: JSON, a line for each finding" },
};

export const DEPLOY_USAGE = `Usage: ${command("deploy", "[OPTION...]")}

Checks the agents, says what it will do, makes the queues that the account lacks, deploys, and applies the migrations to the
remote database. On a terminal it asks before something becomes public for the first time.

${optionLines(DEPLOY_OPTIONS)}`;

export const ROLLBACK_OPTIONS = {
  env: { type: "string", short: "e", value: "NAME", does: "of the environment [env.NAME] of wrangler.toml" },
  message: { type: "string", value: "TEXT", does: "why" },
  yes: { type: "boolean", does: "does not ask" },
  "dry-run": { type: "boolean", does: "says what a rollback would do, and changes nothing" },
};

export const ROLLBACK_USAGE = `Usage: npx a2a-edge rollback [VERSION] [OPTION...]

Goes back to VERSION, or to the version that was deployed before: says which stored forms it reads and what it would leave
alone, asks, and has wrangler deploy it. VERSION is an id, or its first 8 letters. Without a terminal it needs --yes.

${optionLines(ROLLBACK_OPTIONS)}`;
