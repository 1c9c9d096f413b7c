-- Numbers that tools count, by the caller they belong to.
CREATE TABLE counters (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;
