// Appended to the glue of a build (see counted.ts): counts its interactions with the platform.
//
// The functions are hoisted: the glue, which runs first, instantiates the WebAssembly with `CountedInstance`.

function counts() {
  return (globalThis.benchCounts ??= {
    objectRequests: 0,
    webSocketMessages: 0,
    alarms: 0,
    alarmsSet: 0,
    objectRowsWritten: 0,
    statements: 0,
    rowsRead: 0,
    rowsWritten: 0,
    queueSends: 0,
    queueMessages: 0,
    attempts: 0,
    callsIn: 0,
    callsOut: 0,
    bytesCopied: 0,
  });
}

/** Calls `note` with the arguments before each call of a method. */
function before(prototype, name, note) {
  const method = prototype[name];
  if (typeof method !== "function") throw new Error(`there is no ${name} to be counted`);
  prototype[name] = function (...args) {
    note(...args);
    return method.apply(this, args);
  };
}

/** Calls of exports are counted as calls in, calls of imports as calls out. */
function CountedInstance(module, imports) {
  const counted = Object.entries(imports).map(([name, functions]) => [name, countedCalls(functions, () => (counts().callsOut += 1))]);
  const instance = new WebAssembly.Instance(module, Object.fromEntries(counted));
  const exports = countedCalls(instance.exports, () => (counts().callsIn += 1));
  const malloc = exports.__wbindgen_malloc;
  // Strings are copied in through memory that the glue allocates with an alignment of 1; everything else through `set`
  // and `decode`.
  exports.__wbindgen_malloc = (size, align) => {
    if (align === 1) counts().bytesCopied += size;
    return malloc(size, align);
  };
  return { exports };
}

function countedCalls(members, note) {
  const counted = ([name, member]) => {
    if (typeof member !== "function") return [name, member];
    return [name, function (...args) {
      note();
      return member.apply(this, args);
    }];
  };
  return Object.fromEntries(Object.entries(members).map(counted));
}

before(TextDecoder.prototype, "decode", (bytes) => (counts().bytesCopied += bytes?.byteLength ?? 0));
before(Uint8Array.prototype, "set", (source) => (counts().bytesCopied += source.length));

// An attempt to deliver a notification is a request with this header.
before(globalThis, "fetch", (request) => {
  if (request instanceof Request && request.headers.has("webhook-id")) counts().attempts += 1;
});

function countedObject(TaskObject) {
  // All methods except the events of the platform are requests: `fetch`, and the methods that are called by RPC.
  const events = { alarm: "alarms", webSocketMessage: "webSocketMessages", webSocketClose: undefined, webSocketError: undefined };
  for (const name of Object.getOwnPropertyNames(TaskObject.prototype).filter((name) => name !== "constructor")) {
    const counted = name in events ? events[name] : "objectRequests";
    if (counted !== undefined) before(TaskObject.prototype, name, () => (counts()[counted] += 1));
  }
  return new Proxy(TaskObject, {
    construct(target, [context, env], newTarget) {
      countStorage(context.storage);
      countBindings(env);
      return Reflect.construct(target, [context, env], newTarget);
    },
  });
}

function countedFront(front) {
  const { fetch, queue, scheduled } = front;
  return {
    ...front,
    fetch(request, env, ctx) {
      if (new URL(request.url).pathname === "/_bench/counts") {
        countCursors();
        return Response.json(counts());
      }
      countBindings(env);
      return fetch(request, env, ctx);
    },
    queue(batch, env, ctx) {
      countBindings(env);
      // Every receipt of a message by the consumer counts, including repetitions.
      if (!batch.queue.endsWith("-dead")) counts().queueMessages += batch.messages.length;
      return queue(batch, env, ctx);
    },
    scheduled(event, env, ctx) {
      countBindings(env);
      return scheduled(event, env, ctx);
    },
  };
}

var storageIsCounted = false;

/** The cursors of the newest call. A write with RETURNING knows its rows when its results were read, which is before the next call. */
var cursors = [];

function countCursors() {
  for (const cursor of cursors) counts().objectRowsWritten += cursor.rowsWritten;
  cursors = [];
}

function countStorage(storage) {
  if (storageIsCounted) return;
  storageIsCounted = true;
  const sql = Object.getPrototypeOf(storage.sql);
  const exec = sql.exec;
  sql.exec = function (query, ...values) {
    // A cursor reports only the row counts of the last statement, so each statement gets its own cursor. Only triggers contain semicolons;
    // what the step of a schema writes that makes them is not counted. Values belong to the last statement.
    const statements = query.includes("TRIGGER") ? [query] : query.split(";").filter((statement) => statement.trim() !== "");
    countCursors();
    cursors = statements.map((statement, nth) => exec.call(this, statement, ...(nth === statements.length - 1 ? values : [])));
    return cursors.at(-1);
  };
  before(Object.getPrototypeOf(storage), "setAlarm", () => {
    counts().objectRowsWritten += 1;
    counts().alarmsSet += 1;
  });
}

var bindingsAreCounted = false;

function countBindings(env) {
  if (bindingsAreCounted) return;
  bindingsAreCounted = true;
  countDatabase(env.DB);
  const queue = Object.getPrototypeOf(env.WEBHOOKS);
  before(queue, "send", () => (counts().queueSends += 1));
  before(queue, "sendBatch", (messages) => (counts().queueSends += [...messages].length));
}

function countDatabase(database) {
  const note = ({ meta }) => {
    counts().statements += 1;
    counts().rowsRead += meta.rows_read;
    counts().rowsWritten += meta.rows_written;
  };
  const ofDatabase = Object.getPrototypeOf(database);
  const batch = ofDatabase.batch;
  ofDatabase.batch = async function (statements) {
    const results = await batch.call(this, statements);
    results.forEach(note);
    return results;
  };
  const ofStatement = Object.getPrototypeOf(database.prepare("SELECT 1"));
  const all = ofStatement.all;
  ofStatement.run = ofStatement.all = async function () {
    const result = await all.call(this);
    note(result);
    return result;
  };
  // `first` and `raw` do not report their cost, so the same statement is run with `all`.
  ofStatement.first = async function (column) {
    const row = (await this.all()).results[0] ?? null;
    return row === null || column === undefined ? row : row[column];
  };
  ofStatement.raw = async function (options) {
    const { results } = await this.all();
    const names = options?.columnNames === true ? [Object.keys(results[0] ?? {})] : [];
    return [...names, ...results.map((row) => Object.values(row))];
  };
}
