-- What a caller may have at a time, which is asked before a task begins: places for tasks whose rows are not there yet, and the bytes of
-- all tasks of a caller with an agent.

-- A place in the quotas of a caller, for a task that begins. It counts as an unfinished task until the row of the task is there, or, if no
-- task began, until `until_ms`.
CREATE TABLE reservations (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  id TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (owner, agent, id)
) WITHOUT ROWID;

CREATE TRIGGER tasks_took_place AFTER INSERT ON tasks
BEGIN
  DELETE FROM reservations WHERE owner = new.owner AND agent = new.agent AND id = new.id;
END;

-- The bytes of a task's log when its row was written. In `task_counts` they are the sum over the same rows as `total`. Rows of earlier
-- versions have none until they are written again.
ALTER TABLE tasks ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task_counts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- The triggers of the totals, with the bytes. They write no further rows, except where a row keeps its place and changes its bytes.
DROP TRIGGER tasks_counted;
CREATE TRIGGER tasks_counted AFTER INSERT ON tasks
BEGIN
  INSERT INTO task_counts (owner, agent, total, counted_ms, bytes)
    VALUES (new.owner, new.agent, new.status_ms <= 0, 0, new.bytes * (new.status_ms <= 0))
    ON CONFLICT (owner, agent) DO UPDATE SET total = total + 1, bytes = bytes + new.bytes WHERE new.status_ms <= counted_ms;
  UPDATE task_counts SET
      total = total + (
        SELECT count(*) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      bytes = bytes + (
        SELECT sum(t.bytes) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      counted_ms = new.status_ms - 1000
    WHERE owner = new.owner AND agent = new.agent AND EXISTS (
      SELECT 1 FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
      AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000 LIMIT 1 OFFSET 31
    );
END;

DROP TRIGGER tasks_moved;
CREATE TRIGGER tasks_moved AFTER UPDATE OF status_ms, bytes ON tasks WHEN new.status_ms <> old.status_ms OR new.bytes <> old.bytes
BEGIN
  UPDATE task_counts SET
      total = total - (old.status_ms <= counted_ms) + (new.status_ms <= counted_ms),
      bytes = bytes - old.bytes * (old.status_ms <= counted_ms) + new.bytes * (new.status_ms <= counted_ms)
    WHERE owner = new.owner AND agent = new.agent AND (
      (old.status_ms <= counted_ms) <> (new.status_ms <= counted_ms) OR (new.status_ms <= counted_ms AND old.bytes <> new.bytes)
    );
  UPDATE task_counts SET
      total = total + (
        SELECT count(*) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      bytes = bytes + (
        SELECT sum(t.bytes) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      counted_ms = new.status_ms - 1000
    WHERE owner = new.owner AND agent = new.agent AND EXISTS (
      SELECT 1 FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
      AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000 LIMIT 1 OFFSET 31
    );
END;

DROP TRIGGER tasks_discounted;
CREATE TRIGGER tasks_discounted AFTER DELETE ON tasks WHEN NOT EXISTS (SELECT 1 FROM task_deletions)
BEGIN
  UPDATE task_counts SET total = total - 1, bytes = bytes - old.bytes
    WHERE owner = old.owner AND agent = old.agent AND old.status_ms <= counted_ms;
END;

DROP TRIGGER tasks_deleted;
CREATE TRIGGER tasks_deleted AFTER INSERT ON task_deletions
BEGIN
  INSERT OR IGNORE INTO deleted_tasks (id) SELECT value ->> 3 FROM json_each(new.tasks) WHERE new.by_callers = 1;
  UPDATE task_counts SET total = total - gone.number, bytes = task_counts.bytes - gone.bytes
    FROM (
      SELECT t.owner AS owner, t.agent AS agent, count(*) AS number, sum(t.bytes) AS bytes
      FROM (SELECT DISTINCT value ->> 0 AS owner, value ->> 1 AS agent, value ->> 2 AS status_ms, value ->> 3 AS id FROM json_each(new.tasks)) AS place
      CROSS JOIN tasks AS t ON t.owner = place.owner AND t.agent = place.agent AND t.status_ms = place.status_ms AND t.id = place.id
      CROSS JOIN task_counts AS c ON c.owner = t.owner AND c.agent = t.agent AND t.status_ms <= c.counted_ms
      GROUP BY t.owner, t.agent
    ) AS gone
    WHERE task_counts.owner = gone.owner AND task_counts.agent = gone.agent;
  DELETE FROM tasks WHERE (owner, agent, status_ms, id) IN
    (SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(new.tasks));
  DELETE FROM webhooks WHERE task IN (SELECT value ->> 3 FROM json_each(new.tasks));
  DELETE FROM task_deletions;
END;
