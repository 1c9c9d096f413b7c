-- The models that callers have used, and how many ended tasks had failed steps. Columns are added, and triggers made anew; no row is rewritten.

-- What a turn has used of each model whose name is known: a JSON object of arrays, by the name, with requests, tokens read, tokens written, and the cost in
-- millionths. What is of no such model is in the other columns alone. In `usage` it is the sum of this, for up to 16 names, with the number of turns behind
-- the others, unless it is 1: the row of a caller stays one, so limits by day read one row.
ALTER TABLE usage ADD COLUMN models TEXT NOT NULL DEFAULT '{}';
ALTER TABLE usage_turns ADD COLUMN models TEXT NOT NULL DEFAULT '{}';

DROP TRIGGER usage_counted;
CREATE TRIGGER usage_counted AFTER INSERT ON usage_turns
BEGIN
  INSERT INTO usage (day, owner, agent, turns, requests, input_tokens, output_tokens, cost_micros, models)
    VALUES (new.day, new.owner, new.agent, 1, new.requests, new.input_tokens, new.output_tokens, new.cost_micros, new.models)
    ON CONFLICT (day, owner, agent) DO UPDATE SET
      turns = turns + 1,
      requests = requests + new.requests,
      input_tokens = input_tokens + new.input_tokens,
      output_tokens = output_tokens + new.output_tokens,
      cost_micros = cost_micros + new.cost_micros,
      models = CASE new.models WHEN '{}' THEN models ELSE (
        SELECT json_group_object(name, json_array(requests, input_tokens, output_tokens, cost_micros, turns)) FROM (
          SELECT name, sum(used ->> 0) AS requests, sum(used ->> 1) AS input_tokens, sum(used ->> 2) AS output_tokens, sum(used ->> 3) AS cost_micros,
            sum(coalesce(used ->> 4, 1)) AS turns
          FROM (
            SELECT key AS name, value AS used, 0 AS is_new FROM json_each(usage.models)
            UNION ALL SELECT key, value, 1 FROM json_each(new.models)
          ) GROUP BY name ORDER BY min(is_new), name LIMIT 16
        )
      ) END;
END;

-- How many of the tasks had steps that failed, by the metadata of the task (src/task/failed.rs). Tasks that were counted before count as without.
ALTER TABLE task_hours ADD COLUMN with_failed_steps INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER tasks_ended_at_once;
CREATE TRIGGER tasks_ended_at_once AFTER INSERT ON tasks WHEN new.duration_ms IS NOT NULL
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000,
      with_failed_steps
    ) VALUES (
      new.agent, new.status_ms - new.status_ms % 3600000, new.state, 1, new.duration_ms, new.duration_ms < 10, new.duration_ms < 20,
      new.duration_ms < 50, new.duration_ms < 100, new.duration_ms < 200, new.duration_ms < 500, new.duration_ms < 1000, new.duration_ms < 2000,
      new.duration_ms < 5000, new.duration_ms < 10000, new.duration_ms < 20000, new.duration_ms < 30000, new.duration_ms < 60000,
      new.duration_ms < 120000, new.duration_ms < 300000, new.duration_ms < 600000, new.duration_ms < 1800000, new.duration_ms < 3600000,
      new.duration_ms < 21600000,
      CASE WHEN instr(new.head, 'urn:a2a-edge:failed-steps') > 0 AND json_valid(new.head)
        THEN json_type(new.head, '$.metadata."urn:a2a-edge:failed-steps"') IS NOT NULL ELSE 0 END
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + 1, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10, under_20 = under_20 + excluded.under_20,
      under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100, under_200 = under_200 + excluded.under_200,
      under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000, under_2000 = under_2000 + excluded.under_2000,
      under_5000 = under_5000 + excluded.under_5000, under_10000 = under_10000 + excluded.under_10000,
      under_20000 = under_20000 + excluded.under_20000, under_30000 = under_30000 + excluded.under_30000,
      under_60000 = under_60000 + excluded.under_60000, under_120000 = under_120000 + excluded.under_120000,
      under_300000 = under_300000 + excluded.under_300000, under_600000 = under_600000 + excluded.under_600000,
      under_1800000 = under_1800000 + excluded.under_1800000, under_3600000 = under_3600000 + excluded.under_3600000,
      under_21600000 = under_21600000 + excluded.under_21600000,
      with_failed_steps = with_failed_steps + excluded.with_failed_steps;
END;

DROP TRIGGER tasks_ended;
CREATE TRIGGER tasks_ended AFTER UPDATE OF duration_ms ON tasks WHEN old.duration_ms IS NULL AND new.duration_ms IS NOT NULL
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000,
      with_failed_steps
    ) VALUES (
      new.agent, new.status_ms - new.status_ms % 3600000, new.state, 1, new.duration_ms, new.duration_ms < 10, new.duration_ms < 20,
      new.duration_ms < 50, new.duration_ms < 100, new.duration_ms < 200, new.duration_ms < 500, new.duration_ms < 1000, new.duration_ms < 2000,
      new.duration_ms < 5000, new.duration_ms < 10000, new.duration_ms < 20000, new.duration_ms < 30000, new.duration_ms < 60000,
      new.duration_ms < 120000, new.duration_ms < 300000, new.duration_ms < 600000, new.duration_ms < 1800000, new.duration_ms < 3600000,
      new.duration_ms < 21600000,
      CASE WHEN instr(new.head, 'urn:a2a-edge:failed-steps') > 0 AND json_valid(new.head)
        THEN json_type(new.head, '$.metadata."urn:a2a-edge:failed-steps"') IS NOT NULL ELSE 0 END
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + 1, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10, under_20 = under_20 + excluded.under_20,
      under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100, under_200 = under_200 + excluded.under_200,
      under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000, under_2000 = under_2000 + excluded.under_2000,
      under_5000 = under_5000 + excluded.under_5000, under_10000 = under_10000 + excluded.under_10000,
      under_20000 = under_20000 + excluded.under_20000, under_30000 = under_30000 + excluded.under_30000,
      under_60000 = under_60000 + excluded.under_60000, under_120000 = under_120000 + excluded.under_120000,
      under_300000 = under_300000 + excluded.under_300000, under_600000 = under_600000 + excluded.under_600000,
      under_1800000 = under_1800000 + excluded.under_1800000, under_3600000 = under_3600000 + excluded.under_3600000,
      under_21600000 = under_21600000 + excluded.under_21600000,
      with_failed_steps = with_failed_steps + excluded.with_failed_steps;
END;

DROP TRIGGER task_hours_kept;
CREATE TRIGGER task_hours_kept AFTER DELETE ON task_hours WHEN old.hour > 0
BEGIN
  INSERT INTO task_hours (
      agent, hour, state, number, total_ms, under_10, under_20, under_50, under_100, under_200, under_500, under_1000, under_2000, under_5000,
      under_10000, under_20000, under_30000, under_60000, under_120000, under_300000, under_600000, under_1800000, under_3600000, under_21600000,
      with_failed_steps
    ) VALUES (
      old.agent, 0, old.state, old.number, old.total_ms, old.under_10, old.under_20, old.under_50, old.under_100, old.under_200, old.under_500,
      old.under_1000, old.under_2000, old.under_5000, old.under_10000, old.under_20000, old.under_30000, old.under_60000, old.under_120000,
      old.under_300000, old.under_600000, old.under_1800000, old.under_3600000, old.under_21600000, old.with_failed_steps
    ) ON CONFLICT (agent, hour, state) DO UPDATE SET
      number = number + excluded.number, total_ms = total_ms + excluded.total_ms, under_10 = under_10 + excluded.under_10,
      under_20 = under_20 + excluded.under_20, under_50 = under_50 + excluded.under_50, under_100 = under_100 + excluded.under_100,
      under_200 = under_200 + excluded.under_200, under_500 = under_500 + excluded.under_500, under_1000 = under_1000 + excluded.under_1000,
      under_2000 = under_2000 + excluded.under_2000, under_5000 = under_5000 + excluded.under_5000,
      under_10000 = under_10000 + excluded.under_10000, under_20000 = under_20000 + excluded.under_20000,
      under_30000 = under_30000 + excluded.under_30000, under_60000 = under_60000 + excluded.under_60000,
      under_120000 = under_120000 + excluded.under_120000, under_300000 = under_300000 + excluded.under_300000,
      under_600000 = under_600000 + excluded.under_600000, under_1800000 = under_1800000 + excluded.under_1800000,
      under_3600000 = under_3600000 + excluded.under_3600000, under_21600000 = under_21600000 + excluded.under_21600000,
      with_failed_steps = with_failed_steps + excluded.with_failed_steps;
END;
