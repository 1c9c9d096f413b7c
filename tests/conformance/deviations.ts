// Where the kit for A2A 0.3 wants what the specification does not, or what no server on the machine of the kit can have. Each
// test here is expected to fail, and one that passes is a mistake in this list.
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

/** Those of the kit for 0.3. */
export const OLDER: Deviation[] = [
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
    test: "tests.optional.capabilities.test_push_notification_config_methods.test_get_push_notification_config",
    kit: "registers a webhook without an id and asks for the one with the id `default`",
    here: "-32001: no webhook has this id; one without an id gets that of its task, and a get without an id finds it (A2A 0.3 §7.6)",
  },
  {
    test: "tests.optional.capabilities.test_transport_security.test_https_url_in_agent_card",
    kit: "wants `https` in the card, and says itself that no local server has it",
    here: "the Worker under test is reached by `http`",
  },
];

/** The failed tests that no deviation explains, and the deviations whose test did not fail. */
export function unexpected(tests: Test[], deviations: Deviation[]): { failed: Test[]; notFailed: Deviation[] } {
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  return {
    failed: failed.filter(({ id }) => deviations.every(({ test }) => test !== id)),
    notFailed: deviations.filter(({ test }) => failed.every(({ id }) => id !== test)),
  };
}
