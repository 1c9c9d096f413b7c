-- What was fetched from other servers, as key sets of identity providers, and until when nobody needs to fetch it anew. It
-- is read by its key once per instance of the Worker.
CREATE TABLE remembered (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  fetched_ms INTEGER NOT NULL,
  fresh_until_ms INTEGER NOT NULL
) WITHOUT ROWID;
