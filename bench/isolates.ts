// A process of workerd that starts further isolates of a Worker while it runs, by the platform's Worker Loader: each is made for one request, as when Cloudflare starts
// a further isolate of a Worker.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bundled, checked } from "../tests/e2e/product.ts";
import { root } from "./workers.ts";

/** The Worker of which isolates are made: a build with an entry module, or the text of a module. */
export type Source = { folder: string; entry: string; vars: Record<string, string> } | { text: string };

const require = createRequire(createRequire(import.meta.url).resolve("wrangler/package.json"));
const { Miniflare, NoOpLog, convertV4MiniflareOptions } = require("miniflare") as {
  Miniflare: new (options: object) => { ready: Promise<URL>; dispose(): Promise<void> };
  NoOpLog: new () => object;
  convertV4MiniflareOptions(options: object): object;
};

const COMPATIBILITY_DATE = /^compatibility_date = "([\d-]+)"$/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"))?.[1];

/** Makes an isolate for each path. The Worker is asked for the card, for which it needs no bindings but its variables. */
const LOADER = `import text from "./worker.txt";
import wasm from "./worker.bin";
export default {
  fetch(request, { LOADER, VARS }) {
    const code = () => ({
      compatibilityDate: "${COMPATIBILITY_DATE}",
      mainModule: "index.js",
      modules: { "index.js": { js: text }, ...(wasm.byteLength > 0 && { "index_bg.wasm": { wasm } }) },
      env: VARS,
    });
    const { pathname, origin } = new URL(request.url);
    return LOADER.get(pathname, code).getEntrypoint().fetch(origin + "/.well-known/agent-card.json");
  },
};`;

export class IsolateHost {
  readonly #miniflare: InstanceType<typeof Miniflare>;
  readonly #url: URL;

  private constructor(miniflare: InstanceType<typeof Miniflare>, url: URL) {
    this.#miniflare = miniflare;
    this.#url = url;
  }

  static async start(source: Source): Promise<IsolateHost> {
    const isText = "text" in source;
    const folder = isText ? root : join(root, source.folder);
    const module = (type: string, name: string, contents: string | Uint8Array) => ({ type, path: join(root, name), contents });
    const miniflare = new Miniflare({
      ...convertV4MiniflareOptions({
        name: "isolates",
        compatibilityDate: COMPATIBILITY_DATE,
        modulesRoot: root,
        modules: [
          module("ESModule", "loader.js", LOADER),
          module("Text", "worker.txt", isText ? source.text : await bundled(folder, source.entry, checked(root))),
          module("Data", "worker.bin", isText ? new Uint8Array() : readFileSync(join(folder, "index_bg.wasm"))),
        ],
        bindings: { VARS: isText ? {} : source.vars },
        workerLoaders: { LOADER: {} },
        cf: false,
      }),
      log: new NoOpLog(),
      handleStructuredLogs: () => {},
    });
    return new IsolateHost(miniflare, await miniflare.ready);
  }

  /** The time to the answer of a new isolate, in milliseconds. */
  async firstAnswer(): Promise<number> {
    const begun = performance.now();
    const answer = await fetch(new URL(`/${crypto.randomUUID()}`, this.#url));
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`a new isolate answered with ${answer.status} ${text}`);
    return performance.now() - begun;
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
  }
}
