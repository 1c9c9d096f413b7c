// Wraps the module of a build: lists the statements that D1 runs for the Worker, each with the numbers of read and written rows, at `GET
// /_test/statements`, and the ids of the messages that agents have received, at `GET /_test/given`. In development the Worker logs each of
// these messages at the level `debug`. See `notes` in harness.ts.
import handlers from "./index.js";

export * from "./index.js";

const noted = [];
const given = [];

const { debug } = console;
console.debug = (line) => {
  const id = / is given the message ("(?:[^"\\]|\\.)*")$/.exec(line)?.[1];
  if (id !== undefined) given.push(JSON.parse(id));
  debug(line);
};

/** The argument of `prepare` for each statement that has not run yet. */
const texts = new WeakMap();

let isNoting = false;

/** Records the statements of all databases of this isolate: their classes share one prototype each. */
function noteStatements(database) {
  if (isNoting) return;
  isNoting = true;
  const ofDatabase = Object.getPrototypeOf(database);
  const ofStatement = Object.getPrototypeOf(database.prepare("SELECT 1"));
  const { prepare, batch } = ofDatabase;
  const { bind, run, all } = ofStatement;
  const note = (statement, { meta }) => noted.push({ sql: texts.get(statement), rowsRead: meta.rows_read, rowsWritten: meta.rows_written });
  const known = (statement, text) => {
    texts.set(statement, text);
    return statement;
  };
  ofDatabase.prepare = function (text) {
    return known(prepare.call(this, text), text);
  };
  ofStatement.bind = function (...values) {
    return known(bind.apply(this, values), texts.get(this));
  };
  ofDatabase.batch = async function (statements) {
    const results = await batch.call(this, statements);
    results.forEach((result, at) => note(statements[at], result));
    return results;
  };
  for (const [name, method] of Object.entries({ run, all })) {
    ofStatement[name] = async function () {
      const result = await method.call(this);
      note(this, result);
      return result;
    };
  }
}

export default {
  ...handlers,
  fetch(request, env, context) {
    noteStatements(env.DB);
    const { pathname } = new URL(request.url);
    if (pathname === "/_test/statements") return Response.json(noted);
    if (pathname === "/_test/given") return Response.json(given);
    return handlers.fetch(request, env, context);
  },
};
