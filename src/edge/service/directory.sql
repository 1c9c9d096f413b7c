-- The tables of the directory of the index in objects (tables.rs). STORAGE.md says what each column holds.

-- The shards that may have rows of an agent.
CREATE TABLE index_shards (
  agent TEXT NOT NULL,
  owner TEXT NOT NULL,
  shard INTEGER NOT NULL,
  -- How many times the shard was entered: a removal names the number that it has seen.
  times INTEGER NOT NULL,
  PRIMARY KEY (agent, owner, shard)
) WITHOUT ROWID;

-- How far the copy of an agent's rows from this place to the other has come: the last row that was copied, of a shard of an owner.
CREATE TABLE index_copies (
  agent TEXT NOT NULL,
  source TEXT NOT NULL,
  owner TEXT NOT NULL,
  shard INTEGER NOT NULL,
  status_ms INTEGER NOT NULL,
  id TEXT NOT NULL,
  copied INTEGER NOT NULL,
  -- 1 if there was nothing left to copy.
  done INTEGER NOT NULL,
  PRIMARY KEY (agent, source)
) WITHOUT ROWID;

-- The entry at which the last walk over the directory has stopped: one row.
CREATE TABLE index_walk (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  owner TEXT NOT NULL,
  shard INTEGER NOT NULL
);
