import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answer(turn):
    """The verbs that answer a turn: a question in the first one, a poem in the second."""
    said = " ".join(part["text"] for part in turn["message"]["parts"] if "text" in part)
    if turn["turn"] == 1:
        yield {"do": "input_required", "text": f"A poem about {said}. For whom?"}
        return
    yield {"do": "working", "text": "looking for rhymes"}
    yield {"do": "artifact", "text": "Roses are red,\n", "more": True}
    yield {"do": "append", "text": f"and this is for {said}.\n"}
    yield {"do": "complete"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        turn = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        for verb in answer(turn):
            self.wfile.write(json.dumps(verb).encode() + b"\n")


ThreadingHTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
