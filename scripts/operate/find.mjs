// Which task an id names. Ids of tasks are 64 hexadecimal digits unless a client has chosen them; tables show their beginnings.
import { EXIT, Failure } from "./failure.mjs";
import { Listing } from "./listing.mjs";
import { eachOf } from "./server.mjs";

/** An id that the server has made. */
const WHOLE = /^[0-9a-f]{64}$/;
/** The number of letters of an id in tables on terminals. */
const SHOWN = 12;
/** The beginning of an id, of at least 8 letters. */
const BEGINNING = /^[0-9a-f]{8,63}$/;
/** The number of newest tasks among which a beginning is looked for. */
const SEARCHED = 1000;

/** An id for a table on a terminal. */
export const shortId = (id) => (WHOLE.test(id) ? id.slice(0, SHOWN) : id);

/** The path of a task of an agent. */
export const pathOf = ({ agent, id }, rest = "") => `/${agent.slug}/tasks/${encodeURIComponent(id)}${rest}`;

/** The headers for acts on a task: an owner is named only where the id alone does not say which task it is. */
export const actOn = (server, { agent, id, owner }) => server.asOperator(agent, WHOLE.test(id) ? undefined : owner);

/** The task that an id, or the beginning of one, names: `{ agent, id, owner }`, with the entry of its agent. */
export async function findTask({ server, print }, id, { agent: name, owner }) {
  const agents = await server.chosenAgents(name);
  const failures = [];
  const onFailed = (error) => failures.push(error);
  if (!BEGINNING.test(id) || owner !== undefined) {
    const exact = await findExact(server, agents, id, owner, onFailed);
    if (exact.length > 0) return only(exact, id);
  } else {
    const begun = await findBegun({ server, print }, agents, id, onFailed);
    if (begun.length > 0) return only(begun, id);
    // A client may have chosen an id that looks like a beginning.
    const exact = await findExact(server, agents, id, owner, () => {});
    if (exact.length > 0) return only(exact, id);
  }
  const [refused] = failures;
  if (refused !== undefined && agents.length === failures.length) throw refused;
  const searched = BEGINNING.test(id) ? `; a beginning is looked for among the newest ${SEARCHED} tasks, so give the whole id` : "";
  const others = refused === undefined ? "" : ` Some agents could not be asked: ${refused.message}`;
  throw new Failure(`There is no task ${id} at ${name ?? server.origin}${searched}.${others}`, EXIT.notFound);
}

async function findExact(server, agents, id, owner, onFailed) {
  const found = await eachOf(agents, async (agent) => {
    const task = { agent, id, owner };
    try {
      await server.json({ agent, path: pathOf(task), query: { historyLength: 0 }, headers: actOn(server, task) });
      return task;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.status !== 404) onFailed(error);
      return undefined;
    }
  });
  return found.filter((task) => task !== undefined);
}

async function findBegun({ server, print }, agents, beginning, onFailed) {
  const found = [];
  const listing = new Listing(server, agents, {}, { onFailed });
  let searched = 0;
  for await (const task of listing) {
    if (task.id.startsWith(beginning)) found.push({ agent: agents.find(({ slug }) => slug === task.agent), id: task.id, owner: task.owner });
    if (++searched >= SEARCHED || found.length > 1) break;
    print.progress(`Looking for ${beginning}`, searched, Math.min(SEARCHED, listing.total));
  }
  return found;
}

function only(found, id) {
  const [task, other] = found;
  if (other === undefined) return task;
  const named = found.map(({ agent, id }) => `${id} of ${agent.slug}`).join(", ");
  throw new Failure(`"${id}" names several tasks: ${named}. Give the whole id, or --agent.`, EXIT.usage);
}
