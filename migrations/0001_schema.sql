-- Every table of D1. STORAGE.md says what each column holds and how long rows are kept. Later changes are files of their own (docs/upgrades.md).

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
  -- How long a finished task took, from its begin to its end. NULL where the task is not counted: it is not finished, or counting was off
  -- when its row was written.
  duration_ms INTEGER,
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

-- How many tasks have ended, by agent, hour (its first millisecond since 1970) and state, and how many of them took less than these
-- numbers of milliseconds.
CREATE TABLE task_hours (
  agent TEXT NOT NULL,
  hour INTEGER NOT NULL,
  state INTEGER NOT NULL,
  number INTEGER NOT NULL,
  total_ms INTEGER NOT NULL,
  under_10 INTEGER NOT NULL,
  under_20 INTEGER NOT NULL,
  under_50 INTEGER NOT NULL,
  under_100 INTEGER NOT NULL,
  under_200 INTEGER NOT NULL,
  under_500 INTEGER NOT NULL,
  under_1000 INTEGER NOT NULL,
  under_2000 INTEGER NOT NULL,
  under_5000 INTEGER NOT NULL,
  under_10000 INTEGER NOT NULL,
  under_20000 INTEGER NOT NULL,
  under_30000 INTEGER NOT NULL,
  under_60000 INTEGER NOT NULL,
  under_120000 INTEGER NOT NULL,
  under_300000 INTEGER NOT NULL,
  under_600000 INTEGER NOT NULL,
  under_1800000 INTEGER NOT NULL,
  under_3600000 INTEGER NOT NULL,
  under_21600000 INTEGER NOT NULL,
  PRIMARY KEY (agent, hour, state)
) WITHOUT ROWID;

-- A task is counted when its row gets a duration, which it keeps: so a row that is written again counts nothing.
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

-- Numbers that tools count, by the caller they belong to.
CREATE TABLE counters (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;

-- What callers have used of models, by day (UTC), caller or group, and agent.
CREATE TABLE usage (
  day TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  turns INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (day, owner, agent)
) WITHOUT ROWID;

-- The turns of the last days that are in the sums. The object of a task counts each of its turns; one that it counts again,
-- because it died before it had the answer, is here already and changes nothing.
CREATE TABLE usage_turns (
  day TEXT NOT NULL,
  task TEXT NOT NULL,
  turn INTEGER NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  PRIMARY KEY (day, task, turn)
) WITHOUT ROWID;

CREATE TRIGGER usage_counted AFTER INSERT ON usage_turns
BEGIN
  INSERT INTO usage (day, owner, agent, turns, requests, input_tokens, output_tokens, cost_micros)
    VALUES (new.day, new.owner, new.agent, 1, new.requests, new.input_tokens, new.output_tokens, new.cost_micros)
    ON CONFLICT (day, owner, agent) DO UPDATE SET
      turns = turns + 1,
      requests = requests + new.requests,
      input_tokens = input_tokens + new.input_tokens,
      output_tokens = output_tokens + new.output_tokens,
      cost_micros = cost_micros + new.cost_micros;
END;

-- What was fetched from other servers, as key sets of identity providers, and until when nobody needs to fetch it anew. It
-- is read by its key once per instance of the Worker.
CREATE TABLE remembered (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  fetched_ms INTEGER NOT NULL,
  fresh_until_ms INTEGER NOT NULL
) WITHOUT ROWID;
