// Chat: what agents give is shown as what it is and runs nowhere, however large or hostile; raw requests are copied as code that runs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { packageDir } from "../../scripts/lib/paths.mjs";
import { python, withoutPython } from "../e2e/python.ts";
import { Sink } from "../e2e/sink.ts";
import { completed, say, script } from "./chat.ts";
import { startConsole, type Console } from "./console.ts";
import { assertHarmless, HOSTILE, hostileAgents } from "./hostile.ts";

let app: Console;
let sink: Sink;
before(async () => {
  sink = await Sink.open();
  app = await startConsole({ vars: { AGENTS: hostileAgents() } });
});
after(async () => {
  await app?.stop();
  sink?.close();
});

/** Lets the agent `double` do this in answer to any message, and complete the task. */
const play = (...then: object[]): Promise<void> => script(app, [{ then: [...then, { do: "complete" }] }]);

/** A picture of one red point. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const WAV = Buffer.concat([Buffer.from("RIFF"), Buffer.from([44, 0, 0, 0]), Buffer.from("WAVEfmt "), Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 64, 31, 0, 0, 64, 31, 0, 0, 1, 0, 8, 0]), Buffer.from("data"), Buffer.from([8, 0, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128])]).toString("base64");

test("nothing of a hostile agent runs or becomes part of the page", () =>
  app.visit(`#/chat/${HOSTILE}`, async (view) => {
    await assertHarmless(view);
    await view.inspect("chat-hostile-welcome");
    for (const text of ["go", "ask", "fail"]) {
      await say(view, text);
      await view.page.waitForSelector(".turn-foot");
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
  const text = "# Plan\n\nTake the **early** train to [Lisbon](https://example.com/lisbon), not `this`, by [bank.example](https://evil.example/) or <https://example.com/x>.\n\n1. pack\n2. go\n   - by foot\n\n- [x] booked\n\n> said & done &amp; dusted\n\n| day | place |\n|---|--:|\n| 1 | Porto |\n\n```js\nlet html = '<b>no</b>';\n```\n\n![map](https://example.com/map.png)";
  await play({ do: "artifact", id: "plan", name: "plan", text, media_type: "text/markdown" });
  await app.visit("#/chat/double", async (view) => {
    await say(view, "plan");
    await view.sees("Completed");
    const found = await view.page.$eval(".markdown", (root) => ({
      heading: root.querySelector("h2")?.textContent,
      strong: root.querySelector("strong")?.textContent,
      link: root.querySelector("a")?.outerHTML.replace(/<span.*<\/span>/, ""),
      links: [...root.querySelectorAll("a")].map((one) => one.textContent),
      list: root.querySelectorAll("ol > li").length,
      quote: root.querySelector("blockquote")?.textContent,
      cell: root.querySelector("td:last-child")?.textContent,
      code: root.querySelector("pre")?.textContent,
      images: root.querySelectorAll("img").length,
    }));
    assert.deepEqual(found, {
      heading: "Plan", strong: "early", link: '<a href="https://example.com/lisbon" target="_blank" rel="noreferrer noopener" dir="auto">Lisbon</a>', list: 2,
      links: ["Lisbon (example.com)", "bank.example (evil.example)", "https://example.com/x", "map (image) (example.com)"],
      quote: "said & done & dusted", cell: "Porto", code: "let html = '<b>no</b>';", images: 0,
    });
    await view.inspect("chat-markdown");
    await view.click("button", "Source");
    await view.sees(/\*\*early\*\*/);
  });
});

test("data, pictures, sounds, files and links are shown as such", async () => {
  await play(
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
    await view.find("image", "point.png");
    await view.until(() => view.page.$eval('img[alt="point.png"]', (image) => (image as HTMLImageElement).naturalWidth === 1), "the picture is there");
    await view.page.waitForSelector("audio");
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
  await play({ do: "artifact", id: "long", name: "long", chunks: [line.repeat(25)], repeat: 200 });
  await app.visit("#/chat/double", async (view) => {
    await say(view, "much");
    await completed(view, 1);
    await view.becomes(() => view.page.$$eval(".long-piece", (all) => all.reduce((sum, one) => sum + one.textContent.length, 0)), line.length * 25 * 200);
    await view.fill("Message", "still usable?");
    await view.screenshot("chat-long");
  });
});

test("a reader further up stays there, and gets to the end by a button", async () => {
  const lines = { do: "artifact", name: "poem", chunks: ["A line of a poem that has many of them.\n"], repeat: 75, delay_ms: 10 };
  await play({ ...lines, id: "first half" }, { do: "steps", repeat: 1, url: `${sink.url}/poem` }, { ...lines, id: "second half" });
  sink.plan("/poem/1", "hold");
  await app.visit("#/chat/double", async (view) => {
    await say(view, "poem");
    const place = (): Promise<number[]> => view.page.evaluate(() => [scrollY, document.documentElement.scrollHeight - innerHeight]);
    await view.until(async () => ((await place())[1] ?? 0) > 600, "it is longer than the page");
    await view.until(async () => Math.abs(((await place())[0] ?? 0) - ((await place())[1] ?? 0)) < 60, "it follows the end");
    await view.page.mouse.move(600, 300);
    await view.page.mouse.wheel({ deltaY: -500 });
    await view.find("button", "Newest");
    // A wheel may take some frames; what it scrolls has come to rest when none of them differs from the one before.
    const [before, height] = await view.page.evaluate(async () => {
      for (let [last, same] = [NaN, 0]; same < 10; same = scrollY === last ? same + 1 : 0, last = scrollY) await new Promise(requestAnimationFrame);
      return [scrollY, document.documentElement.scrollHeight] as const;
    });
    await (await sink.arrival("/poem/1")).answer();
    await completed(view, 1);
    assert.ok((await view.page.evaluate(() => document.documentElement.scrollHeight)) > height + 600, "the page has grown");
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
      await view.page.evaluate(() => void delete document.documentElement.dataset["copied"]);
      await view.click("button", name);
      const text = await view.page.waitForFunction(() => document.documentElement.dataset["copied"]);
      return String(await text.jsonValue());
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
