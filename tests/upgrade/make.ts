// Makes the fixture of a release. docs/upgrades.md says when.
//
//   node_modules/.bin/node tests/upgrade/make.ts BUILD NAME     such as: … make.ts tests/probes/build 0.6.0

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fixtures } from "./fixture.ts";
import { record } from "./record.ts";

const [build, name] = parseArgs({ allowPositionals: true }).positionals;
if (build === undefined || name === undefined) throw new Error("name the build folder and the release, such as: tests/probes/build 0.6.0");
await record(resolve(build), join(fixtures, name));
process.exit(0);
