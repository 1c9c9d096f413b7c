// The capabilities that the card declares, compared with the results of a probe (spec §4.4.3, §4.6).
import { UNEXPECTED } from "../../api/problem.ts";
import type { Outcome } from "../probe.ts";
import { advice, error, urlOf, warning, when, type Finding, type Rule, type Subject } from "../found.ts";

/** The extensions that the console supports as a client. */
const KNOWN = /^urn:a2a-edge:(generation|webhooks|timeline):v1$/;

export const capabilities: Rule = (subject) => [...declared(subject), ...extensions(subject), ...probed(subject)];

function declared({ raw, read }: Subject): Finding[] {
  const { capabilities } = read;
  const hasSchemes = Object.keys(read.securitySchemes ?? {}).length > 0;
  return [
    ...when(!("capabilities" in raw), () => error("capabilities", "The card does not say what the agent can do, which the specification requires; SDKs may refuse it.", "Add `capabilities`, even if it is `{}`.")),
    ...when(capabilities?.extendedAgentCard === true && !hasSchemes, () =>
      warning("capabilities.extendedAgentCard", "An extended card is declared, but no security scheme: it is for callers who are known, and nobody can be.", "Declare how callers sign in, or do not declare an extended card.")),
  ];
}

function extensions({ read }: Subject): Finding[] {
  const all = read.capabilities?.extensions ?? [];
  const uris = all.map(({ uri }) => uri);
  return all.flatMap(({ uri, required }, index): Finding[] => {
    const about = `capabilities.extensions[${index}]`;
    return [
      ...when(uri === "", () => error(`${about}.uri`, "The extension has no URI, so no client can tell which it is.", "Name the URI of its specification.")),
      ...when(uri !== "" && urlOf(uri) === undefined, () => warning(`${about}.uri`, `\`${uri}\` is no absolute URI.`, "Use a URI that is yours, as https://example.com/ext/v1 or a urn.")),
      ...when(uris.indexOf(uri) < index, () => warning(about, `The extension \`${uri}\` is listed twice.`, "Take one of them out.")),
      ...when(required === true && !KNOWN.test(uri), () =>
        warning(about, `The extension \`${uri}\` is required: clients that do not know it are refused, and most will not.`, "Require an extension only if nothing works without it.")),
    ];
  });
}

/** Differences between the agent's answers and its card. */
function probed({ read, outcome, isLocal }: Subject): Finding[] {
  const { streaming, pushNotifications, extendedAgentCard } = read.capabilities ?? {};
  const reached = outcome("GetTask");
  if (reached === undefined) return [];
  if (reached.status === 0 || reached.reason === UNEXPECTED) return [error("supportedInterfaces[0].url", `The agent does not answer there: ${reached.message}`, "Check the URL, and whether the agent runs.")];
  if (reached.reason === "INTERNAL_ERROR" || reached.code === -32603) {
    const fix = isLocal ? "The log of the Worker says why: often a secret or a setting is not there." : "Tell those who run the agent.";
    return [error("", `The agent answers that it has failed: ${reached.message}`, fix)];
  }
  const stream = outcome("SubscribeToTask");
  const push = outcome("ListTaskPushNotificationConfigs");
  const extended = outcome("GetExtendedAgentCard");
  const isUndeclared = Object.keys(read.securitySchemes ?? {}).length === 0;
  return [
    ...when(streaming === true && isUnsupported(stream), () => error("capabilities.streaming", "Streaming is declared, but refused.", "Let the agent stream, or do not declare it.")),
    ...when(streaming !== true && isNotFound(stream), () => advice("capabilities.streaming", "Streaming is not declared, but the agent knows it: no client will use it.", "Declare it.")),
    ...when(pushNotifications === true && isUnsupported(push), () => error("capabilities.pushNotifications", "Webhooks are declared, but refused.", "Let the agent take webhooks, or do not declare them.")),
    ...when(pushNotifications !== true && (isNotFound(push) || push?.isOk === true), () => advice("capabilities.pushNotifications", "Webhooks are not declared, but the agent knows them: no client will use them.", "Declare them.")),
    ...when(extendedAgentCard === true && isUnsupported(extended), () => error("capabilities.extendedAgentCard", "An extended card is declared, but refused.", "Serve it, or do not declare it.")),
    ...when(isUndeclared && isRefused(reached), () => error("securitySchemes", "The agent wants credentials, but its card declares none: clients do not know what to send.", "Declare the security schemes and requirements.")),
  ];
}

function isUnsupported(outcome: Outcome | undefined): boolean {
  const reasons = ["UNSUPPORTED_OPERATION", "PUSH_NOTIFICATION_NOT_SUPPORTED", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"];
  return outcome !== undefined && (reasons.includes(outcome.reason ?? "") || [-32601, -32003, -32004, -32007].includes(outcome.code ?? 0));
}

function isNotFound(outcome: Outcome | undefined): boolean {
  return outcome?.reason === "TASK_NOT_FOUND" || outcome?.code === -32001;
}

function isRefused(outcome: Outcome): boolean {
  return outcome.status === 401 || outcome.status === 403;
}
