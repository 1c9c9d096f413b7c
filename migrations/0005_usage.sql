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
