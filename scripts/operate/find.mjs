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
  // Of a beginning, and of an id that a client has chosen, the list tells the rest: the whole id, and the owner.
  const isListed = !WHOLE.test(id) && owner === undefined;
  const listed = isListed ? await findListed({ server, print }, agents, id, onFailed) : [];
  const found = listed.length > 0 ? listed : await findExact(server, agents, id, owner, isListed ? () => {} : onFailed);
  if (found.length > 0) return only(found, id);
  if (failures.length > 0 && failures.length === agents.length) throw failures[0];
  const searched = isListed
    ? `: it is neither the id nor the first 8 letters of one of the newest ${SEARCHED} tasks. Give the whole id, or --owner where a client has chosen it`
    : "";
  throw new Failure(
    `There is no task ${id} at ${name ?? server.origin}${searched}.${failures.length === 0 ? "" : ` Some agents could not be asked: ${failures[0].message}`}`,
    EXIT.notFound,
  );
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

async function findListed({ server, print }, agents, given, onFailed) {
  const found = [];
  const listing = new Listing(server, agents, {}, { onFailed });
  let searched = 0;
  for await (const { agent, id, owner } of listing) {
    const isMeant = id === given || (BEGINNING.test(given) && WHOLE.test(id) && id.startsWith(given));
    if (isMeant) found.push({ agent: agents.find(({ slug }) => slug === agent), id, owner });
    if (++searched >= SEARCHED || found.length > 1) break;
    print.progress(`Looking for ${given}`, searched, Math.min(SEARCHED, listing.total));
  }
  return found;
}

function only(found, id) {
  const [task, other] = found;
  if (other === undefined) return task;
  const named = found.map(({ agent, id, owner }) => `${id} of ${agent.slug}${owner === undefined ? "" : ` (${owner})`}`).join(", ");
  throw new Failure(`"${id}" names several tasks: ${named}. Give the whole id, --agent or --owner.`, EXIT.usage);
}
