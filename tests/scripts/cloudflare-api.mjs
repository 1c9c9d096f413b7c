// A stand-in for the API of Cloudflare, for wrangler itself: an account with a Worker, its versions, a database and queues. It records what is changed.
import { createServer } from "node:http";

const ACCOUNT = "a".repeat(32);
const TOKEN = "a-token-of-the-stand-in";

/**
 * Starts the API for an account that has these things; without `migrations` it has no database. Gives its `state`, which a test may change, the requests that
 * have changed something, and the environment for wrangler.
 */
export async function startApi({ queues = [], migrations, versions = [], deployments = [], secrets = [] } = {}) {
  const state = { queues: [...queues], migrations, versions: [...versions], deployments: [...deployments], secrets: [...secrets], changedSecrets: [] };
  const changes = [];
  const server = createServer((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      const url = new URL(request.url, "http://api");
      const body = Buffer.concat(pieces);
      const [status, answer] = answerTo(state, request.method, url, body) ?? [404, failed(10000, `no ${request.method} ${url.pathname}`)];
      if (request.method !== "GET" && !/\/query$/.test(url.pathname)) changes.push(`${request.method} ${url.pathname.replace(`/accounts/${ACCOUNT}`, "")}`);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = { CLOUDFLARE_API_TOKEN: TOKEN, CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${server.address().port}`, CLOUDFLARE_ACCOUNT_ID: ACCOUNT };
  return { state, changes, env, close: () => server.close() };
}

const done = (result, about = {}) => ({ success: true, errors: [], messages: [], result, ...about });
const failed = (code, message) => ({ success: false, errors: [{ code, message }], messages: [], result: null });
const paged = (list) => done(list, { result_info: { page: 1, per_page: 100, count: list.length, total_count: list.length } });

/** The status and the JSON for a request; undefined for one that the stand-in does not know. */
function answerTo(state, method, { pathname, searchParams }, body) {
  const path = pathname.replace(`/accounts/${ACCOUNT}`, "");
  const ask = `${method} ${path}`;
  const json = () => JSON.parse(body);
  // A temporary account: a challenge that is solved at once, and the account itself.
  if (ask === "POST /provisioning/previews/challenge") return [200, done({ challengeToken: "c", seed: Buffer.alloc(32).toString("base64url"), k: 1, g: 1 })];
  if (ask === "POST /provisioning/previews") {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    return [200, done({ account: { id: ACCOUNT, name: "A temporary account", apiToken: TOKEN, expiresAt }, claim: { url: "https://claim.example", expiresAt } })];
  }
  if (ask === "GET /user") return [200, done({ email: "ada@example.com" })];
  if (ask === "GET /user/tokens/verify") return [200, done({ id: "t", status: "active" })];
  if (path === "/accounts") return [200, paged([{ id: ACCOUNT, name: "Ada's Account" }])];
  if (path === "/memberships") return [200, paged([{ id: "m", account: { id: ACCOUNT, name: "Ada's Account" } }])];

  if (ask === "GET /queues") return [200, paged(state.queues.filter((name) => name === (searchParams.get("name") ?? name)).map(queueOf))];
  if (ask === "POST /queues") return made(state.queues, json().queue_name, queueOf);
  if (/^\/queues\/[^/]+\/consumers$/.test(path)) return [200, done(method === "GET" ? [] : {})];

  if (ask === "GET /d1/database") return [200, paged(state.migrations === undefined ? [] : [database(searchParams.get("name"))])];
  if (ask === "POST /d1/database") {
    state.migrations = [];
    return [200, done(database(json().name))];
  }
  if (/^GET \/d1\/database\/[^/]+$/.test(ask)) return state.migrations === undefined ? [404, failed(7404, "The database does not exist")] : [200, done(database("own-agent"))];
  if (/^POST \/d1\/database\/[^/]+\/query$/.test(ask)) return query(state, json().sql);

  const worker = /^\/workers\/(?:scripts|services)\/own-agent(\/.*)?$/.exec(path)?.[1];
  const isThere = state.deployments.length > 0;
  if (/^\/workers\/(?:scripts|services)\/own-agent/.test(path) && method === "GET" && !isThere) return [404, failed(10007, "This Worker does not exist on your account.")];
  if (ask === "GET /workers/services/own-agent") return [200, done({ default_environment: { environment: "production", script: { tag: "t", last_deployed_from: "wrangler" } } })];
  if (method === "GET" && worker === "/deployments") return [200, done({ deployments: [...state.deployments].reverse() })];
  if (method === "GET" && worker === "/versions") return [200, done({ items: state.versions })];
  const named = /^\/versions\/(.+)$/.exec(worker ?? "")?.[1];
  if (method === "GET" && named !== undefined) return [200, done(state.versions.find(({ id }) => id === named))];
  if (method === "PUT" && worker === "/secrets") {
    const { name, text } = json();
    state.secrets = [...state.secrets.filter((known) => known !== name), name];
    state.values = { ...state.values, [name]: text };
    return [200, done({ name, type: "secret_text" })];
  }
  const deleted = method === "DELETE" ? /^\/secrets\/([A-Z_]+)$/.exec(worker ?? "")?.[1] : undefined;
  if (deleted !== undefined) {
    state.secrets = state.secrets.filter((name) => name !== deleted);
    return [200, done(null)];
  }
  if (method === "GET" && worker === "/secrets") return [200, done(state.secrets.map((name) => ({ name, type: "secret_text" })))];
  if (method === "POST" && worker === "/deployments") {
    const { versions, annotations } = json();
    if (state.changedSecrets.length > 0 && searchParams.get("force") !== "true") {
      return [400, failed(10220, `Cannot deploy. The following secrets have changed: ${state.changedSecrets.join(", ")}`)];
    }
    state.deployments.push({ id: `d${state.deployments.length}`, created_on: new Date().toISOString(), versions, annotations });
    return [200, done(state.deployments.at(-1))];
  }
  if (ask === "GET /workers/subdomain") return [200, done({ subdomain: "ada" })];
  // Nothing of the assets has to be uploaded: all is there already.
  if (worker === "/assets-upload-session") return [200, done({ jwt: "a.jwt", buckets: [] })];
  if (worker === "/subdomain") return [200, done({ enabled: true, previews_enabled: false })];
  if (path === "/workers/workers/own-agent") return [200, done({ id: "w", name: "own-agent", subdomain: { enabled: true, previews_enabled: false } })];
  if (worker === "/schedules") return [200, done({ schedules: [] })];
  if (method === "PUT" && worker === undefined) return uploaded(state, body.toString("latin1"));
  return undefined;
}

/** Takes an upload, whose metadata is JSON in one of the parts. */
function uploaded(state, body) {
  const metadata = JSON.parse(/name="metadata"\r\n\r\n([^\r]*)\r\n/.exec(body)[1]);
  const id = `${String(state.versions.length + 1).repeat(8)}-0000-4000-8000-000000000000`;
  const created_on = new Date().toISOString();
  state.versions.push({ id, number: state.versions.length + 1, metadata: { created_on }, annotations: metadata.annotations });
  state.deployments.push({ id: `d${state.deployments.length}`, created_on, versions: [{ version_id: id, percentage: 100 }] });
  state.metadata = metadata;
  return [200, done({ id: "own-agent", deployment_id: id, startup_time_ms: 1, tag: "t", pipeline_hash: "p" })];
}

function made(list, name, shown) {
  list.push(name);
  return [200, done(shown(name))];
}

const database = (name) => ({ uuid: "d".repeat(8), name, version: "production" });

/** A statement for the database; its migrations are a list, or "no table". */
function query(state, sql) {
  if (state.migrations === "no table") return [400, failed(7500, "no such table: d1_migrations: SQLITE_ERROR")];
  const results = /SELECT/.test(sql) ? state.migrations.map((name, at) => ({ id: at + 1, name, applied_at: "2026-11-01" })) : [];
  const [, applied] = /INSERT INTO "?d1_migrations"? \(name\)\s*values \('([^']+)'\)/i.exec(sql) ?? [];
  if (applied !== undefined) state.migrations.push(applied);
  return [200, done([{ results, success: true, meta: {} }])];
}

const queueOf = (name) => ({ queue_id: name, queue_name: name, producers: [], consumers: [], producers_total_count: 0, consumers_total_count: 0 });
