-- A task is written with as few rows as listings need. The table of tasks has no index on its ids any more, and totals are not
-- counted with each task. docs/upgrades.md says what this needs: all rows of tasks are written once more.

CREATE TABLE tasks_next (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  status_ms INTEGER NOT NULL,
  id TEXT NOT NULL,
  context_id TEXT NOT NULL,
  state INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  head TEXT NOT NULL,
  history TEXT NOT NULL,
  -- How long a finished task took, from its begin to its end. NULL where the task is not counted: it is not finished, or counting was off
  -- when its row was written.
  duration_ms INTEGER,
  PRIMARY KEY (owner, agent, status_ms, id)
) WITHOUT ROWID;

INSERT INTO tasks_next (owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms)
  SELECT owner, agent, status_ms, id, context_id, state, generation, head, history, duration_ms FROM tasks
  ORDER BY owner, agent, status_ms, id;
DROP TABLE tasks;
ALTER TABLE tasks_next RENAME TO tasks;

-- Tasks of one context, and counting by state without reading rows.
CREATE INDEX tasks_by_context ON tasks (owner, agent, context_id, status_ms, id, state);

-- Tasks that are not finished: few at any time, so most rows cost nothing here.
CREATE INDEX tasks_unfinished ON tasks (owner, agent, state, status_ms, id) WHERE state NOT IN (3, 4, 5, 7);

-- How many tasks a caller has with an agent: `total` is the number of rows of `tasks` up to `counted_ms`. Those above it are counted
-- when the total is read. The triggers below keep it so: a row above `counted_ms` costs no row here.
ALTER TABLE task_counts ADD COLUMN counted_ms INTEGER NOT NULL DEFAULT 0;
UPDATE task_counts SET counted_ms =
  coalesce((SELECT max(t.status_ms) FROM tasks AS t WHERE t.owner = task_counts.owner AND t.agent = task_counts.agent), 0);

-- The entry of a caller with an agent is made with the first task. A row at or below `counted_ms` is counted at once.
--
-- As soon as 32 rows above `counted_ms` are a second older than a new one, `counted_ms` moves to that second, so few rows are ever
-- above it. In a second, rows that were written at the same time have all arrived.
CREATE TRIGGER tasks_counted AFTER INSERT ON tasks
BEGIN
  INSERT INTO task_counts (owner, agent, total, counted_ms) VALUES (new.owner, new.agent, new.status_ms <= 0, 0)
    ON CONFLICT (owner, agent) DO UPDATE SET total = total + 1 WHERE new.status_ms <= counted_ms;
  UPDATE task_counts SET
      total = total + (
        SELECT count(*) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      counted_ms = new.status_ms - 1000
    WHERE owner = new.owner AND agent = new.agent AND EXISTS (
      SELECT 1 FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
      AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000 LIMIT 1 OFFSET 31
    );
END;

CREATE TRIGGER tasks_moved AFTER UPDATE OF status_ms ON tasks WHEN new.status_ms <> old.status_ms
BEGIN
  UPDATE task_counts SET total = total - (old.status_ms <= counted_ms) + (new.status_ms <= counted_ms)
    WHERE owner = new.owner AND agent = new.agent AND (old.status_ms <= counted_ms) <> (new.status_ms <= counted_ms);
  UPDATE task_counts SET
      total = total + (
        SELECT count(*) FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
        AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000
      ),
      counted_ms = new.status_ms - 1000
    WHERE owner = new.owner AND agent = new.agent AND EXISTS (
      SELECT 1 FROM tasks AS t WHERE t.owner = new.owner AND t.agent = new.agent
      AND t.status_ms > task_counts.counted_ms AND t.status_ms <= new.status_ms - 1000 LIMIT 1 OFFSET 31
    );
END;

CREATE TRIGGER tasks_discounted AFTER DELETE ON tasks WHEN NOT EXISTS (SELECT 1 FROM task_deletions)
BEGIN
  UPDATE task_counts SET total = total - 1 WHERE owner = old.owner AND agent = old.agent AND old.status_ms <= counted_ms;
END;

-- An order to delete tasks together: `tasks` is a JSON array with an array for each place at which the row of a task may be, of its
-- owner, agent, `status_ms` and id. Inserting an order carries it out, in the same transaction, so the table is always empty
-- afterwards. The totals change once for each caller with an agent, and not with each task.
CREATE TABLE task_deletions (tasks TEXT NOT NULL);

CREATE TRIGGER tasks_deleted AFTER INSERT ON task_deletions
BEGIN
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

-- The rows of a task go with it, whoever deletes it.
CREATE TRIGGER tasks_unlisted_webhooks AFTER DELETE ON tasks
BEGIN
  DELETE FROM webhooks WHERE task = old.id;
END;

-- A task is counted in its hour when its row gets a duration, which it keeps: so a row that is written again counts nothing.
CREATE TRIGGER tasks_ended_at_once AFTER INSERT ON tasks WHEN new.duration_ms IS NOT NULL
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000
    ) VALUES (
      new.agent, new.status_ms - new.status_ms % 3600000, new.state, 1, new.duration_ms, new.duration_ms < 10, new.duration_ms < 20,
      new.duration_ms < 50, new.duration_ms < 100, new.duration_ms < 200, new.duration_ms < 500, new.duration_ms < 1000, new.duration_ms < 2000,
      new.duration_ms < 5000, new.duration_ms < 10000, new.duration_ms < 20000, new.duration_ms < 30000, new.duration_ms < 60000,
      new.duration_ms < 120000, new.duration_ms < 300000, new.duration_ms < 600000, new.duration_ms < 1800000, new.duration_ms < 3600000,
      new.duration_ms < 21600000
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + 1, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10, under_20 = under_20 + excluded.under_20,
      under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100, under_200 = under_200 + excluded.under_200,
      under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000, under_2000 = under_2000 + excluded.under_2000,
      under_5000 = under_5000 + excluded.under_5000, under_10000 = under_10000 + excluded.under_10000,
      under_20000 = under_20000 + excluded.under_20000, under_30000 = under_30000 + excluded.under_30000,
      under_60000 = under_60000 + excluded.under_60000, under_120000 = under_120000 + excluded.under_120000,
      under_300000 = under_300000 + excluded.under_300000, under_600000 = under_600000 + excluded.under_600000,
      under_1800000 = under_1800000 + excluded.under_1800000, under_3600000 = under_3600000 + excluded.under_3600000,
      under_21600000 = under_21600000 + excluded.under_21600000;
END;

CREATE TRIGGER tasks_ended AFTER UPDATE OF duration_ms ON tasks WHEN old.duration_ms IS NULL AND new.duration_ms IS NOT NULL
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000
    ) VALUES (
      new.agent, new.status_ms - new.status_ms % 3600000, new.state, 1, new.duration_ms, new.duration_ms < 10, new.duration_ms < 20,
      new.duration_ms < 50, new.duration_ms < 100, new.duration_ms < 200, new.duration_ms < 500, new.duration_ms < 1000, new.duration_ms < 2000,
      new.duration_ms < 5000, new.duration_ms < 10000, new.duration_ms < 20000, new.duration_ms < 30000, new.duration_ms < 60000,
      new.duration_ms < 120000, new.duration_ms < 300000, new.duration_ms < 600000, new.duration_ms < 1800000, new.duration_ms < 3600000,
      new.duration_ms < 21600000
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + 1, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10, under_20 = under_20 + excluded.under_20,
      under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100, under_200 = under_200 + excluded.under_200,
      under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000, under_2000 = under_2000 + excluded.under_2000,
      under_5000 = under_5000 + excluded.under_5000, under_10000 = under_10000 + excluded.under_10000,
      under_20000 = under_20000 + excluded.under_20000, under_30000 = under_30000 + excluded.under_30000,
      under_60000 = under_60000 + excluded.under_60000, under_120000 = under_120000 + excluded.under_120000,
      under_300000 = under_300000 + excluded.under_300000, under_600000 = under_600000 + excluded.under_600000,
      under_1800000 = under_1800000 + excluded.under_1800000, under_3600000 = under_3600000 + excluded.under_3600000,
      under_21600000 = under_21600000 + excluded.under_21600000;
END;
