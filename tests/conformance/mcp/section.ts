// The section of docs/conformance.md about the kit of MCP for clients. Pure: texts in, text out.
import { table } from "../page.ts";

/** A scenario of the kit, as its summary tells. */
export interface Scenario {
  name: string;
  passed: number;
  failed: number;
}

/** What the kit says of the client in one revision. */
export interface Outcome {
  revision: string;
  scenarios: Scenario[];
}

/** The scenarios in the summary that the kit prints at its end. */
export function scenariosIn(text: string): Scenario[] {
  const [, summary = ""] = text.split("=== SUITE SUMMARY ===");
  const lines = summary.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return [...lines].map(([, name = "", passed, failed]) => ({ name, passed: Number(passed), failed: Number(failed) }));
}

/** Whether a scenario is about what the client does not do: find an authorization server by itself, and send its user there. */
export function isLeftOut({ name }: Scenario): boolean {
  return name.startsWith("auth/");
}

/** Why those are left out. */
export const AUTHORIZATION = "it wants a client that finds an authorization server by itself, registers there, and sends its user to a page for consent; a Worker has no user at hand";

/** What is wrong with an outcome: scenarios that fail, or pass though they are said to be left out; none at all. */
export function unexpected({ revision, scenarios }: Outcome): string[] {
  const wrong = scenarios.filter((one) => (one.failed > 0) !== isLeftOut(one));
  const told = wrong.map(({ name, passed, failed }) => `${revision} ${name}: ${passed} passed, ${failed} failed`);
  return scenarios.some((one) => !isLeftOut(one)) ? told : [...told, `${revision}: the kit told of no scenario`];
}

/** The section. */
export function section(kit: string, date: string, outcomes: Outcome[]): string {
  const rows = outcomes.flatMap(({ revision, scenarios }) => {
    const shown = scenarios.filter((one) => !isLeftOut(one));
    return shown.map(({ name, passed, failed }) => [revision, name, passed, failed]);
  });
  const left = outcomes.map(({ revision, scenarios }) => `${scenarios.filter(isLeftOut).length} of ${revision}`);
  return `## MCP: the client

What the official conformance kit of MCP says of the client in \`crates/mcp\`. A small program (\`crates/mcp/tests/conform/\`) lists the tools of each
scenario's server and calls them; \`npm run conformance:mcp\` runs the scenarios and writes this section.

| | |
|---|---|
| kit | \`@modelcontextprotocol/conformance\` ${kit} |
| run on | ${date} |

${table(["revision", "scenario", "checks passed", "failed"], rows)}

Left out, and expected to fail: the scenarios \`auth/*\` (${left.join(", ")}). They want a client that finds the authorization server of an MCP
server by itself, registers there, and sends its user to a page for consent. A Worker has no user at hand: it is given a token, a key, or
client credentials with the URL of their token endpoint, and says what the server's \`WWW-Authenticate\` wants where these do not suffice.

The kit does not try: tasks, cancellation, paging, URLs that a user has to visit, lost sessions. These are tried against servers in memory
(\`crates/mcp/tests/\`), the reference server and the official SDK (\`mcp-native\`).
`;
}
