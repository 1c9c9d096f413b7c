// An agent that attacks those who look at it: every text that the console shows of an agent, a card or a task holds markup, scripts, links that run
// something, very long words, and characters that turn the direction of writing.

import assert from "node:assert/strict";
import { testAgents } from "../e2e/harness.ts";
import type { View } from "./view.ts";

/** The agent's path. */
export const HOSTILE = "hostile";

/** Stands in each hostile text, so that a test can tell that the text is shown at all. */
export const MARK = "hostile-text";

const RUNS = "document.documentElement.dataset.hostile='ran'";

/** Ends attributes and elements, then tries each way that we know to run or load something. */
export const MARKUP =
  `${MARK} "'></title></textarea></script><script>${RUNS}</script><img class="hostile" src="https://evil.example/pixel.png" onerror="${RUNS}">` +
  `<svg class="hostile" onload="${RUNS}"></svg><iframe class="hostile" src="https://evil.example/"></iframe><style class="hostile">*{display:none}</style>` +
  `<base href="https://evil.example/"><form class="hostile" action="https://evil.example/"><a class="hostile" href="javascript:${RUNS}">click</a> {{7*7}} \${7*7}`;

/** A text of one word that no line can hold. */
export const LONG = `${MARK}-${"W".repeat(3000)}`;

/** A name that seems to end by `.png`, and a text that is written from right to left from its middle on. */
export const TURNED = `${MARK} \u202Egnp.exe\u202C \u2067right to left`;

/** A URL that runs something. */
export const SCRIPT_URL = `javascript:${RUNS}`;

const MARKDOWN = [
  MARKUP, `# ${MARKUP}`, `[link](${SCRIPT_URL})`, `[data](data:text/html,<script>${RUNS}</script>)`, "![picture](https://evil.example/pixel.png)",
  `<${SCRIPT_URL}>`, "[unseen]: https://evil.example/", "[reference][unseen]", `\`\`\`"><img src=x onerror="${RUNS}">`, "code", "```",
  "| a | b |\n|---|---|\n| <b class=\"hostile\">x</b> | `<i class=\"hostile\">` |", `&lt;img src=x onerror=${RUNS}&gt;`, "[mail](mailto:a@evil.example?subject=%22%3E)",
].join("\n\n");

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload="${RUNS}"><script>${RUNS}</script><image href="https://evil.example/pixel.png"/></svg>`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const card = {
  name: MARKUP,
  description: `${MARKUP} ${LONG} ${TURNED}`,
  supportedInterfaces: [
    { url: `{origin}/${HOSTILE}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: SCRIPT_URL, protocolBinding: MARKUP, protocolVersion: MARKUP },
  ],
  provider: { organization: MARKUP, url: SCRIPT_URL },
  iconUrl: "https://evil.example/icon.png",
  documentationUrl: SCRIPT_URL,
  version: MARKUP,
  capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: SCRIPT_URL, description: MARKUP, params: { [MARKUP]: MARKUP } }] },
  securitySchemes: { [MARKUP]: { apiKeySecurityScheme: { description: MARKUP, location: "header", name: "X-Hostile" } } },
  defaultInputModes: ["text/plain", MARKUP],
  defaultOutputModes: ["text/plain", LONG],
  skills: [
    { id: `${MARKUP}`, name: MARKUP, description: `${MARKUP} ${TURNED}`, tags: [MARKUP, LONG], examples: [MARKUP, LONG, SCRIPT_URL] },
    { id: "long", name: LONG, description: LONG, tags: [TURNED], examples: [TURNED], inputModes: [MARKUP], outputModes: [MARKUP] },
  ],
};

const artifacts = [
  { id: "markup", name: MARKUP, text: MARKUP },
  { id: "markdown", name: TURNED, text: MARKDOWN, media_type: "text/markdown" },
  { id: "html", name: LONG, text: `<!doctype html><script>${RUNS}</script>${MARKUP}`, media_type: "text/html", filename: `../../${MARKUP}.html` },
  { id: "page", name: "page", raw: base64(`<!doctype html><script>${RUNS}</script>`), media_type: "text/html", filename: TURNED },
  { id: "image", name: "image", raw: base64(SVG), media_type: "image/svg+xml", filename: `${LONG}.svg` },
  { id: "strange", name: "strange", raw: base64(MARKUP), media_type: MARKUP, filename: MARKUP },
  { id: "link", name: "link", url: SCRIPT_URL, media_type: "text/html", filename: MARKUP },
  { id: "elsewhere", name: "elsewhere", url: "https://evil.example/pixel.png", media_type: "image/png", filename: "pixel.png" },
  { id: "data", name: "data", data: { [MARKUP]: [MARKUP, LONG, TURNED, SCRIPT_URL], constructor: { prototype: MARKUP }, toString: MARKUP } },
];

/**
 * The variable `AGENTS` with the hostile agent among those of tests/agents. Any message gets all of its artifacts; `ask` gets a hostile question,
 * `fail` fails with a hostile text.
 */
export function hostileAgents(): string {
  const { agents, ...built } = JSON.parse(testAgents) as { agents: { slug: string; executor: object }[] };
  const demo = agents.find(({ slug }) => slug === "demo");
  const rule = (then: object[], when?: object): object => ({ ...(when && { when }), then, follow_up: [] });
  const give = artifacts.map((artifact) => ({ do: "artifact", ...artifact }));
  const rules = [
    rule([{ do: "working", text: MARKUP }, ...give, { do: "complete", text: MARKDOWN }]),
    rule([{ do: "input_required", text: MARKUP }], { text: "ask" }),
    rule([{ do: "working" }, { do: "fail", text: `${MARKUP} ${LONG}` }], { text: "fail" }),
  ];
  const agent = { ...demo, slug: HOSTILE, default: false, card: JSON.stringify(card), executor: { ...demo?.executor, table: { rules } } };
  return JSON.stringify({ ...built, agents: [...agents, agent] });
}

/**
 * Fails if something of an agent's texts ran, or became an element, or leads where no link may lead; and if the page does not show such a text,
 * since then there was nothing to see.
 */
export async function assertHarmless(view: View, shown = MARK): Promise<void> {
  await view.sees(shown);
  await view.until(() => view.page.$$eval("img", (all) => all.every(({ complete }) => complete)), "a picture is neither loaded nor refused");
  const found = await view.page.evaluate(() => {
    const all = [...document.querySelectorAll("*")];
    const tell = (element: Element): string => element.outerHTML.slice(0, 200);
    const protocols = ["http:", "https:", "mailto:", "blob:"];
    const isLocal = (url: string): boolean => ["data:", "blob:"].includes(new URL(url, location.href).protocol) || new URL(url, location.href).origin === location.origin;
    const links = all.filter((element): element is HTMLAnchorElement => element instanceof HTMLAnchorElement && element.hasAttribute("href"));
    const away = links.filter(({ href, origin }) => protocols.slice(0, 2).includes(new URL(href).protocol) && origin !== location.origin);
    return {
      ran: document.documentElement.dataset["hostile"] ?? "",
      elements: all.filter((element) => element.matches(".hostile, [id^=hostile], iframe, object, embed, base, meta[http-equiv=refresh], body style")).map(tell),
      scripts: [...document.scripts].filter(({ src }) => !src.startsWith(`${location.origin}/console/assets/`)).map(tell),
      handlers: all.filter((element) => element.getAttributeNames().some((name) => name.startsWith("on"))).map(tell),
      links: links.filter(({ href }) => !protocols.includes(new URL(href).protocol)).map(tell),
      telling: away.filter(({ relList }) => !relList.contains("noreferrer") || !relList.contains("noopener")).map(tell),
      loading: all.filter((element) => element.matches("[src]") && !isLocal((element as HTMLImageElement).src)).map(tell),
      wide: document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} wide`] : [],
    };
  });
  const nothing = { ran: "", elements: [], scripts: [], handlers: [], links: [], telling: [], loading: [], wide: [] };
  assert.deepEqual(found, nothing, "nothing of the agent's texts ran or became part of the page");
}
