// `a2a-edge keys`: the secrets that the agents of a project and the Worker use; makes them, and replaces them.
import { environmentConfig } from "../../lib/wrangler.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { JSON_OPTION, YES_OPTION } from "../operate.mjs";
import { makeKey, rotateKey } from "../secrets/actions.mjs";
import { factsOfKeys, showKeys } from "../secrets/list.mjs";
import { Deployment, LocalFile } from "../secrets/places.mjs";
import { publishedKeys, readCatalogue } from "../secrets/project.mjs";
import { numberOf } from "../words.mjs";

const ACTIONS = { make: makeKey, rotate: rotateKey };

/** After how many days a key is due. */
const MAX_AGE_DAYS = 365;

export default {
  does: "Lists the secrets that the agents of this project and the Worker use; makes one, and replaces one.",
  args: "[make NAME | rotate NAME]",
  takes: [0, 2],
  about: `It reads the project in the current folder. Without an argument it lists the secrets: which are set, which have a second value or name while one
replaces the other, and which are due. \`make\` makes a secret of the right form and sets it. \`rotate\` replaces NAME while it goes on to be accepted,
and says what its users have to do; later \`rotate NAME --finish\` takes the old one away. No secret is shown: it goes to the deployment by
wrangler, and with --save into a new file, since the deployment does not give it back.`,
  options: {
    local: { type: "boolean", does: "the secrets of this machine, in .dev.vars, in place of those of the deployment" },
    env: { type: "string", short: "e", value: "NAME", does: "the environment [env.NAME] of wrangler.toml" },
    url: { type: "string", value: "URL", does: "where the keys for signatures are published; PUBLIC_URL of wrangler.toml unless given" },
    "max-age": { type: "string", value: "DAYS", does: `the age from which a key is due; ${MAX_AGE_DAYS} unless given` },
    save: { type: "string", value: "FILE", does: "also write the value into this file, which must not exist, readable for you alone" },
    print: { type: "boolean", does: "print the value, and set nothing" },
    finish: { type: "boolean", does: "with rotate: take the old one away" },
    replace: { type: "boolean", does: "with make: replace one that is set, which is refused from then on" },
    ...YES_OPTION,
    ...JSON_OPTION,
  },
  async run(context) {
    const { values, args, refuse } = context;
    const [action, name] = args;
    if (values.local && values.env !== undefined) throw refuse("--local and --env exclude each other.");
    await environmentConfig(values.env);
    if (action === undefined) return listKeys(context);
    if (!Object.hasOwn(ACTIONS, action)) throw refuse(`There is no argument "${action}"; there are make and rotate.`);
    if (name === undefined) throw refuse("NAME is missing.");
    if (values.print && (values.save !== undefined || values.local)) throw refuse("--print sets nothing and saves nothing; leave out the other one.");
    if (values.finish && action !== "rotate") throw refuse("--finish belongs to rotate.");
    if (values.replace && action !== "make") throw refuse("--replace belongs to make.");
    const entry = entryOf(name, values.local || values.print);
    return ACTIONS[action](context, entry, values.local ? new LocalFile() : new Deployment(values.env));
  },
};

function entryOf(name, isLocal) {
  const entries = readCatalogue(isLocal);
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  if (readCatalogue(true).some((entry) => entry.name === name)) throw new Failure(`Only agents that are not deployed use ${name}; for this machine add --local.`, EXIT.notFound);
  throw new Failure(`Nothing in this project uses ${name}; it uses ${entries.map((entry) => entry.name).join(", ")}.`, EXIT.notFound);
}

async function listKeys({ print, values, failed, exit }) {
  const maxAgeDays = values["max-age"] === undefined ? MAX_AGE_DAYS : numberOf("max-age", values["max-age"], { most: 36_500 });
  const place = values.local ? new LocalFile() : new Deployment(values.env);
  const entries = readCatalogue(values.local);
  let published;
  try {
    published = values.local ? undefined : await publishedKeys(values.url, values.env);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    failed(error);
  }
  await showKeys(print, values.json, await factsOfKeys(entries, place, { published, maxAgeDays }));
  return exit();
}
