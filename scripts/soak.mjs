// `npm run soak`: builds, then kills the Worker at random moments, as often as wanted. What is done is in tests/soak/.
import "./lib/node-version.mjs";
import { randomInt } from "node:crypto";
import { packagedNode } from "./lib/packages.mjs";
import { inRoot, root } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { Stop, main, say } from "./lib/ui.mjs";
import { outputs } from "./lib/worker.mjs";

const usage = `Usage: npm run soak [-- --seed N] [--kills N] [--tasks N] [--stable]

Runs tasks while the Worker is killed and started again, and checks that each came to what it would have come to.

    --seed N    repeats the choices of an earlier run; otherwise random, and printed
    --kills N   how often the Worker is killed (1000; a bit more than one per second)
    --tasks N   how many tasks are under way at a time (12)
    --stable    the build without unwinding, which is not what is deployed where there is a nightly toolchain

The last line tells the totals. Lost, duplicated and stuck must be 0, otherwise the exit code is 1, and the tasks and
the command to repeat it are printed. A2A_LOGS=1 in the environment shows what the Worker logs.`;

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) {
    say(usage);
    return;
  }
  const chosen = { seed: randomInt(1, 2 ** 31), kills: 1000, tasks: 12 };
  const isStable = args.includes("--stable");
  const rest = args.filter((arg) => arg !== "--stable").flatMap((arg) => arg.split("="));
  for (let index = 0; index < rest.length; index += 2) {
    const name = rest[index].replace(/^--/, "");
    const value = Number(rest[index + 1]);
    if (!(name in chosen)) throw new Stop(`There is no option "${rest[index]}".\n\n${usage}`);
    if (!Number.isInteger(value) || value < 1) throw new Stop(`--${name} needs a whole number from 1 on.\n\n${usage}`);
    chosen[name] = value;
  }
  const output = isStable ? "stable" : "default";
  await setUpAndBuild(output);
  const env = environment({ A2A_BUILD_DIR: outputs[output], TMPDIR: scratchFolder() });
  const numbers = [chosen.seed, chosen.kills, chosen.tasks].map(String);
  const { code } = await run(packagedNode(), ["--disable-warning=ExperimentalWarning", inRoot("tests", "soak", "main.ts"), ...numbers], { cwd: root, env });
  if (code !== 0) {
    const again = `npm run soak -- --seed ${chosen.seed} --kills ${chosen.kills} --tasks ${chosen.tasks}${isStable ? " --stable" : ""}`;
    throw new Stop(`Something went wrong, see above. To repeat it:\n\n    ${again}`);
  }
});
