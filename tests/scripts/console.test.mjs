// The console among the outputs of a build: made when its sources change, for those whose wrangler.toml has assets.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { servesAssets } from "../../scripts/lib/assets.mjs";
import { makeProject } from "./project.mjs";

const PAGE = "build-console/assets/console/index.html";

let project;
before(() => (project = makeProject()));
beforeEach(() => project.write("calls.log", ""));
after(() => project.remove());

const build = () => project.run("build");

test("a build makes the assets once, and again when a source of the console has changed", async () => {
  const first = await build();
  assert.equal(first.code, 0, first.output);
  assert.match(first.output, /==> Building the console\n/);
  const page = project.read(PAGE);
  const [script] = /(?<=src="\/console\/)assets\/[^"]+\.js/.exec(page);
  assert.ok(project.exists(`build-console/assets/console/${script}`));
  assert.doesNotMatch((await build()).output, /Building/);

  const index = "console/index.html";
  project.write(index, project.read(index).replace("<title>", "<title>changed "));
  const changed = await build();
  assert.match(changed.output, /==> Building the console\n/);
  assert.doesNotMatch(changed.output, /Building the Worker/);
  assert.match(project.read(PAGE), /<title>changed /);
});

test("files that are named by their content may be kept for ever, and the page itself for no time", async () => {
  await build();
  const headers = project.read("build-console/assets/_headers");
  for (const name of project.files().filter((path) => path.startsWith("build-console/assets/console/assets/"))) {
    const path = name.replace("build-console/assets", "");
    assert.ok(headers.includes(`\n${path}\n  Cache-Control: public, max-age=31536000, immutable\n`), path);
  }
  assert.match(headers, /^\/console\/\n {2}Cache-Control: no-cache$/m);
  assert.match(headers, /^\/console\/\*\n {2}Content-Security-Policy: default-src 'none'; script-src 'self';/m);
});

test("a mistake in the console is told as Vite tells it, and what was built before stays", async () => {
  await build();
  const before = project.read(PAGE);
  const main = "console/src/main.tsx";
  const text = project.read(main);
  project.write(main, `${text}\nconst = 1;\n`);
  const { code, output } = await build();
  project.write(main, text);
  assert.equal(code, 1, output);
  assert.match(output, /The console was not built:\n\n[^]*main\.tsx/);
  assert.doesNotMatch(output, /Building the Worker/);
  assert.equal(project.read(PAGE), before);
});

test("a console that is larger than its limit fails npm run size", async () => {
  const fits = await project.run("size");
  assert.equal(fits.code, 0, fits.output);
  assert.match(fits.output, /^build-console\/assets \(console\) .* KB gzip\nlimit +125\.0 KB gzip: ok$/m);

  const index = "console/index.html";
  const text = project.read(index);
  project.write("console/large.svg", randomBytes(100_000).toString("base64"));
  project.write(index, text.replace("./icon.svg", "./large.svg"));
  const { code, output } = await project.run("size");
  project.write(index, text);
  assert.equal(code, 1, output);
  assert.match(output, /^limit +125\.0 KB gzip: EXCEEDED$/m);
});

test("without [assets] in wrangler.toml there is no console", async () => {
  const own = makeProject();
  try {
    const text = own.read("wrangler.toml");
    own.write("wrangler.toml", text.replace(/^\[assets\]\n(?:.+\n)*/m, ""));
    const { code, output } = await own.run("build");
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /console/);
    assert.ok(!own.exists("build-console/assets"));
    assert.doesNotMatch((await own.run("size")).output, /console/);
  } finally {
    own.remove();
  }
});

test("assets are found in wrangler.toml however they are written, and not where they are a comment", () => {
  for (const text of ["[assets]\n", "a = 1\n  [assets] # here\n", "[env.staging.assets]\n", 'assets = { directory = "x" }\n']) assert.ok(servesAssets(text), text);
  for (const text of ["", "# [assets]\n", "[[assets_of]]\n", 'name = "[assets]"\n']) assert.ok(!servesAssets(text), text);
});
