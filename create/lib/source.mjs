// Where a new project has a2a-edge from: a tarball, the checkout in which this package is, or the registry.
import { copyFileSync, existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { VERSION } from "./project.mjs";
import { Stop } from "./terminal.mjs";

/** False until the names of the packages are ours in the registry: until then nothing may be fetched by these names. */
const PUBLISHED = false;

const TARBALL = `a2a-edge-${VERSION}.tgz`;

/** The checkout of a2a-edge around this package; undefined if npm has installed it. */
export function checkoutAround() {
  const folder = dirname(dirname(dirname(realpathSync(fileURLToPath(import.meta.url)))));
  return existsSync(join(folder, "scripts", "lib", "pack.mjs")) ? folder : undefined;
}

/**
 * The source for a project in `folder`: `npm` is what package.json names, `crate` what Cargo.toml names, and `vendor` puts the package into the project,
 * if that is where it comes from. `tarball` is the option `--package`.
 */
export async function sourceOf(folder, { checkout, tarball, rust }) {
  const local = tarball === undefined ? await inCheckout(checkout) : given(tarball);
  if (local === undefined && !PUBLISHED) throw new Stop("a2a-edge is in no registry yet. Give its tarball, which a release has: --package FILE");
  if (rust && checkout === undefined && !PUBLISHED) throw new Stop("The crate a2a-edge is in no registry yet, so that --rust works in a checkout of a2a-edge alone.");
  const crate = checkout === undefined ? `version = "${VERSION}"` : `path = ${JSON.stringify(relative(folder, checkout).split(sep).join("/"))}`;
  if (local === undefined) return { npm: VERSION, crate, vendor: () => {} };
  const to = join(folder, "vendor");
  const vendor = () => {
    mkdirSync(to, { recursive: true });
    return local.put(to);
  };
  return { npm: `file:vendor/${local.name}`, crate, vendor };
}

function given(tarball) {
  if (!existsSync(tarball)) throw new Stop(`There is no file ${tarball}.`);
  const name = basename(tarball);
  if (!name.endsWith(".tgz")) throw new Stop(`--package needs a tarball such as ${TARBALL}, got "${tarball}".`);
  return { name, put: (to) => copyFileSync(tarball, join(to, name)) };
}

/** The package of a checkout: packed of what is built there, or the one of a release in its folder `package`. */
async function inCheckout(checkout) {
  if (checkout === undefined) return undefined;
  const { isBuilt, packEngine } = await import(`${new URL("../../scripts/lib/pack.mjs", import.meta.url)}`);
  if (isBuilt()) return { name: TARBALL, put: packEngine };
  const released = join(checkout, "package", TARBALL);
  if (existsSync(released)) return { name: TARBALL, put: (to) => copyFileSync(released, join(to, TARBALL)) };
  throw new Stop(`The package a2a-edge is not built yet in ${checkout}.\n\n    Put ${TARBALL} of a release into ${dirname(released)}\n    or build it, which needs Rust: npm run package`);
}
