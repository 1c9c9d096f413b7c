// The interfaces of the agent (spec §4.4.6, §5, §8.3).
import type { AgentInterface } from "../../api/types.ts";
import { advice, error, isLoopback, isPrivate, urlOf, warning, when, type Finding, type Rule, type Subject } from "../found.ts";

const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"];

const BEHIND_PROXY = "Set PUBLIC_URL to the address that clients use, or let the proxy pass the host on.";

export const interfaces: Rule = (subject) => {
  const { supportedInterfaces: all } = subject.read;
  if (all.length === 0) return [error("supportedInterfaces", "The card names no interface: nobody can call the agent.", "List at least one interface with its URL, binding and version.")];
  return [...all.flatMap((one, index) => single(subject, one, `supportedInterfaces[${index}]`)), ...among(subject, all), ...older(subject, all)];
};

function single(subject: Subject, { url, protocolBinding: binding, protocolVersion: version }: AgentInterface, about: string): Finding[] {
  return [
    ...address(subject, url, binding, `${about}.url`),
    ...when(binding === "", () => error(`${about}.protocolBinding`, "The interface does not say its binding, so clients cannot choose it.", `Say one of ${BINDINGS.join(", ")}, or the URI of a binding of your own.`)),
    ...when(binding !== "" && !BINDINGS.includes(binding) && urlOf(binding) === undefined, () => unknownBinding(binding, about)),
    ...when(version === undefined, () => error(`${about}.protocolVersion`, "The interface does not say which version of A2A it speaks: clients take it for 0.3, or pass over it.", 'Say "1.0".')),
    ...when(version !== undefined && !/^(0\.\d+|1\.\d+)$/.test(version), () => badVersion(version ?? "", about)),
    ...when(version === "1.0" ? false : /^1\.\d+$/.test(version ?? ""), () =>
      warning(`${about}.protocolVersion`, `\`${version}\` is a version of A2A that this console does not know.`, "Make sure that clients of 1.0 find an interface, too.")),
  ];
}

function unknownBinding(binding: string, about: string): Finding {
  const meant = BINDINGS.find((known) => known.replace(/\W/g, "") === binding.toUpperCase().replace(/\W/g, ""));
  const fix = meant === undefined ? `Use one of ${BINDINGS.join(", ")}, or the URI of a binding of your own.` : `Write \`${meant}\`.`;
  return error(`${about}.protocolBinding`, `\`${binding}\` is no binding of A2A, so clients pass over the interface.`, fix);
}

function badVersion(version: string, about: string): Finding {
  const short = /^\d+\.\d+/.exec(version)?.[0];
  const isPatch = short !== undefined && /^[01]\.\d+\.\d+$/.test(version);
  return isPatch
    ? warning(`${about}.protocolVersion`, `\`${version}\` has a patch number: clients that compare texts do not take it for ${short}.`, `Write \`${short}\`.`)
    : error(`${about}.protocolVersion`, `\`${version}\` is no version of A2A, so clients pass over the interface.`, 'Write major and minor alone, as "1.0".');
}

function address({ at, isLocal }: Subject, text: string, binding: string, about: string): Finding[] {
  if (text === "") return [error(about, "The interface has no URL.", "Give the absolute URL at which the agent is called.")];
  const url = urlOf(text);
  if (binding === "GRPC" && (url === undefined || !/^https?:$/.test(url.protocol))) return [];
  if (url === undefined) return [error(about, `\`${text}\` is no absolute URL: clients do not know which host is meant.`, "Write the whole URL, with https:// and the host.")];
  if (!["http:", "https:"].includes(url.protocol) && BINDINGS.includes(binding)) return [error(about, `\`${text}\` is no http or https URL.`, "Write an https URL.")];
  const isPlain = url.protocol === "http:";
  const fix = isLocal ? BEHIND_PROXY : "Behind a proxy, configure the address that clients use.";
  return [
    ...when(url.username !== "" || url.password !== "", () => error(about, "The URL has a name or a password in it, which everybody can read in the card.", "Take it out, change the password, and declare a security scheme.")),
    ...when(url.hash !== "", () => warning(about, "The URL has a part behind `#`, which is never sent.", "Take it out.")),
    ...when(isPlain && at?.protocol === "https:", () =>
      error(about, "The card was found by https, and this interface is called by http: browsers refuse to, other clients send their keys for everybody on the way to read.", fix)),
    ...when(isPlain && at?.protocol === "http:" && !isLoopback(url.hostname), () => warning(about, "The interface is called by http: anybody on the way reads keys and messages.", "Serve it by https, which the specification asks for in production.")),
    ...host(url, at, isLocal, about, fix),
  ];
}

function host(url: URL, at: URL | undefined, isLocal: boolean, about: string, fix: string): Finding[] {
  if (at === undefined || url.host === at.host || (isLoopback(url.hostname) && isLoopback(at.hostname) && url.port === at.port)) return [];
  if (isPrivate(url) && !isPrivate(at)) return [error(about, `The card was found at ${at.host}, and names ${url.host}, which clients elsewhere cannot reach.`, fix)];
  if (!isLocal) return [advice(about, `The card was found at ${at.host}, and the agent is called at ${url.host}.`, "That is right if the agent is meant to be there. Behind a proxy it may be the wrong address.")];
  return [warning(about, `The card was found at ${at.host}, and names ${url.host}.`, "That is right if clients use that address and you came here by another one. Else set PUBLIC_URL to the address that clients use.")];
}

function among({ read }: Subject, all: AgentInterface[]): Finding[] {
  const keys = all.map(({ url, protocolBinding, protocolVersion, tenant }) => JSON.stringify([url, protocolBinding, protocolVersion, tenant]));
  const doubled = keys.flatMap((key, index) => (keys.indexOf(key) < index ? [index] : []));
  const isNew = ({ protocolVersion }: AgentInterface) => /^1\./.test(protocolVersion ?? "");
  const late = all.findIndex((one, index) => isNew(one) && all.slice(0, index).some((other) => other.protocolBinding === one.protocolBinding && !isNew(other)));
  return [
    ...doubled.map((index) => warning(`supportedInterfaces[${index}]`, "The interface is listed twice.", "Take one of them out.")),
    ...when(late !== -1, () => warning(`supportedInterfaces[${late}]`, "An interface of an older version comes before this one with the same binding: clients take the first that they know.", "List interfaces of 1.0 first.")),
    ...when(all.every(({ protocolBinding }) => protocolBinding === "GRPC"), () =>
      advice("supportedInterfaces", "The agent is called by gRPC alone, which browsers and many platforms do not speak.", "Offer JSONRPC or HTTP+JSON, too.")),
    ...when(read.capabilities?.streaming === true && all.every(({ protocolBinding }) => !BINDINGS.includes(protocolBinding)), () =>
      warning("capabilities.streaming", "Streaming is declared, but no interface has a binding of the specification that streams.", "Offer JSONRPC, HTTP+JSON or GRPC, or do not declare it.")),
  ];
}

/** Problems for clients of other versions. */
function older({ read, served, isLocal }: Subject, all: AgentInterface[]): Finding[] {
  const versions = all.map(({ protocolVersion }) => protocolVersion ?? "");
  const [hasNew, hasOld] = [versions.some((version) => /^1\./.test(version)), versions.some((version) => /^0\./.test(version))];
  const url = served["url"];
  const isUnlisted = typeof url === "string" && "supportedInterfaces" in served && !read.supportedInterfaces.some((one) => one.url === url);
  const version = served["protocolVersion"];
  return [
    ...when(hasNew && !hasOld, () =>
      advice("supportedInterfaces", "There is no interface of 0.3, so clients from before A2A 1.0 cannot call the agent.",
        isLocal ? "Set `enabled = true` in `[dialects.v0_3]` of the agent file if such clients matter." : "Offer one if such clients matter.")),
    ...when(!hasNew && hasOld && "supportedInterfaces" in served, () => warning("supportedInterfaces", "There is no interface of 1.0, so clients of today cannot call the agent.", "Offer one of 1.0.")),
    ...when(isUnlisted, () => warning("url", `Older clients are sent to \`${String(url)}\`, which is none of the interfaces.`, "Let `url` be that of the first interface of 0.3.")),
    ...when(typeof version === "string" && hasNew && /^1\b/.test(version), () => warning("protocolVersion", "The card says `protocolVersion` 1 beside its interfaces: that member is read by older clients, as the version of `url`.", "Leave it out, or write the version of 0.3 that `url` speaks.")),
  ];
}
