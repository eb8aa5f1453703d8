-- Terms of the primary of a fleet, oldest first. Without a fleet there is none.
CREATE TABLE terms (
  term INTEGER PRIMARY KEY,
  -- Number of the last transaction of the term before that this history contains; NULL in the first term.
  previous_txid INTEGER,
  at INTEGER NOT NULL,
  -- Id of the node.
  "by" TEXT NOT NULL
) STRICT;
