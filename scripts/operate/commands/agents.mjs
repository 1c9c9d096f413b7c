// `a2a-edge agents`: the agents of a server with their health.
import { Failure } from "../failure.mjs";
import { COMMON, JSON_OPTION } from "../operate.mjs";
import { eachOf } from "../server.mjs";
import { schemesOf } from "../slots.mjs";
import { Table } from "../table.mjs";
import { jsonLine } from "../text.mjs";
import { list, record, text } from "../values.mjs";
import { agentHealthCell } from "../words.mjs";

export default {
  does: "Lists the agents with their health.",
  options: { url: COMMON.url, ...JSON_OPTION },
  async run({ print, values, server: chosen }) {
    const server = await chosen();
    const agents = await server.agents();
    const healths = await eachOf(agents, (agent) => healthOf(server, agent));
    const table = new Table(print, [
      { name: "Agent", isWhole: true },
      { name: "State" },
      { name: "Version", extra: 1 },
      { name: "Name", extra: 2 },
      { name: "Signs in by", extra: 3 },
      { name: "Why" },
    ]);
    for (const [at, agent] of agents.entries()) {
      const { state, reason } = healths[at];
      const kinds = [...new Set(schemesOf(agent).map(({ kind }) => kind))];
      if (values.json)
        await print.line(
          jsonLine({
            agent: agent.slug,
            name: text(agent.name),
            version: text(agent.version),
            isDefault: agent.isDefault === true,
            isOpen: agent.isOpen === true,
            state,
            reason,
            signsInBy: kinds,
            skills: list(agent.skills).map((skill) => text(record(skill).id)),
          }),
        );
      else
        await table.row([
          agent.slug,
          agentHealthCell(state),
          text(agent.version),
          text(agent.name),
          agent.isOpen === true ? "open" : kinds.join(", "),
          reason,
        ]);
    }
    await table.flush();
    if (agents.length === 0 && !values.json) print.note(`${server.origin} has no agents.`);
  },
};

/** The health that the list tells, or, where something outside of the Worker is needed, what the agent answers. */
async function healthOf(server, agent) {
  const listed = record(agent.health);
  const told = { state: text(listed.state) ?? "unasked", reason: text(listed.reason) };
  if (listed.outside !== true) return told;
  try {
    const asked = record(await server.json({ agent, path: `/console/api/agents/${agent.slug}/health` }));
    return { state: text(asked.state) ?? "unasked", reason: text(asked.reason) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { state: "unasked", reason: error.message };
  }
}
