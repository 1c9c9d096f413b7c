// `npm run soak`: builds, then kills the Worker repeatedly at random moments. tests/soak/ contains the code.
import "./lib/node-version.mjs";
import { randomInt } from "node:crypto";
import { readOptions } from "./lib/options.mjs";
import { packagedNode } from "./lib/packages.mjs";
import { inPackage, packageDir } from "./lib/paths.mjs";
import { environment, run } from "./lib/process.mjs";
import { scratchFolder } from "./lib/scratch.mjs";
import { setUpAndBuild } from "./lib/setup.mjs";
import { KINDS, USUAL_KINDS, kindsIn } from "./lib/soak-kinds.mjs";
import { Stop, main } from "./lib/ui.mjs";

const usage = `Usage: npm run soak [-- --seed N] [--kills N] [--tasks N] [--kinds LIST]

Runs tasks while the Worker is killed and started again, and checks that each came to what it would have come to.

    --seed N     repeats the choices of an earlier run; otherwise random, and printed
    --kills N    how often the Worker is killed (1000; a bit more than one per second)
    --tasks N    how many tasks are under way at a time (12)
    --kinds LIST which kinds of executors take turns, as "callback,mcp", or "all" (${USUAL_KINDS.join(",")}); there are
                 ${KINDS.join(", ")}
    -h, --help   this text

The last lines tell the totals, of each kind and of all. Lost, duplicated and stuck must be 0, otherwise the exit code is
1, and the tasks and the command to repeat it are printed. A2A_LOGS=1 in the environment shows what the Worker logs.`;

await main(async () => {
  const numbers = { seed: randomInt(1, 2 ** 31), kills: 1000, tasks: 12 };
  const number = { type: "string" };
  const options = { seed: number, kills: number, tasks: number, kinds: { type: "string" } };
  const { values, refuse } = readOptions({ usage, options });
  for (const name of Object.keys(numbers)) {
    if (values[name] === undefined) continue;
    if (!/^[1-9]\d{0,14}$/.test(values[name])) throw refuse(`--${name} needs a whole number from 1 on, got "${values[name]}".`);
    numbers[name] = Number(values[name]);
  }
  const kinds = values.kinds === undefined ? USUAL_KINDS : kindsIn(values.kinds);
  if (kinds === undefined) throw refuse(`--kinds needs "all" or some of ${KINDS.join(", ")}, got "${values.kinds}".`);
  await setUpAndBuild();
  const env = environment({ TMPDIR: scratchFolder() });
  const { seed, kills, tasks } = numbers;
  const args = ["--disable-warning=ExperimentalWarning", inPackage("tests", "soak", "main.ts"), ...[seed, kills, tasks].map(String), kinds.join()];
  const { code } = await run(packagedNode(), args, { cwd: packageDir, env });
  if (code !== 0) {
    const again = `npm run soak -- --seed ${seed} --kills ${kills} --tasks ${tasks} --kinds ${kinds.join()}`;
    throw new Stop(`Something went wrong, see above. To repeat it:\n\n    ${again}`);
  }
});
