// The commands of the npm package.

export const COMMANDS = {
  start: "serves the agents on this machine",
  dev: "the same, and serves what is saved in a moment",
  build: "checks the agents, and writes what the Worker imports of them; with Rust, compiles the engine",
  test: "runs the tests: those in tests/*.test.mjs, and of the crate, if there is one",
  deploy: "deploys to Cloudflare and applies the database migrations there",
  check: "checks the agents, and prints the lines that wrangler.toml lacks",
  upgrade: "tells what this version of a2a-edge changes in the project, and does it with --write",
  size: "prints the size of the Worker",
  wrangler: "runs wrangler with what follows, such as: wrangler login",
};

/** The module of a command, below the package. In the repository itself, `test` is another program. */
export const moduleOf = (name) => `scripts/${name === "test" ? "test-project" : name}.mjs`;
