-- Webhooks in trouble, over all tasks: those that are failing or suspended, or have dead letters. The object of each task writes
-- the rows of its webhooks; one that works, and has no dead letters, has none.
CREATE TABLE webhooks (
  task TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  health INTEGER NOT NULL,
  given_up INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  version INTEGER NOT NULL,
  shown TEXT NOT NULL,
  PRIMARY KEY (task, id)
) WITHOUT ROWID;

-- The list of an owner with an agent, and of an agent for its operators. A row keeps its place while its trouble lasts, so
-- further attempts change no index.
CREATE INDEX webhooks_by_owner ON webhooks (owner, agent, since_ms, task, id);
CREATE INDEX webhooks_by_agent ON webhooks (agent, since_ms, task, id);

-- The rows of a task go with it, whoever deletes it.
CREATE TRIGGER tasks_unlisted_webhooks AFTER DELETE ON tasks
BEGIN
  DELETE FROM webhooks WHERE task = old.id;
END;
