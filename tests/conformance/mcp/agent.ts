// The agent that plays the fixtures of the MCP conformance kit, as far as agents can: each tool is a skill, which is called by its id.

import { agentsWith } from "../agents.ts";

/** A red dot and a moment of silence. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const done = { do: "complete" };
const text = (said: string): object => ({ do: "artifact", id: "text", text: said });
const raw = (bytes: string, media_type: string, id = "raw"): object => ({ do: "artifact", id, raw: bytes, media_type });
const link = raw(Buffer.from('{"test":"data","value":123}').toString("base64"), "application/json", "resource");
const asks = (question: string): object[] => [{ do: "input_required", text: question }];

/** What each skill does. */
const SKILLS: Record<string, { then: object[]; follow_up?: object[] }> = {
  test_simple_text: { then: [text("This is a simple text response for testing."), done] },
  test_image_content: { then: [raw(PNG, "image/png"), done] },
  test_audio_content: { then: [raw(WAV, "audio/wav"), done] },
  test_embedded_resource: { then: [link, done] },
  test_multiple_content_types: { then: [text("Multiple content types test:"), raw(PNG, "image/png"), link, done] },
  test_error_handling: { then: [{ do: "fail", text: "This tool intentionally returns an error for testing" }] },
  test_tool_with_progress: { then: [{ do: "working", text: "0" }, { do: "wait", ms: 300 }, { do: "working", text: "50" }, { do: "wait", ms: 300 },
    { do: "working", text: "100" }, { do: "wait", ms: 300 }, text("done"), done] },
  test_input_required_result_elicitation: { then: asks("What is your name?"), follow_up: [{ then: [text("Hello, {text}!"), done] }] },
  test_input_required_result_tampered_state: { then: asks("Sure?"), follow_up: [{ then: [text("done"), done] }] },
  test_input_required_result_capabilities: { then: asks("Which?") },
  test_streaming_elicitation: { then: [{ do: "working", text: "begun" }, ...asks("What is your name?")], follow_up: [{ then: [text("Hello, {text}!"), done] }] },
  greet: { then: [text("Hello, World!"), done] },
  test_elicitation: { then: asks("What is your name?"), follow_up: [{ then: [text("Hello, {text}!"), done] }] },
  slow_compute: { then: [{ do: "working" }, { do: "wait", ms: 2_500 }, text("42"), done] },
  failing_job: { then: [{ do: "working" }, { do: "wait", ms: 1_500 }, { do: "fail", text: "the job failed" }] },
  confirm_delete: { then: [{ do: "working" }, { do: "wait", ms: 1_500 }, ...asks("Delete it?")], follow_up: [{ then: [text("deleted"), done] }] },
};

/** The variable `AGENTS` with that agent alone, at `/kit`. */
export function kitAgents(): string {
  const skills = Object.keys(SKILLS).map((id) => ({ id, name: id, description: `The fixture ${id} of the kit.`, tags: ["kit"] }));
  const rules = Object.entries(SKILLS).map(([id, script]) => ({ when: { text: id }, ...script }));
  const executor = { kind: "script", table: { rules: [...rules, { then: [{ do: "reject", text: "there is no such fixture" }] }] }, run: {} };
  return agentsWith({ slug: "kit", card: { skills }, executor, more: { mcp: { tools: "skills" } } });
}
