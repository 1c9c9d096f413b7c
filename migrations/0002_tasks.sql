-- The index of tasks, for listing: what each task's object has projected. The truth about a task is in its object.
--
-- The table itself is in the order of a listing, so that a page is one range of it.
CREATE TABLE tasks (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  status_ms INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  context_id TEXT NOT NULL,
  state INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  head TEXT NOT NULL,
  history TEXT NOT NULL,
  PRIMARY KEY (owner, agent, status_ms, id)
) WITHOUT ROWID;

-- Tasks of one context, and counting by state without reading rows.
CREATE INDEX tasks_by_context ON tasks (owner, agent, context_id, status_ms, id, state);

-- Tasks that are not finished: few at any time, so most rows cost nothing here.
CREATE INDEX tasks_unfinished ON tasks (owner, agent, state, status_ms, id) WHERE state NOT IN (3, 4, 5, 7);

-- How many tasks a caller has with an agent. Counting them for every page would read them all.
CREATE TABLE task_counts (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  total INTEGER NOT NULL,
  PRIMARY KEY (owner, agent)
) WITHOUT ROWID;

CREATE TRIGGER tasks_counted AFTER INSERT ON tasks
BEGIN
  INSERT INTO task_counts (owner, agent, total) VALUES (new.owner, new.agent, 1)
    ON CONFLICT (owner, agent) DO UPDATE SET total = total + 1;
END;

CREATE TRIGGER tasks_discounted AFTER DELETE ON tasks
BEGIN
  UPDATE task_counts SET total = total - 1 WHERE owner = old.owner AND agent = old.agent;
END;
