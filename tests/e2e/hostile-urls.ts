// URLs of webhooks, hostile and good, in every notation. The table is JSON because the unit tests of the guard read it,
// too: they judge the parsed form of each URL (`parsed`), the specs send each URL unchanged (`url`).

import { readFileSync } from "node:fs";

/** A URL of the table. */
export interface WebhookUrl {
  url: string;
  /** The normal form of the URL by the WHATWG URL standard; null if the parser refuses the URL. */
  parsed: string | null;
  /** A description. */
  why: string;
}

const table = JSON.parse(readFileSync(new URL("webhook-urls.json", import.meta.url), "utf8")) as Record<"hostile" | "good", WebhookUrl[]>;

const overlong = `https://hooks.example.com/${"a".repeat(2048)}`;

/** URLs that no webhook may have. */
export const hostile: WebhookUrl[] = [...table.hostile, { url: overlong, parsed: overlong, why: "overlong" }];

/** URLs that webhooks may have. */
export const good: WebhookUrl[] = table.good;
