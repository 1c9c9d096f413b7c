// The extension for webhooks (docs/webhooks.md): filters, signing secrets, the list of deliveries and redelivery; and the
// secrecy of a webhook's members.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Agent, message } from "./client.ts";
import { asking, bindings, EXTENSION, hook, secret, withWorker, worker, type Config } from "./push-config.ts";

withWorker();

for (const [name, binding] of Object.entries(bindings)) {
  describe(`over ${name}`, () => {
    test("what the extension adds is shown to clients that name it (§4.6)", async () => {
      const taskId = await asking();
      const plain = { id: "filtered", url: hook() };
      const full = { ...plain, events: "status", signingSecret: secret(32) };
      const named = { "a2a-extensions": EXTENSION };
      const created = await binding.create("/demo", taskId, full);
      assert.deepEqual([created.result, created.extensions], [{ ...plain, taskId }, null]);
      assert.deepEqual((await binding.list("/demo", taskId)).result, { configs: [{ ...plain, taskId }], nextPageToken: "" });
      const { signingSecret: _, ...open } = full;
      const known = { ...open, taskId, hasToken: false, hasCredentials: false, hasSigningSecret: true };
      for (const answer of [await binding.get("/demo", taskId, "filtered", named), await binding.create("/demo", taskId, full, named)]) {
        assert.deepEqual([answer.result, answer.extensions], [known, EXTENSION]);
      }
      const listed = await binding.list("/demo", taskId, named);
      assert.deepEqual(listed.result, { configs: [known], nextPageToken: "" });
    });

    test("secrets are shown by the answer that creates a webhook, and by no other (§4.3.2)", async () => {
      const taskId = await asking();
      const named = { "a2a-extensions": EXTENSION };
      const hush = { token: "hush-token", authentication: { scheme: "Bearer", credentials: "hush-credentials" }, signingSecret: secret(40) };
      const config = { id: "c", url: hook(), ...hush };
      const created = await binding.create("/demo", taskId, config, named);
      assert.deepEqual(created.result, { ...config, taskId, hasToken: true, hasCredentials: true, hasSigningSecret: true });
      const madeUp = await binding.create("/demo", taskId, { id: "d", url: hook() }, named);
      assert.match((madeUp.result as Config)["signingSecret"] as string, /^whsec_/);

      const inline = { message: message("ask"), configuration: { taskPushNotificationConfig: { ...config, id: "e" } } };
      for (const headers of [{}, named]) {
        const { authentication, signingSecret: __, ...rest } = config;
        assert.ok(authentication.credentials);
        for (const answer of [
          await binding.get("/demo", taskId, "c", headers),
          await binding.list("/demo", taskId, headers),
          await binding.redeliver("/demo", taskId, "c", 1),
          await binding.deliveries("/demo", taskId, "c"),
          await binding.create("/demo", taskId, config, headers),
          await binding.create("/demo", taskId, rest, headers),
          await binding.send("/demo", inline, headers),
        ]) {
          assert.equal(answer.status, 200);
          const text = JSON.stringify(answer.result);
          assert.ok(!/hush|whsec_/.test(text), text);
        }
      }
      // A webhook that is replaced without a signing secret keeps its secret; its token is not kept for another URL.
      const replaced = await binding.get("/demo", taskId, "c", named);
      assert.equal((replaced.result as Config)["hasSigningSecret"], true);
      const bare = await binding.create("/demo", taskId, { id: "c", url: hook() }, named);
      const { hasToken, hasCredentials, hasSigningSecret } = bare.result as Config;
      assert.deepEqual([hasToken, hasCredentials, hasSigningSecret], [false, false, true]);
    });

    test("deliveries are told, and sent again from a generation that the task has", async () => {
      const { id: taskId } = await new Agent(`${worker.url}/demo`).sendForTask("ask");
      const id = "with:colon";
      await binding.create("/demo", taskId, { id, url: hook() });
      const told = await binding.deliveries("/demo", taskId, id);
      assert.equal(told.status, 200);
      assert.deepEqual([(told.result as Config)["taskId"], (told.result as Config)["id"]], [taskId, id]);
      const again = await binding.redeliver("/demo", taskId, id, 1);
      assert.deepEqual([again.status, (again.result as Config)["id"]], [200, id]);

      for (const from of [undefined, null, 0, -1, 1.5, "x", 1_000_000, 2 ** 63, "9223372036854775808", "18446744073709551615", "18446744073709551616", 1e300]) {
        const refused = await binding.redeliver("/demo", taskId, id, from);
        assert.deepEqual([refused.status, refused.fields], [binding.invalid, ["fromGeneration"]], String(from));
      }
      for (const answer of [await binding.deliveries("/demo", taskId, "unknown"), await binding.redeliver("/demo", taskId, "unknown", 1)]) {
        assert.deepEqual([answer.status, answer.reason], [binding.notFound, "TASK_NOT_FOUND"]);
      }
    });
  });
}

test("agents with webhooks declare the extension, and require it of nobody (§4.4.4)", async () => {
  for (const [path, has] of [["", true], ["/demo", true], ["/faults", true], ["/picky", false]] as const) {
    const card = await (await fetch(`${worker.url}${path}/.well-known/agent-card.json`)).json();
    const { capabilities } = card as { capabilities: { pushNotifications?: boolean; extensions: { uri: string; required?: boolean }[] } };
    assert.equal(capabilities.pushNotifications ?? false, has, path);
    const found = capabilities.extensions.filter(({ uri }) => uri === EXTENSION);
    assert.equal(found.length, has ? 1 : 0, path);
    assert.ok(!found.some(({ required }) => required), path);
  }
});

test("webhooks outlive a crash (§3.1.7)", async () => {
  const taskId = await asking();
  const kept = { id: "kept", url: hook(), token: "t", authentication: { scheme: "Bearer", credentials: "c" }, events: "artifacts", signingSecret: secret(24) };
  const { "JSON-RPC": binding } = bindings;
  await binding.create("/demo", taskId, kept);
  await binding.create("/demo", taskId, { id: "gone", url: hook() });
  await binding.remove("/demo", taskId, "gone");
  await worker.kill9();
  await worker.restart();
  const listed = await binding.list("/demo", taskId, { "a2a-extensions": EXTENSION });
  const { token: _, signingSecret: __, ...open } = kept;
  const shown = { ...open, taskId, authentication: { scheme: "Bearer" }, hasToken: true, hasCredentials: true, hasSigningSecret: true };
  assert.deepEqual(listed.result, { configs: [shown], nextPageToken: "" });
});
