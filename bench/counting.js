// Is put behind the glue of a build (see costs.ts) and counts what goes on between it and the platform.
//
// The functions are hoisted: the glue, which runs first, instantiates the WebAssembly by `CountedInstance`.

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
    queueMessages: 0,
    attempts: 0,
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

/** Strings come in through memory that the glue asks for, of one byte each; everything else through `set` and `decode`. */
function CountedInstance(module, imports) {
  const { exports } = new WebAssembly.Instance(module, imports);
  const malloc = (size, align) => {
    if (align === 1) counts().bytesCopied += size;
    return exports.__wbindgen_malloc(size, align);
  };
  return { exports: { ...exports, __wbindgen_malloc: malloc } };
}

before(TextDecoder.prototype, "decode", (bytes) => (counts().bytesCopied += bytes?.byteLength ?? 0));
before(Uint8Array.prototype, "set", (source) => (counts().bytesCopied += source.length));

// An attempt to deliver a notification is a request with its id.
before(globalThis, "fetch", (request) => {
  if (request instanceof Request && request.headers.has("webhook-id")) counts().attempts += 1;
});

function countedObject(TaskObject) {
  before(TaskObject.prototype, "fetch", () => (counts().objectRequests += 1));
  before(TaskObject.prototype, "alarm", () => (counts().alarms += 1));
  before(TaskObject.prototype, "webSocketMessage", () => (counts().webSocketMessages += 1));
  return new Proxy(TaskObject, {
    construct(target, [context, env], newTarget) {
      countStorage(context.storage);
      countDatabase(env.DB);
      return Reflect.construct(target, [context, env], newTarget);
    },
  });
}

function countedFront(front) {
  const { fetch, queue } = front;
  return {
    ...front,
    fetch(request, env, ctx) {
      if (new URL(request.url).pathname === "/_bench/counts") return Response.json(counts());
      countDatabase(env.DB);
      return fetch(request, env, ctx);
    },
    queue(batch, env, ctx) {
      // Each time that the consumer is given a message, be it for the first time or again.
      if (!batch.queue.endsWith("-dead")) counts().queueMessages += batch.messages.length;
      return queue(batch, env, ctx);
    },
  };
}

var storageIsCounted = false;

function countStorage(storage) {
  if (storageIsCounted) return;
  storageIsCounted = true;
  const sql = Object.getPrototypeOf(storage.sql);
  const exec = sql.exec;
  sql.exec = function (query, ...values) {
    // A cursor tells only of the last statement, so each gets its own. No statement here holds a semicolon.
    const statements = query.split(";").filter((statement) => statement.trim() !== "");
    const cursors = statements.map((statement) => exec.call(this, statement, ...values));
    // Nothing is written with RETURNING, so what was written is known by now.
    for (const cursor of cursors) counts().objectRowsWritten += cursor.rowsWritten;
    return cursors.at(-1);
  };
  before(Object.getPrototypeOf(storage), "setAlarm", () => {
    counts().objectRowsWritten += 1;
    counts().alarmsSet += 1;
  });
}

var databaseIsCounted = false;

function countDatabase(database) {
  if (databaseIsCounted) return;
  databaseIsCounted = true;
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
  // `first` tells nothing about its cost, so the same statement is carried out by `all`.
  ofStatement.first = async function (column) {
    const row = (await this.all()).results[0] ?? null;
    return row === null || column === undefined ? row : row[column];
  };
}
