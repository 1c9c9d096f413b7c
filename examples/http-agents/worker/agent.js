export default {
  async fetch(request) {
    const turn = await request.json();
    const said = turn.message.parts.map((part) => part.text ?? "").join(" ");
    return new Response(ReadableStream.from(lines(answer(said, turn))), { headers: { "content-type": "application/x-ndjson" } });
  },
};

/** Yields the verbs that answer a turn. */
async function* answer(said, turn) {
  yield { do: "working", text: "counting" };
  const words = said.split(/\s+/).filter(Boolean);
  if (words.length === 0) return yield { do: "reject", text: "nothing to count" };
  yield { do: "artifact", id: "words", data: { count: words.length, caller: turn.caller.id } };
  yield { do: "complete", text: `${words.length} words` };
}

async function* lines(verbs) {
  for await (const verb of verbs) yield new TextEncoder().encode(`${JSON.stringify(verb)}\n`);
}
