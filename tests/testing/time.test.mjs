import assert from "node:assert/strict";
import { test } from "node:test";
import { executor } from "a2a-edge";
import { testAgent } from "a2a-edge/testing";

const HOUR_MS = 3_600_000;

/** An agent whose function is given. */
const agentOf = (execute, options) => testAgent(executor({ execute }), options);

test("timers and dates of the agent's code are simulated", async () => {
  const agent = await agentOf(async () => {
    const [begun, ticks] = [Date.now(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 40_000));
    let rings = 0;
    await new Promise((resolve) => {
      const timer = setInterval(() => {
        rings += 1;
        if (rings < 3) return;
        clearInterval(timer);
        resolve();
      }, 1_000);
    });
    const aborted = await new Promise((resolve) => {
      const signal = AbortSignal.timeout(2_000);
      signal.addEventListener("abort", () => resolve(signal.reason.name));
    });
    return { data: { date: new Date().getTime() - begun, now: Date.now() - begun, ticks: performance.now() - ticks, rings, aborted, isDate: new Date() instanceof Date } };
  });
  const { artifacts } = await agent.send("go");
  assert.deepEqual(artifacts.result.parts[0].data, { date: 45_000, now: 45_000, ticks: 45_000, rings: 3, aborted: "TimeoutError", isDate: true });
});

test("the globals of the test are its own, while an agent is at work and afterwards", async () => {
  const before = [setTimeout, clearTimeout, setInterval, clearInterval, fetch, Date, process.emit, AbortSignal.timeout];
  const agent = await agentOf((turn) => turn.sleep("30 seconds").then(() => "done"));
  const sending = agent.send("go");
  const [begun, answered] = [Date.now(), fetch("data:text/plain,real").then((response) => response.text())];
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(Date.now() - begun < HOUR_MS && new Date() - begun < HOUR_MS);
  assert.equal(await answered, "real");
  assert.equal((await sending).state, "completed");
  assert.deepEqual([setTimeout, clearTimeout, setInterval, clearInterval, fetch, Date, process.emit, AbortSignal.timeout], before);
});

test("work that takes real time is waited for before simulated time moves", async () => {
  const agent = await agentOf(async (turn) => {
    const begun = Date.now();
    const limit = turn.sleep("1 second").then(() => "too late");
    const digest = crypto.subtle.digest("SHA-512", new Uint8Array(20_000_000)).then(() => "in time");
    const first = await Promise.race([limit, digest]);
    return `${first} ${Date.now() - begun}`;
  });
  assert.equal((await agent.send("go")).artifacts.result.text, "in time 0");
});

test("a function that answers requests may take simulated time, or real time", async () => {
  const agent = await agentOf(async (turn) => {
    const ask = async (path) => {
      const begun = Date.now();
      const answer = await (await turn.fetch(`https://service.example/${path}`)).text();
      return `${answer} ${Date.now() - begun}`;
    };
    return { data: [await ask("simulated"), await ask("real")] };
  }, {
    fetch: async (request) => {
      if (request.url.endsWith("simulated")) await new Promise((resolve) => setTimeout(resolve, 5_000));
      else await crypto.subtle.digest("SHA-512", new Uint8Array(20_000_000));
      return new Response(new URL(request.url).pathname);
    },
  });
  assert.deepEqual((await agent.send("go")).artifacts.result.parts[0].data, ["/simulated 5000", "/real 0"]);
});

test("an answer may stream in simulated time", async () => {
  const words = ["roses ", "are ", "red"];
  const agent = await agentOf(async (turn) => {
    const begun = Date.now();
    const text = await turn.write((await turn.fetch("https://model.example/")).body, { id: "poem" });
    return `${text} ${Date.now() - begun}`;
  }, {
    fetch: () => new Response(new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        if (words.length === 0) controller.close();
        else controller.enqueue(new TextEncoder().encode(words.shift()));
      },
    })),
  });
  const { artifacts } = await agent.send("go");
  assert.deepEqual([artifacts.poem.text, artifacts.result.text], ["roses are red", "roses are red 4000"]);
});

test("a service that never answers is given up by the run's own timeout", async () => {
  const agent = await agentOf(async (turn) => {
    const begun = Date.now();
    const reason = await turn.fetch("https://silent.example/", { timeout: "10 seconds" }).catch((error) => error.message);
    return `${reason} ${Date.now() - begun}`;
  }, { fetch: () => new Promise(() => {}) });
  assert.match((await agent.send("go")).artifacts.result.text, /^silent\.example has not answered within 10000 ms 10000$/);
});

test("without a function that answers, a request fails and says what to do", async () => {
  const agent = await agentOf((turn) => turn.fetch("https://nobody.example/").then(() => "answered", (error) => error.message));
  assert.match((await agent.send("go")).artifacts.result.text, /nobody answers GET https:\/\/nobody\.example\/: give the test agent a function "fetch"/);
});

test("a send returns after a minute of a run that goes on, and passing time lets it end", async () => {
  const agent = await agentOf(async (turn) => {
    turn.working("counting");
    for (let nth = 0; nth < 10; nth += 1) await turn.sleep("10 seconds");
    return "done";
  });
  assert.equal((await agent.send("go")).state, "working");
  assert.equal((await agent.pass("1 minute")).state, "completed");
});

test("a run that takes too long fails", async () => {
  const agent = await agentOf(async (turn) => {
    for (;;) await turn.sleep("10 seconds");
  });
  await agent.send("go");
  const { state, text } = await agent.pass("5 minutes");
  assert.deepEqual([state, text], ["failed", "task timed out after 300000 ms"]);
});

test("a run that was interrupted begins again by itself", async () => {
  let attempts = 0;
  const agent = await agentOf(async (turn) => {
    attempts += 1;
    turn.working("at work");
    for (let nth = 0; nth < 7; nth += 1) await turn.sleep("10 seconds");
    return `attempt ${turn.attempt}`;
  });
  assert.equal((await agent.send("go")).state, "working");
  await agent.crash();
  const { state, artifacts } = await agent.pass("2 minutes");
  assert.deepEqual([state, artifacts.result.text, attempts], ["completed", "attempt 2", 2]);
});

test("a loop without a wait between its rounds is found", async () => {
  const agent = await agentOf(async () => {
    for (;;) await new Promise((resolve) => setTimeout(resolve, 0));
  });
  await assert.rejects(agent.send("go"), /\d+ timers of the agent were due without any time in between/);
});
