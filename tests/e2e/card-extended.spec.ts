// GetExtendedAgentCard, and skills that need permissions (spec §3.1.11, §13.3).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { AgentCard } from "@a2a-js/sdk";
import { Agent, type Part, type Task } from "./client.ts";
import { CARD, KEYS, TOKEN, askExtended, cardIn, jwt, skillsOf, startClub, type Card } from "./club.ts";
import type { Worker } from "./harness.ts";

let worker: Worker;
before(async () => {
  worker = await startClub();
});
after(() => worker.stop());

const key = (who: keyof typeof KEYS) => ({ "x-club-key": KEYS[who] });
const publicCard = async (agent: string) => (await (await fetch(`${worker.url}/${agent}${CARD}`, { headers: { "a2a-version": "1.0" } })).json()) as Card;

for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
  describe(binding, () => {
    for (const [agent, who, headers, skills] of [
      ["club", "a guest", key("guest"), ["echo"]],
      ["club", "a member", key("member"), ["echo", "add_numbers"]],
      ["club", "an insider", key("insider"), ["current_time", "echo", "add_numbers"]],
      ["club", "a holder of the token", { authorization: `Bearer ${TOKEN}` }, ["echo", "add_numbers"]],
      ["lodge", "a holder of a JWT", { authorization: `Bearer ${jwt()}` }, ["echo"]],
      ["lodge", "a holder of a JWT with a scope", { authorization: `Bearer ${jwt({ scope: "other sum" })}` }, ["echo", "add_numbers"]],
      ["lodge", "a holder of a JWT of the other issuer", { authorization: `Bearer ${jwt({ iss: "https://oidc.example", permissions: ["sum"] })}` }, ["echo", "add_numbers"]],
    ] as const) {
      test(`${who} of ${agent} sees the skills that it may use, in the order of the file (§3.1.11)`, async () => {
        const response = await askExtended(binding, `${worker.url}/${agent}`, headers);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("cache-control"), "private, no-store");
        assert.equal(response.headers.get("etag"), null);
        const card = await cardIn(binding, response);
        assert.deepEqual(skillsOf(card), skills);
        const { skills: _, ...others } = card;
        const { skills: __, ...expected } = await publicCard(agent);
        assert.deepEqual(others, expected, "all else is as in the public card");
        assert.equal(AgentCard.fromJSON(card).skills.length, skills.length);
      });
    }

    for (const [who, headers] of [
      ["nobody", {}],
      ["a stranger", { "x-club-key": "stranger-key-0000000000" }],
      ["a caller of another agent", { authorization: `Bearer ${jwt()}` }],
    ] as const) {
      test(`${who} is told how to prove who they are (§7.4)`, async () => {
        const response = await askExtended(binding, `${worker.url}/club`, headers);
        assert.equal(response.status, 401);
        assert.match(response.headers.get("www-authenticate") ?? "", /\S/);
        assert.ok(!(await response.text()).includes("add_numbers"));
      });
    }

    test("an agent that has none refuses it as its card says (§3.3.4)", async () => {
      const response = await askExtended(binding, `${worker.url}/demo`, {});
      assert.match(await response.text(), /UNSUPPORTED_OPERATION/);
    });
  });
}

test("at the root the tenant says whose card it is (§3.1.11)", async () => {
  const agent = new Agent(worker.url, key("member"));
  const card = (await agent.call("GetExtendedAgentCard", { tenant: "club" })) as Card;
  assert.deepEqual(skillsOf(card), ["echo", "add_numbers"]);
});

test("the public card shows what everybody may use, and says that there is more (§4.4.3)", async () => {
  const card = await publicCard("club");
  assert.deepEqual(skillsOf(card), ["echo"]);
  assert.equal(card.capabilities.extendedAgentCard, true);
  assert.ok(!JSON.stringify(card).includes("add_numbers"));
});

test("the extended card makes no task and wakes no object (§3.1.11)", async () => {
  const database = await worker.d1();
  const count = async () => (await database.prepare("SELECT count(*) AS number FROM tasks").run<{ number: number }>()).results[0]?.number ?? 0;
  const before = await count();
  for (const binding of ["JSONRPC", "HTTP+JSON"] as const) await askExtended(binding, `${worker.url}/club`, key("insider"));
  // The later task is counted when its send is answered, so a task of the requests would be counted, too.
  await new Agent(`${worker.url}/demo`).sendForTask("hello");
  assert.equal(await count(), before + 1);
});

describe("a tool that a caller may not use", () => {
  const club = (who: keyof typeof KEYS) => new Agent(`${worker.url}/club`, key(who));
  const send = async (who: keyof typeof KEYS, parts: Part[]) => {
    const { task } = await club(who).send({ parts });
    if (task === undefined) throw new Error("the answer is no task");
    return task;
  };
  const call = (tool: string, args: object = {}): Part => ({ data: { tool, arguments: args } });
  const said = ({ status, artifacts }: Task) => JSON.stringify([status.state, status.message?.parts, artifacts]);

  for (const [who, tool] of [["guest", "add_numbers"], ["guest", "current_time"], ["member", "current_time"]] as const) {
    test(`${tool} does not exist for a ${who}: the answer is that for any other name (§13.3)`, async () => {
      // The two names have the same length, so that only the name differs.
      const unknown = tool.replace(/.$/, "X");
      const [refused, expected] = [await send(who, [call(tool)]), await send(who, [call(unknown)])];
      assert.equal(said(refused), said(expected).replaceAll(unknown, tool));
      assert.equal(refused.status.state, "TASK_STATE_REJECTED");
    });
  }

  test("what may be used is listed, and nothing else (§13.3)", async () => {
    for (const [who, listed] of [["guest", ["echo"]], ["member", ["echo", "add_numbers"]]] as const) {
      const { status } = await send(who, [call("none")]);
      const { tools } = status.message?.parts[1]?.data as { tools: { name: string }[] };
      assert.deepEqual(tools.map(({ name }) => name), listed);
    }
  });

  test("who may use it, uses it (§13.3)", async () => {
    const sum = await send("member", [call("add_numbers", { a: 1, b: 2 })]);
    assert.equal(sum.status.state, "TASK_STATE_COMPLETED", JSON.stringify(sum));
    const told = await send("insider", [call("current_time")]);
    assert.equal(told.artifacts?.[0]?.artifactId, "current_time-result");
  });
});
