// Foreign libraries verify the notifications that a webhook gets: their signatures and their JWTs.

import assert from "node:assert/strict";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { Agent, message } from "../e2e/client.ts";
import { startWorker } from "../e2e/harness.ts";
import { Sink, type Arrival } from "../e2e/sink.ts";

/** The key pairs of RFC 7517 (A.2) and RFC 8037 (A.1), known to everyone. */
const keys = {
  ES256: {
    kty: "EC", crv: "P-256", kid: "hooks-1",
    x: "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", y: "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    d: "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
  },
  EdDSA: {
    kty: "OKP", crv: "Ed25519", kid: "hooks-2",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
  },
};

export type Algorithm = keyof typeof keys;

/** Notifications as they came, and what a receiver knows of their sender. */
export interface Received {
  notifications: { headers: Record<string, string>; body: string }[];
  secret: string;
  jwksUrl: string;
  issuer: string;
  audience: string;
}

/** Has a Worker send the notifications of a task, and checks them while it serves its keys. */
export async function withNotifications(algorithm: Algorithm, check: (received: Received) => Promise<void>): Promise<void> {
  const issuer = "https://agents.example";
  const sink = await Sink.open();
  const worker = await startWorker({ vars: { PUBLIC_URL: issuer, SIGNING_JWK: JSON.stringify(keys[algorithm]) } });
  try {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const configuration = { taskPushNotificationConfig: { url: `${sink.url}/hook`, signingSecret: secret } };
    await new Agent(`${worker.url}/demo`).call("SendMessage", { message: message("hello"), configuration });
    const arrivals = await Promise.all([1, 2, 3, 4].map((nth) => sink.arrival("/hook", nth)));
    const notifications = arrivals.map(({ headers, body }: Arrival) => ({ headers: headers as Record<string, string>, body }));
    await check({ notifications, secret, jwksUrl: `${worker.url}/.well-known/jwks.json`, issuer, audience: sink.url });
  } finally {
    await worker.stop();
    sink.close();
  }
}

/** `standardwebhooks` takes each notification, and none whose body is another. */
export async function signatures({ notifications, secret }: Received): Promise<void> {
  const webhook = new Webhook(secret);
  for (const { headers, body } of notifications) {
    assert.deepEqual(webhook.verify(body, headers), JSON.parse(body));
    assert.throws(() => webhook.verify(`${body} `, headers));
  }
}

/** `jose` fetches the keys and verifies each JWT, and none that is for another receiver. */
export async function tokens({ notifications, jwksUrl, issuer, audience }: Received, algorithm: Algorithm): Promise<void> {
  const keySet = createRemoteJWKSet(new URL(jwksUrl));
  for (const { headers } of notifications) {
    const token = /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1] ?? "";
    const { payload, protectedHeader } = await jwtVerify(token, keySet, { issuer, audience });
    assert.equal(protectedHeader.alg, algorithm);
    assert.equal(payload.jti, headers["webhook-id"]);
    await assert.rejects(jwtVerify(token, keySet, { issuer, audience: "https://other.example" }));
  }
}
