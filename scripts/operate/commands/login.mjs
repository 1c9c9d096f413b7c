// `a2a-edge login`: tries a key at the server, and keeps it for the server's origin.
import { ACCESS_VARIABLES } from "../access.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { EVERY_AGENT, keep } from "../keys.mjs";
import { URL_OPTION } from "../operate.mjs";
import { requireKeySafe } from "../origin.mjs";
import { readSecret } from "../prompt.mjs";
import { Server } from "../server.mjs";
import { ROLES, roleAt, rolesAt, withSchemes } from "../sign-in.mjs";
import { distinct, fitting, placeOf } from "../slots.mjs";
import { clean } from "../text.mjs";

export default {
  does: "Signs in to a server with a key, a token, or a name and a password.",
  about: `The key is asked for, and not shown. Where stdin is no terminal it is the first line of stdin, and A2A_EDGE_KEY goes
before both; it is never an argument, because other programs see those. A name and a password are written NAME:PASSWORD.
The key is tried before it is kept, for this server alone, in a file that only you can read.`,
  options: {
    ...URL_OPTION,
    agent: { type: "string", value: "AGENT", does: "keep the key for this agent alone" },
    scheme: { type: "string", value: "NAME", does: "the security scheme of the card that the key is for; else the one that takes it" },
  },
  async run({ print, values, origin: chosen }) {
    const origin = chosen();
    requireKeySafe(origin);
    const agents = await new Server(origin).chosenAgents(values.agent);
    if (agents.every((agent) => agent.isOpen === true)) {
      print.note(`Anybody may call ${values.agent ?? `the agents of ${origin}`}: there is nothing to sign in to.`);
      return 0;
    }
    const found = withSchemes(agents, values.scheme);
    if (found.length === 0) {
      const which = values.scheme === undefined ? "by a key or a token" : `by a scheme "${clean(values.scheme)}"`;
      const access = `Behind Cloudflare Access, set ${ACCESS_VARIABLES.join(" and ")}.`;
      throw new Failure(`No agent of ${origin} can be signed in to ${which}. ${access}`, values.scheme === undefined ? EXIT.refused : EXIT.usage);
    }
    const secret = await readSecret(`Key for ${origin}: `);
    const key = await taken(origin, found, secret, values.agent ?? EVERY_AGENT);
    if (key === undefined)
      throw new Failure(`No agent of ${origin} takes this key: it is wrong, has expired, or belongs elsewhere. Nothing was kept.`, EXIT.notSignedIn);
    keep(origin, key);
    print.note(`Signed in to ${values.agent === undefined ? origin : `${values.agent} of ${origin}`}; the key goes into ${placeOf(key.slot)}.`);
    const roles = await rolesAt(new Server(origin, { keys: [key] }));
    for (const role of ["operator", "caller"]) {
      const names = roles.filter((one) => one.role === role && (values.agent ?? one.agent.slug) === one.agent.slug).map(({ agent }) => agent.slug);
      if (names.length > 0) print.note(`${ROLES[role].text} of ${names.join(", ")}.`);
    }
  },
};

/** The key with the first slot in which an agent takes it. An agent counts wrong ones, so each slot of each agent is tried once. */
async function taken(origin, found, secret, agent) {
  for (const slot of fitting(distinct(found.flatMap(({ schemes }) => schemes.map((scheme) => scheme.slot))), secret)) {
    const key = { agent, slot, secret };
    const server = new Server(origin, { keys: [key] });
    for (const { agent: one, schemes } of found) {
      const scheme = schemes.find((scheme) => distinct([scheme.slot, slot]).length === 1);
      if (scheme !== undefined && ["operator", "caller"].includes(await roleAt(server, one))) return { ...key, scheme: scheme.name };
    }
  }
  return undefined;
}
