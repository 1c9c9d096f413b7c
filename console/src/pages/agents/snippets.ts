// Code for calling an agent. Pure. Texts of a card are quoted in each language, since they may contain anything.
import type { AgentCard, AgentInterface } from "../../api/types.ts";
import { javascriptProgram, pythonProgram } from "../../parts/programs.ts";
import { quoted } from "../../parts/words.ts";
import { waysOf, type Scheme } from "../../session/schemes.ts";

/** Code in one language. */
export interface Snippet {
  title: string;
  code: string;
}

/** The environment variable with the secret of the first scheme, the second, and so on. */
const variable = (index: number): string => (index === 0 ? "A2A_SECRET" : `A2A_SECRET_${index + 1}`);

/** The snippets for an agent whose card was found at this URL; empty if the console supports none of its interfaces. */
export function snippetsFor(card: AgentCard, foundAt: string, text: string): Snippet[] {
  const schemes = waysOf(card).find((way) => way.schemes.every(({ slot }) => slot !== undefined))?.schemes ?? [];
  const chosen = chosenOf(card);
  return [
    ...(chosen === undefined ? [] : [{ title: "curl", code: curl(chosen, text, schemes, false) }]),
    ...(chosen === undefined || card.capabilities?.streaming !== true ? [] : [{ title: "curl, streaming", code: curl(chosen, text, schemes, true) }]),
    { title: "JavaScript", code: javaScript(foundAt, text, schemes) },
    { title: "Python", code: python(foundAt, text, schemes) },
  ];
}

/** The interface for curl: the first of 1.0, or else the first of 0.3, among those with JSON. */
function chosenOf({ supportedInterfaces: all }: AgentCard): AgentInterface | undefined {
  const spoken = all.filter(({ protocolBinding }) => protocolBinding === "JSONRPC" || protocolBinding === "HTTP+JSON");
  return spoken.find(({ protocolVersion }) => protocolVersion?.startsWith("1.") === true) ?? spoken[0];
}

function curl({ url, protocolBinding, protocolVersion, tenant }: AgentInterface, text: string, schemes: Scheme[], isStream: boolean): string {
  const isNew = protocolVersion?.startsWith("1.") === true;
  const message = isNew
    ? { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] }
    : { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text }] };
  const params = { ...(tenant === undefined ? {} : { tenant }), message };
  const method = isNew ? (isStream ? "SendStreamingMessage" : "SendMessage") : isStream ? "message/stream" : "message/send";
  const isRpc = protocolBinding === "JSONRPC";
  const body = isRpc ? { jsonrpc: "2.0", id: 1, method, params } : params;
  const base = url.replace(/\/$/, "");
  const path = isRpc ? url : `${base}${isNew ? "" : "/v1"}/message:${isStream ? "stream" : "send"}`;
  const query = schemes.flatMap(({ slot }, at) => (slot?.in === "query" ? [{ name: encodeURIComponent(slot.name), secret: variable(at) }] : []));
  const secretUrl = query.reduce((url, { name, secret }, at) => `${url}${quoted(`${at > 0 || path.includes("?") ? "&" : "?"}${name}=`)}"$${secret}"`, quoted(path));
  const lines = [
    `curl ${isStream ? "-N" : "-s"} ${secretUrl}`,
    `-H 'Content-Type: application/json'`,
    ...(isNew ? [`-H 'A2A-Version: ${/^[\d.]+$/.test(protocolVersion ?? "") ? protocolVersion : "1.0"}'`] : []),
    ...headersOf(schemes).map(({ name, before, secret }) => `-H ${quoted(`${name}: ${before}`)}"$${secret}"`),
    `-d ${quoted(JSON.stringify(body))}`,
  ];
  return lines.join(" \\\n  ");
}

function javaScript(foundAt: string, text: string, schemes: Scheme[]): string {
  const { base, path } = split(foundAt);
  const headers = headersOf(schemes).map(({ name, before, secret }) => `${JSON.stringify(name)}: ${before === "" ? "" : `${JSON.stringify(before)} + `}process.env.${secret}`);
  const request = `{ message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: ${JSON.stringify(text)} }] } }`;
  return javascriptProgram({ base, card: path, type: "SendMessageRequest", method: "sendMessage", request, isMany: false, isStream: false, headers });
}

function python(foundAt: string, text: string, schemes: Scheme[]): string {
  const { base, path } = split(foundAt);
  const headers = headersOf(schemes).map(({ name, before, secret }) => `${JSON.stringify(name)}: ${before === "" ? "" : `${JSON.stringify(before)} + `}os.environ["${secret}"]`);
  const request = `{"message": {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": ${JSON.stringify(text)}}]}}`;
  return pythonProgram({ base, card: path, type: "SendMessageRequest", method: "send_message", request, isMany: true, isStream: false, headers });
}

/** The headers with secrets, each with the text before the secret. */
function headersOf(schemes: Scheme[]): { name: string; before: string; secret: string }[] {
  return schemes.flatMap(({ slot }, at) => {
    if (slot?.in === "header") return [{ name: slot.name, before: "", secret: variable(at) }];
    return slot?.in === "authorization" ? [{ name: "Authorization", before: `${slot.scheme} `, secret: variable(at) }] : [];
  });
}

/** The URL of a card in the form for SDKs: a base that ends with a slash, and the path below. */
function split(foundAt: string): { base: string; path: string } {
  const [, base = foundAt, path = ""] = /^(.*\/)(\.well-known\/[^?#]*|[^/]*)$/.exec(foundAt) ?? [];
  return { base, path };
}
