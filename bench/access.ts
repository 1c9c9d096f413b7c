// The cost of credentials: requests with a token that was used before, compared with requests without a token.

import { agentsWith, hmacToken, IdentityProvider, jwt, AUDIENCE } from "../tests/e2e/identity-provider.ts";
import { digits, median, type Effort, type Section } from "./figures.ts";
import { call, Connections, send, type Exchange } from "./http.ts";
import { startBuilt } from "./workers.ts";

const CONNECTIONS = 16;
const WARM_UP_MS = 500;

export async function access({ rounds, sliceMs }: Effort): Promise<Section> {
  const provider = await IdentityProvider.open();
  const issuer = provider.issuer("provider");
  const [secret, key] = [crypto.randomUUID(), crypto.randomUUID()];
  const shared = { kind: "jwt", issuer: issuer.url, audience: [AUDIENCE], secrets: ["JWT_SECRET"] };
  const keys = { kind: "api_key", name: "X-Api-Key", callers: [{ id: "bench", secrets: ["API_KEY"] }] };
  const AGENTS = agentsWith({ public: { who: jwt(issuer) }, shared: { who: shared }, key: { who: keys } });
  // In development, keys may be fetched from this machine.
  const worker = await startBuilt({ DEVELOPMENT: "true", AGENTS, JWT_SECRET: secret, API_KEY: key });
  const day = { exp: Math.floor(Date.now() / 1000) + 86_400 };
  const credentials: [string, string, Record<string, string>][] = [
    ["a JWT of ES256", "public", { authorization: `Bearer ${issuer.token(day)}` }],
    ["a JWT of HS256", "shared", { authorization: `Bearer ${hmacToken(secret, issuer.claims(day))}` }],
    ["an API key", "key", { "x-api-key": key }],
  ];
  try {
    using connections = new Connections(CONNECTIONS);
    const exchanges = async (agent: string, headers: Record<string, string>): Promise<Exchange[]> => {
      const url = `${worker.url}/${agent}`;
      const sent = { ...send(url, () => "hello"), headers };
      const answer = JSON.parse(await connections.once(sent)) as { result: { task: { id: string } } };
      const { id } = answer.result.task;
      return [{ ...call(url, "GetTask", () => ({ id }), id), headers }, sent];
    };
    const open = await exchanges("demo", {});
    const rows: string[][] = [];
    for (const [name, agent, headers] of credentials) {
      const guarded = await exchanges(agent, headers);
      for (const [index, method] of ["GetTask", "SendMessage"].entries()) {
        const [plain, known] = [open[index], guarded[index]] as [Exchange, Exchange];
        for (const exchange of [plain, known]) await connections.repeat(exchange, WARM_UP_MS);
        const ratios: number[] = [];
        const rates: number[] = [];
        for (let round = 0; round < rounds * 2; round++) {
          // The two alternate in being first.
          const order = round % 2 === 0 ? [plain, known] : [known, plain];
          const taken = new Map<Exchange, number>();
          for (const exchange of order) taken.set(exchange, (await connections.repeat(exchange, sliceMs)).perSecond);
          const [without, with_] = [taken.get(plain) ?? 0, taken.get(known) ?? 0];
          ratios.push(with_ / without);
          rates.push(with_);
        }
        rows.push([`${method}, ${name}`, digits(median(rates)), median(ratios).toFixed(2)]);
      }
    }
    return {
      title: "Credentials",
      text:
        `Requests whose credentials were seen before, on ${CONNECTIONS} connections, in turn with the same requests to an agent that ` +
        "everybody may call. The ratio is that of requests per second, with credentials to without; the medians of all rounds.",
      columns: ["request", "per second", "ratio"],
      rows,
    };
  } finally {
    await worker.stop();
    provider.close();
  }
}
