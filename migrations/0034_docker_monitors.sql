-- Containers whose labels declare monitors. Times are unix milliseconds in UTC.

CREATE TABLE docker_monitors (
  monitor_id TEXT PRIMARY KEY REFERENCES monitors (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  container TEXT NOT NULL,
  -- NULL while a container declares it.
  removed_at INTEGER,
  -- 1: resumed with the next container.
  is_paused_by_removal INTEGER NOT NULL DEFAULT 0
) STRICT;
