-- Tasks that callers have deleted, by the id of the object: no row of them is taken. A statement of such a task that is carried out late,
-- because its object died or gave it up, would bring the task back into lists. The object deletes its entry a day later.
CREATE TABLE deleted_tasks (id TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;

CREATE TRIGGER tasks_stay_deleted BEFORE INSERT ON tasks WHEN EXISTS (SELECT 1 FROM deleted_tasks WHERE id = new.id)
BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER webhooks_stay_deleted BEFORE INSERT ON webhooks WHEN EXISTS (SELECT 1 FROM deleted_tasks WHERE id = new.task)
BEGIN
  SELECT RAISE(IGNORE);
END;

-- An order to delete tasks may say that callers delete them (1). Where their retention is over (0), nothing is noted.
ALTER TABLE task_deletions ADD COLUMN by_callers INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER tasks_deleted;

CREATE TRIGGER tasks_deleted AFTER INSERT ON task_deletions
BEGIN
  INSERT OR IGNORE INTO deleted_tasks (id) SELECT value ->> 3 FROM json_each(new.tasks) WHERE new.by_callers = 1;
  UPDATE task_counts SET total = total - gone.number
    FROM (
      SELECT t.owner AS owner, t.agent AS agent, count(*) AS number
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
