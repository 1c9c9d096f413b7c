// The agents of the project, as the entry module of the Worker passes them to the engine: text that Rust reads when it needs it.

/**
 * The checked form of a project's files, the default export of `agents.js` (crates/agents/src/checked.rs).
 *
 * @typedef {object} Agents
 * @property {string} version The version of a2a-edge that wrote it.
 * @property {string} index
 * @property {Record<string, string>} agents By slug.
 */

/** @type {Agents | undefined} */
let given;

/** Called when agents were given: in development others may take their place. */
let renewed = () => {};

/** Takes the agents of the project. @param {Agents} agents */
export function give(agents) {
  given = agents;
  renewed();
}

/** The index of the agents; undefined if the Worker was started without agents. */
export const agentIndex = () => given?.index;

/** The text of an agent. @param {string} slug */
export const agentText = (slug) => (given !== undefined && Object.hasOwn(given.agents, slug) ? given.agents[slug] : undefined);

/** Has `work` called when agents are given. @param {() => void} work */
export function whenRenewed(work) {
  renewed = work;
}

/** Tells that other agents were given. */
export const renew = () => renewed();
