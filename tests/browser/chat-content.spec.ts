// Chat: what agents give is shown as what it is and runs nowhere, however large or hostile; raw requests are copied as code that runs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { python, withoutPython } from "../e2e/python.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, HOSTILE, hostileAgents } from "./hostile.ts";
import type { View } from "./view.ts";

let app: Console;
before(async () => {
  app = await startConsole({ vars: { AGENTS: hostileAgents() } });
});
after(() => app?.stop());

const say = async (view: View, text: string): Promise<void> => {
  await view.fill("Message", text);
  await view.press("Enter");
};

const script = async (...then: object[]): Promise<void> => {
  const answer = await fetch(`${app.worker.url}/_dev/script/double`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ rules: [{ then: [...then, { do: "complete" }] }] }) });
  assert.equal(answer.status, 200, await answer.text());
};

/** A picture of one red point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const WAV = Buffer.concat([Buffer.from("RIFF"), Buffer.from([44, 0, 0, 0]), Buffer.from("WAVEfmt "), Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0]), Buffer.from("data"), Buffer.from([8, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128])]).toString("base64");

test("nothing of a hostile agent runs or becomes part of the page", () =>
  app.visit(`#/chat/${HOSTILE}`, async (view) => {
    await assertHarmless(view);
    await view.inspect("chat-hostile-welcome");
    for (const text of ["go", "ask", "fail"]) {
      await say(view, text);
      await view.until(async () => (await view.page.$$(".turn-foot")).length > 0, "a task");
      await view.sees(text === "go" ? "Completed" : text === "ask" ? "Input required" : "Failed");
      await assertHarmless(view);
      if (text !== "fail") await view.click("button", "New conversation");
    }
    await view.click("button", "Raw");
    await view.sees(/SendStreamingMessage/);
    await assertHarmless(view);
    await view.inspect("chat-hostile");
  }));

test("markdown is shown as what it means, and its source when wanted", async () => {
  const text = "# Plan\n\nTake the **early** train to [Lisbon](https://example.com/lisbon), not `this`.\n\n1. pack\n2. go\n   - by foot\n\n- [x] booked\n\n> said & done &amp; dusted\n\n| day | place |\n|---|--:|\n| 1 | Porto |\n\n```js\nlet html = '<b>no</b>';\n```\n\n![map](https://example.com/map.png)";
  await script({ do: "artifact", id: "plan", name: "plan", text, media_type: "text/markdown" });
  await app.visit("#/chat/double", async (view) => {
    await say(view, "plan");
    await view.sees("Completed");
    const found = await view.page.$eval(".markdown", (root) => ({
      heading: root.querySelector("h2")?.textContent,
      strong: root.querySelector("strong")?.textContent,
      link: root.querySelector("a")?.outerHTML,
      list: root.querySelectorAll("ol > li").length,
      quote: root.querySelector("blockquote")?.textContent,
      cell: root.querySelector("td:last-child")?.textContent,
      code: root.querySelector("pre")?.textContent,
      images: root.querySelectorAll("img").length,
    }));
    assert.deepEqual(found, {
      heading: "Plan", strong: "early", link: '<a href="https://example.com/lisbon" target="_blank" rel="noreferrer noopener">Lisbon</a>', list: 2,
      quote: "said & done & dusted", cell: "Porto", code: "let html = '<b>no</b>';", images: 0,
    });
    await view.inspect("chat-markdown");
    await view.click("button", "Source");
    await view.sees(/\*\*early\*\*/);
  });
});

test("data, pictures, sounds, files and links are shown as such", async () => {
  await script(
    { do: "artifact", id: "data", name: "offer", data: { price: 5, currency: "EUR", legs: [{ from: "Porto", to: "Lisbon" }], many: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, at])) } },
    { do: "artifact", id: "picture", name: "picture", raw: PNG, media_type: "image/png", filename: "point.png" },
    { do: "artifact", id: "sound", name: "sound", raw: WAV, media_type: "audio/wav", filename: "silence.wav" },
    { do: "artifact", id: "file", name: "file", raw: Buffer.from([0, 1, 2, 255]).toString("base64"), media_type: "application/octet-stream", filename: "../../bytes.bin" },
    { do: "artifact", id: "notes", name: "notes", raw: Buffer.from("line 1\nline 2").toString("base64"), media_type: "text/plain", filename: "notes.txt" },
    { do: "artifact", id: "link", name: "link", url: "https://example.com/report.pdf", media_type: "application/pdf", filename: "report.pdf" },
  );
  await app.visit("#/chat/double", async (view) => {
    await say(view, "all of it");
    await view.sees("Completed");
    await view.until(() => view.page.$eval('img[alt="point.png"]', (image) => (image as HTMLImageElement).naturalWidth === 1), "the picture is there");
    await view.until(() => view.page.$eval("audio", (sound) => (sound as HTMLAudioElement).duration > 0), "the sound can be played");
    await view.sees(/line 1/);
    await view.sees(/"EUR"/);
    await view.find("button", "Save bytes.bin");
    await view.find("link", "report.pdf");
    assert.ok((await view.page.$$(".json-leaf")).length < 150, "a large branch is closed at first");
    await view.inspect("chat-artifacts");
  });
});

test("a text of a megabyte in chunks leaves the page usable", async () => {
  const line = `${"All work and no play makes a dull agent. ".repeat(5)}\n`;
  await script({ do: "artifact", id: "long", name: "long", chunks: [line.repeat(25)], repeat: 200 });
  await app.visit("#/chat/double", async (view) => {
    await say(view, "much");
    await view.until(async () => (await view.page.$$(".turn-foot .badge.good")).length === 1, "the end");
    await view.until(async () => (await view.page.$$eval(".long-piece", (all) => all.reduce((sum, one) => sum + (one.textContent?.length ?? 0), 0))) === line.length * 25 * 200, "all of it");
    const begun = Date.now();
    await view.fill("Message", "still quick?");
    const taken = Date.now() - begun;
    assert.ok(taken < 3000, `typing took ${taken} ms`);
    await view.screenshot("chat-long");
  });
});

test("a reader further up stays there, and gets to the end by a button", async () => {
  await script({ do: "artifact", id: "long", name: "long", chunks: ["A line of a poem that has many of them.\n"], repeat: 150, delay_ms: 30 });
  await app.visit("#/chat/double", async (view) => {
    await say(view, "poem");
    const place = (): Promise<number[]> => view.page.evaluate(() => [scrollY, document.documentElement.scrollHeight - innerHeight]);
    await view.until(async () => ((await place())[1] ?? 0) > 600, "it is longer than the page");
    await view.until(async () => Math.abs(((await place())[0] ?? 0) - ((await place())[1] ?? 0)) < 60, "it follows the end");
    await view.page.mouse.move(600, 300);
    await view.page.mouse.wheel({ deltaY: -500 });
    await view.find("button", "Newest");
    const [before] = await place();
    await view.until(async () => (await view.page.$$(".turn-foot .badge.good")).length === 1, "the end");
    assert.equal((await place())[0], before, "the reader was not moved");
    await view.click("button", "Newest");
    await view.gone("button", "Newest");
  });
});

test("raw requests are copied as a command and as programs that run", async () => {
  const run = promisify(execFile);
  await app.visit("#/chat/demo", async (view) => {
    await view.page.evaluate(() => {
      Object.defineProperty(navigator.clipboard, "writeText", { value: (text: string) => ((document.documentElement.dataset["copied"] = text), Promise.resolve()) });
    });
    await say(view, "it's me");
    await view.sees("Completed");
    await view.click("button", "Raw");
    await view.inspect("chat-raw");
    const copied = async (name: string): Promise<string> => {
      await view.click("button", name);
      return view.page.evaluate(() => document.documentElement.dataset["copied"] ?? "");
    };
    const curl = await run("sh", ["-c", await copied("curl")]);
    assert.equal((curl.stdout.match(/^data: /gm) ?? []).length, 4, curl.stdout);
    assert.match(curl.stdout, /it's me/);

    // Inside of the package, where the SDK is installed.
    const file = join(packageDir, "build", `chat-snippet-${process.pid}.mjs`);
    writeFileSync(file, await copied("JavaScript"));
    try {
      const { stdout } = await run(process.execPath, [file]);
      assert.match(stdout, /it's me/);
    } finally {
      rmSync(file);
    }
    if (withoutPython === false) {
      const { stdout } = await run(python, ["-c", await copied("Python")]);
      assert.match(stdout, /TASK_STATE_COMPLETED/);
    }
  });
});
