// The card declares exactly the access rules that are enforced (spec §4.5, §7.1).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { AgentCard } from "@a2a-js/sdk";
import { CARD, ISSUER, VARS, startClub, type Card } from "./club.ts";
import { startWorker, type Worker } from "./harness.ts";
import { logged } from "./client.ts";

let worker: Worker;
before(async () => {
  worker = await startClub();
});
after(() => worker.stop());

const cardOf = async (agent: string, { url } = worker) => (await (await fetch(`${url}/${agent}${CARD}`, { headers: { "a2a-version": "1.0" } })).json()) as Card;

test("every kind of scheme is declared in the form of the specification (§4.5.1)", async () => {
  const { securitySchemes } = await cardOf("locks");
  const urls = { authorizationUrl: "https://id.example/authorize", tokenUrl: "https://id.example/token", refreshUrl: "https://id.example/refresh" };
  const device = { deviceAuthorizationUrl: "https://id.example/device", tokenUrl: "https://id.example/token", scopes: {} };
  assert.deepEqual(securitySchemes, {
    "header-key": { apiKeySecurityScheme: { description: "A key that we have sent you.", location: "header", name: "X-Key" } },
    "query-key": { apiKeySecurityScheme: { location: "query", name: "key" } },
    "cookie-key": { apiKeySecurityScheme: { location: "cookie", name: "key" } },
    token: { httpAuthSecurityScheme: { scheme: "Bearer" } },
    password: { httpAuthSecurityScheme: { scheme: "Basic" } },
    jwt: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } },
    session: { apiKeySecurityScheme: { location: "cookie", name: "session" } },
    discovered: { openIdConnectSecurityScheme: { openIdConnectUrl: "https://oidc.example/.well-known/openid-configuration" } },
    code: { oauth2SecurityScheme: { flows: { authorizationCode: { ...urls, scopes: { read: "Reads.", write: "Writes." }, pkceRequired: true } } } },
    device: { oauth2SecurityScheme: { flows: { deviceCode: device } } },
    cloudflare: { apiKeySecurityScheme: { location: "header", name: "Cf-Access-Jwt-Assertion" } },
    certificate: { mtlsSecurityScheme: { description: "A client certificate." } },
  });
});

test("requirements are alternatives, each of schemes that must all pass (§4.4.1)", async () => {
  const { securityRequirements } = await cardOf("locks");
  const [both, scopes, one] = securityRequirements as unknown[];
  assert.deepEqual(both, { schemes: { "header-key": { list: [] }, certificate: { list: [] } } });
  assert.deepEqual(scopes, { schemes: { code: { list: ["read", "write"] } } });
  assert.deepEqual(one, { schemes: { "query-key": { list: [] } } });
  const club = await cardOf("club");
  assert.deepEqual(club.securityRequirements, [{ schemes: { key: { list: [] } } }, { schemes: { token: { list: [] } } }], "any of them");
});

test("the official SDK reads each scheme, and loses nothing of it (§4.5.1)", async () => {
  for (const agent of ["locks", "lodge", "club"]) {
    const served = await cardOf(agent);
    const card = AgentCard.fromJSON(served);
    const names = Object.keys(served.securitySchemes ?? {});
    for (const name of names) {
      const [kind] = Object.keys(served.securitySchemes?.[name] ?? {});
      assert.equal(card.securitySchemes[name]?.scheme?.$case, kind, name);
    }
    const again = AgentCard.toJSON(card) as Card;
    // The SDK leaves out empty members.
    const filled = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(',"scopes":{}', "")) as unknown;
    assert.deepEqual(again.securitySchemes, filled(served.securitySchemes));
    assert.equal((again.securityRequirements as unknown[]).length, (served.securityRequirements as unknown[]).length);
  }
});

test("variables of the deployment stand in what the card says of schemes (§4.5.4)", async () => {
  const { securitySchemes } = await cardOf("lodge");
  assert.deepEqual(securitySchemes?.["oauth"], {
    oauth2SecurityScheme: {
      flows: { clientCredentials: { tokenUrl: `${ISSUER}/token`, scopes: { sum: "Adds numbers." } } },
      oauth2MetadataUrl: `${ISSUER}/.well-known/oauth-authorization-server`,
    },
  });
});

test("an agent one of whose variables is not set lets nobody in, and its card is still served (§7.3)", async (t) => {
  const { LODGE_ISSUER: _, ...vars } = VARS;
  const lacking = await startWorker({ vars });
  t.after(() => lacking.stop());
  assert.equal((await cardOf("lodge", lacking)).name, "Lodge");
  const response = await fetch(`${lacking.url}/lodge/tasks`, { headers: { "a2a-version": "1.0" } });
  assert.equal(response.status, 500);
  await logged(lacking, "LODGE_ISSUER", "error");
});

test("no card has a secret in it (§13.1)", async () => {
  for (const agent of ["club", "lodge", "locks"]) {
    const text = JSON.stringify(await cardOf(agent));
    for (const [name, value] of Object.entries(VARS)) {
      if (name !== "LODGE_ISSUER") assert.ok(!text.includes(value) && !text.includes(name), name);
    }
  }
});

test("an agent without schemes declares none (§4.4.1)", async () => {
  const card = await cardOf("demo");
  assert.ok(!("securitySchemes" in card) && !("securityRequirements" in card));
});
