// The commands of the npm package.

/** The commands for a project. */
export const COMMANDS = {
  start: "serves the agents on this machine",
  dev: "the same, and serves what is saved in a moment",
  build: "checks the agents, and writes what the Worker imports of them; with Rust, compiles the engine",
  test: "runs the tests: those in tests/*.test.mjs, and of the crate, if there is one",
  deploy: "deploys to Cloudflare; compares with what runs (--diff), or tries it (--check)",
  rollback: "goes back to an older version at Cloudflare, and says before what it leaves alone",
  check: "checks the agents, and prints the lines that wrangler.toml lacks",
  upgrade: "tells what this version of a2a-edge changes in the project, and does it with --write",
  size: "prints the size of the Worker",
  wrangler: "runs wrangler with what follows, such as: wrangler login",
};

/** The commands for operators of a server, whichever folder they are run in. */
export const OPERATE = {
  login: "signs in to a server with a key",
  logout: "deletes the keys of a server from this machine",
  whoami: "tells what the agents of a server take you for",
  agents: "lists the agents with their health",
  tasks: "lists tasks, newest first",
  show: "shows a task with its webhooks and its timeline",
  tail: "follows tasks as they change, or the timeline of one",
  cancel: "cancels a task",
  webhooks: "lists the webhooks that need mending",
  redeliver: "sends events to webhooks again",
  usage: "sums up what tasks have used of models",
  keys: "lists the secrets that a project uses, makes and replaces them",
  index: "copies the index of tasks to where it moves",
  export: "writes the tasks of an owner as JSON lines",
  forget: "deletes the tasks of an owner, and what is stored beside them",
  completion: "prints the completion of bash, zsh or fish",
};

/** The module of a command, below the package. In the repository itself, `test` is another program. */
export function moduleOf(name) {
  if (Object.hasOwn(OPERATE, name)) return `scripts/operate/commands/${name}.mjs`;
  return `scripts/${name === "test" ? "test-project" : name}.mjs`;
}
