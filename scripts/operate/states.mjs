// The words for states and health, each with its tone: of the console, and of the commands for operators (scripts/operate/).

/** The states of a task, in the order of the protocol. */
export const TASK_STATES = {
  TASK_STATE_SUBMITTED: { word: "Submitted", tone: "idle" },
  TASK_STATE_WORKING: { word: "Working", tone: "busy" },
  TASK_STATE_COMPLETED: { word: "Completed", tone: "good" },
  TASK_STATE_FAILED: { word: "Failed", tone: "bad" },
  TASK_STATE_CANCELED: { word: "Canceled", tone: "idle" },
  TASK_STATE_REJECTED: { word: "Rejected", tone: "bad" },
  TASK_STATE_INPUT_REQUIRED: { word: "Input required", tone: "wait" },
  TASK_STATE_AUTH_REQUIRED: { word: "Authentication required", tone: "wait" },
};

/** The health of an agent (docs/console.md, "The health of an agent"). */
export const AGENT_HEALTH = {
  ok: { word: "Ready", tone: "good" },
  partial: { word: "Partly ready", tone: "wait" },
  misconfigured: { word: "Misconfigured", tone: "bad" },
  down: { word: "Not running", tone: "bad" },
  silent: { word: "No answer", tone: "wait" },
  unbound: { word: "Binding missing", tone: "bad" },
  unasked: { word: "Not checked", tone: "idle" },
};

/** The health of a webhook. */
export const WEBHOOK_HEALTH = {
  active: { word: "Working", tone: "good" },
  failing: { word: "Failing", tone: "wait" },
  suspended: { word: "Suspended", tone: "bad" },
};
