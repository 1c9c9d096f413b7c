-- Where a task is kept whose id is not that of its object: the object's id. NULL, as in all rows of before, where both are the same.
ALTER TABLE tasks ADD COLUMN object TEXT;
