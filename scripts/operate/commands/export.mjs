// `a2a-edge export OWNER`: the tasks of a caller, each whole, as JSON lines.
import { ExportFile, cursorOf, readCursor } from "../exported.mjs";
import { EXIT, Failure } from "../failure.mjs";
import { actOn, pathOf } from "../find.mjs";
import { pageOf } from "../listing.mjs";
import { URL_OPTION } from "../operate.mjs";
import { AT_ONCE, eachOf } from "../server.mjs";
import { jsonLine } from "../text.mjs";
import { counted } from "../words.mjs";

/** The number of tasks between two cursors. */
const PAGE = 25;

export default {
  does: "Writes all tasks of an owner as JSON lines, each whole, as GetTask gives it.",
  args: "OWNER",
  takes: [1, 1],
  about: `OWNER is a caller or a group as lists name it, such as key:billing. With --out the export goes to a file; the same command
goes on where it was interrupted. On stdout, lines with the cursor stand between the tasks, and --cursor goes on from one.
Only agents whose operator you are have tasks of others.`,
  options: {
    ...URL_OPTION,
    agent: { type: "string", value: "AGENT", does: "the agent, as its URL names it; else all" },
    out: { type: "string", value: "FILE", does: "the file to write, or to go on with" },
    cursor: { type: "string", value: "CURSOR", does: "where to go on, without --out" },
  },
  async run({ print, values, args: [owner], server: chosen, refuse }) {
    if (values.out !== undefined && values.cursor !== undefined) throw refuse("A file has its cursor itself: either --out or --cursor.");
    const given = values.cursor === undefined ? undefined : readCursor(values.cursor);
    const server = await chosen();
    const agents = await server.operatedAgents(values.agent);
    const file = values.out === undefined ? undefined : new ExportFile(values.out, { server: server.origin, owner });
    const line = (value) => (file === undefined ? print.line(jsonLine(value)) : file.line(value));
    if (file?.isWhole) {
      print.note(`${values.out} has the whole export. Delete it to begin anew.`);
      return file.close();
    }
    let from = file?.cursor === undefined ? given : readCursor(file.cursor);
    const isResumed = from !== undefined;
    let written = 0;
    try {
      for (const agent of fromOn(agents, from)) {
        let token = agent.slug === from?.agent ? from.token : "";
        do {
          const page = await pageOf(server, agent, { owner, token, pageSize: PAGE });
          for await (const task of wholeTasks(server, agent, owner, page.tasks)) {
            await line({ type: "task", agent: agent.slug, task });
            print.progress(`Exporting tasks of ${agent.slug}`, ++written);
          }
          token = page.token;
          const next = token === "" ? agents[agents.indexOf(agent) + 1] : agent;
          if (next === undefined) break;
          from = { agent: next.slug, token };
          const cursor = cursorOf(next.slug, token);
          if (file === undefined) await line({ type: "cursor", cursor });
          else file.mark(cursor);
        } while (token !== "");
      }
      await line({ type: "end" });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const how = file === undefined ? (from === undefined ? "Begin" : `Go on with --cursor ${cursorOf(from.agent, from.token)}`) : "Go on with the same command";
      throw new Failure(`${error.message} ${how}${from === undefined && file === undefined ? " anew" : ""}: ${counted(written, "task")} were written.`, error.exit);
    } finally {
      file?.close();
    }
    print.clear();
    print.note(`${counted(written, "task")} of ${owner} at ${server.origin} ${written === 1 ? "was" : "were"} written${isResumed ? " by this run" : ""}.`);
  },
};

/** The agents from that of a cursor on. */
function fromOn(agents, from) {
  if (from === undefined) return agents;
  const at = agents.findIndex(({ slug }) => slug === from.agent);
  if (at < 0) throw new Failure(`The cursor is for the agent ${from.agent}, which is not among those that are exported.`, EXIT.usage);
  return agents.slice(at);
}

/** The tasks of a page, each whole, in its order. One that was deleted meanwhile is left out. */
async function* wholeTasks(server, agent, owner, listed) {
  for (let at = 0; at < listed.length; at += AT_ONCE) {
    const read = await eachOf(listed.slice(at, at + AT_ONCE), async ({ id }) => {
      const task = { agent, id, owner };
      try {
        return await server.json({ agent, path: pathOf(task), headers: actOn(server, task) });
      } catch (error) {
        if (!(error instanceof Failure) || error.status !== 404) throw error;
        return undefined;
      }
    });
    yield* read.filter((task) => task !== undefined);
  }
}
