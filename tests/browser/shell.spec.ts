import { after, before, test } from "node:test";
import { startConsole, type Console } from "./console.ts";

let console_: Console;
before(async () => { console_ = await startConsole(); });
after(() => console_.stop());

test("the page opens", async () => {
  for (const path of ["/console", "/console/", "/console/index.html", "/console/assets/nothing.js", "/console/icon.svg", "/console/api/agents", "/console/x", "/"]) {
    const r = await fetch(console_.worker.url + path, { redirect: "manual" });
    console.log(path, r.status, Object.fromEntries(r.headers), (await r.text()).slice(0, 200));
  }
  const html = await (await fetch(console_.url)).text();
  const script = /assets\/[^"]+\.js/.exec(html)![0];
  const r = await fetch(console_.url + script);
  console.log(r.status, Object.fromEntries(r.headers));
  await console_.visit("#/agents", async (view) => {
    console.log(await view.text(), await view.outline());
    console.log(view.record.requests);
    const t = Date.now();
    await view.inspect("shell");
    console.log(Date.now() - t);
  });
});
