-- Versions of what servers keep in memory. By them a process or a replica notices the changes of others.
CREATE TABLE changes (
  -- 'keys', 'addresses', 'monitors' or 'settings'. Pages have pages.content_version.
  scope TEXT PRIMARY KEY,
  -- Raised by the transaction of every change.
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
