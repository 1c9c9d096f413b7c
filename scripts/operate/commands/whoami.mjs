// `a2a-edge whoami`: which keys are used, and what each agent takes their caller for.
import { EXIT } from "../failure.mjs";
import { EVERY_AGENT, keptKeys } from "../keys.mjs";
import { JSON_OPTION, URL_OPTION } from "../operate.mjs";
import { ROLES, rolesAt } from "../sign-in.mjs";
import { placeOf } from "../slots.mjs";
import { Table } from "../table.mjs";
import { clean, jsonLine } from "../text.mjs";
import { timeWord } from "../words.mjs";

export default {
  does: "Tells with which keys you ask a server, and what its agents take you for.",
  options: { ...URL_OPTION, ...JSON_OPTION },
  async run({ print, values, server: chosen }) {
    const server = await chosen();
    const keys = process.env.A2A_EDGE_KEY ? [] : keptKeys(server.origin);
    const roles = await rolesAt(server);
    if (values.json) {
      const told = keys.map(({ agent, scheme, slot, since }) => ({ agent: agent === EVERY_AGENT ? null : agent, scheme, in: placeOf(slot), since }));
      await print.line(
        jsonLine({
          server: server.origin,
          fromEnvironment: Boolean(process.env.A2A_EDGE_KEY),
          keys: told,
          agents: roles.map(({ agent, role }) => ({ agent: agent.slug, role })),
        }),
      );
    } else {
      const isSignedIn = keys.length > 0 || Boolean(process.env.A2A_EDGE_KEY);
      await print.line(`Server  ${server.origin}`);
      for (const { agent, scheme, slot, since } of keys) {
        await print.line(
          `Key     ${clean(`for ${agent === EVERY_AGENT ? "all agents" : agent}, scheme ${scheme}, in ${placeOf(slot)}, kept since ${timeWord(since)}`)}`,
        );
      }
      if (!isSignedIn) await print.line("Key     none");
      else if (keys.length === 0) await print.line("Key     of A2A_EDGE_KEY");
      await print.line();
      const table = new Table(print, [{ name: "Agent" }, { name: "You are" }]);
      for (const { agent, role } of roles) await table.row([agent.slug, ROLES[role]]);
      await table.flush();
    }
    const asking = roles.filter(({ role }) => role !== "anybody");
    const isKnown = asking.length === 0 || asking.some(({ role }) => role !== "unknown");
    if (!isKnown) print.note(`No agent that asks knows you. Sign in with: npx a2a-edge login --url ${server.origin}`);
    return isKnown ? 0 : EXIT.notSignedIn;
  },
};
