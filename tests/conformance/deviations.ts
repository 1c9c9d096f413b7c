// Where the kit wants what the specification does not, or what no server on the machine of the kit can have. Each test here is expected to
// fail, and one that passes is a mistake in this list.
import type { Test } from "./page.ts";

/** A test that this server does not pass, and why. */
export interface Deviation {
  /** The id of the test, as JUnit has it. */
  test: string;
  /** What the kit does or wants. */
  kit: string;
  /** What the server does, and why. */
  here: string;
}

/** Those of the kit for 1.0 with the default card. */
export const NEWER: Deviation[] = [
  {
    test: "tests.compatibility.agent_card.test_agent_card.TestAgentCardStructure.test_agent_card_validates_against_schema",
    kit: "checks the card against a JSON schema of 1.0 that allows no further members (`additionalProperties: false`)",
    here: "a card that is asked for without a version also has the members that clients of 0.3 need, `url` and `protocolVersion` among them: they name no version, while clients of 1.0 pass over members that they do not know",
  },
];

/** Those of the kit for 0.3 over both transports. */
const OLDER: Deviation[] = [
  {
    test: "tests.mandatory.jsonrpc.test_a2a_error_codes_enhanced.test_push_notification_not_supported_error_32003_enhanced",
    kit: "looks for the capability in the JSON-RPC response around the card instead of the card, finds none, and wants a webhook refused",
    here: "the webhook is taken: the card declares `pushNotifications`",
  },
  {
    test: "tests.mandatory.quality.test_error_validation_enhanced.test_invalid_method_error_validation",
    kit: "sends a whole request, an object, as the `method` of another one, and wants -32601",
    here: "-32600: JSON-RPC 2.0 §4 wants a string there, so this is no request; a string that names no method gets -32601",
  },
  {
    test: "tests.mandatory.security.test_agent_card_security.test_public_agent_card_access_control",
    kit: "gets the card by GET from its own `url`",
    here: "calls are posted to `url`, and a GET there is refused with 405; the card is at `/.well-known/agent-card.json` (A2A 0.3 §5.3)",
  },
  {
    test: "tests.mandatory.security.test_agent_card_security.test_sensitive_information_protection",
    kit: "forbids `127.0.0.1` anywhere in the card, and words as `secret` and `test`",
    here: "the Worker under test runs there, and its card says where; of the words, one is in the sentence about an extension, one is a tag",
  },
  {
    test: "tests.mandatory.transport.test_multi_transport_equivalence.test_agent_card_access_equivalence",
    kit: "wants the extended card, whether or not the card says that there is one",
    here: "refused: the agent asks for no credentials, so it has none, and its card does not say `supportsAuthenticatedExtendedCard`",
  },
  {
    test: "tests.optional.capabilities.test_transport_security.test_https_url_in_agent_card",
    kit: "wants `https` in the card, and says itself that no local server has it",
    here: "the Worker under test is reached by `http`",
  },
];

/** Those of the kit for 0.3, by the name that the kit has for the transport. */
export const OLDER_BY_TRANSPORT: Record<string, Deviation[]> = {
  jsonrpc: [
    ...OLDER,
    {
      test: "tests.optional.capabilities.test_push_notification_config_methods.test_get_push_notification_config",
      kit: "registers a webhook without an id and asks for the one with the id `default`",
      here: "-32001: no webhook has this id; one without an id gets that of its task, and a get without an id finds it (A2A 0.3 §7.6)",
    },
  ],
  rest: [
    ...OLDER,
    {
      test: "tests.mandatory.jsonrpc.test_a2a_error_codes.test_push_notification_not_supported_error_32003",
      kit: "looks for the capability in the extended card, of which the card says that there is none, and wants a webhook refused",
      here: "the webhook is taken: the card declares `pushNotifications`",
    },
    {
      test: "tests.mandatory.protocol.test_a2a_v030_new_methods.TestTasksList.test_tasks_list_with_existing_tasks",
      kit: "gives a text to a function of its own that takes a message, and fails before anything is sent",
      here: "nothing is asked",
    },
    {
      test: "tests.optional.capabilities.test_message_send_capabilities.test_message_send_continue_with_contextid",
      kit: "reads `context_id` in the answer, finds none, and continues the task with a context of its own making",
      here: "-32602: the task belongs to another context. The answer says `contextId`, as JSON of protocol buffers is written, and as the SDKs of 0.3 read it",
    },
  ],
};

/** The deviations whose test did fail. */
export function shownDeviations(tests: Test[], deviations: Deviation[]): Deviation[] {
  const { notFailed } = unexpected(tests, deviations);
  return deviations.filter((one) => !notFailed.includes(one));
}

/** The failed tests that no deviation explains, and the deviations whose test did not fail. */
export function unexpected(tests: Test[], deviations: Deviation[]): { failed: Test[]; notFailed: Deviation[] } {
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  return {
    failed: failed.filter(({ id }) => deviations.every(({ test }) => test !== id)),
    notFailed: deviations.filter(({ test }) => failed.every(({ id }) => id !== test)),
  };
}
