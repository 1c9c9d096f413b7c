-- Numbers for operators' monitoring (GET /metrics): what isolates have counted, and of ended tasks those of hours that are deleted.

-- What isolates have counted, and the durations where there are any, in milliseconds. Isolates add to it from time to time.
CREATE TABLE metrics (
  agent TEXT NOT NULL,
  metric TEXT NOT NULL,
  -- The values of the metric's labels, as a JSON array.
  labels TEXT NOT NULL,
  number INTEGER NOT NULL,
  total INTEGER NOT NULL,
  -- How many took less than these numbers of milliseconds.
  under_50 INTEGER NOT NULL,
  under_250 INTEGER NOT NULL,
  under_1000 INTEGER NOT NULL,
  under_5000 INTEGER NOT NULL,
  under_30000 INTEGER NOT NULL,
  PRIMARY KEY (agent, metric, labels)
) WITHOUT ROWID;

-- Hours that are deleted are added to a row with the hour 0, so the sum over all hours never becomes smaller.
CREATE TRIGGER task_hours_kept AFTER DELETE ON task_hours WHEN old.hour > 0
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000
    ) VALUES (
      old.agent, 0, old.state, old.number, old.total_ms, old.under_10, old.under_20, old.under_50, old.under_100, old.under_200, old.under_500,
      old.under_1000, old.under_2000, old.under_5000, old.under_10000, old.under_20000, old.under_30000, old.under_60000, old.under_120000,
      old.under_300000, old.under_600000, old.under_1800000, old.under_3600000, old.under_21600000
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + excluded.number, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10,
      under_20 = under_20 + excluded.under_20, under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100,
      under_200 = under_200 + excluded.under_200, under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000,
      under_2000 = under_2000 + excluded.under_2000, under_5000 = under_5000 + excluded.under_5000,
      under_10000 = under_10000 + excluded.under_10000, under_20000 = under_20000 + excluded.under_20000,
      under_30000 = under_30000 + excluded.under_30000, under_60000 = under_60000 + excluded.under_60000,
      under_120000 = under_120000 + excluded.under_120000, under_300000 = under_300000 + excluded.under_300000,
      under_600000 = under_600000 + excluded.under_600000, under_1800000 = under_1800000 + excluded.under_1800000,
      under_3600000 = under_3600000 + excluded.under_3600000, under_21600000 = under_21600000 + excluded.under_21600000;
END;
