-- How long a finished task took, from its begin to its end. NULL, as in all rows of before, where the task is not counted: it is not
-- finished, or counting was off when its row was written.
ALTER TABLE tasks ADD COLUMN duration_ms INTEGER;

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
