-- Imports create all kinds of objects. Times are unix milliseconds in UTC, days YYYY-MM-DD in the time zone.

-- The list of managers is checked by the code alone.
CREATE TABLE new_maintenance_schedules (
  id TEXT PRIMARY KEY,
  ref TEXT NOT NULL,
  page_id TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  cron TEXT NOT NULL,
  every_days INTEGER CHECK (every_days > 0),
  duration_minutes INTEGER NOT NULL CHECK (duration_minutes > 0),
  time_zone TEXT NOT NULL,
  starts_on TEXT,
  ends_on TEXT,
  remind_minutes_before INTEGER,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- The first occurrence that has not been made yet; null if there is none.
  next_at INTEGER,
  -- Creator of the row that may prune it: 'apply'. 'import' and NULL are pruned by none.
  managed_by TEXT,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

INSERT INTO new_maintenance_schedules (id, ref, page_id, name, body, cron, every_days, duration_minutes, time_zone,
  starts_on, ends_on, remind_minutes_before, enabled, next_at, managed_by, version, created_at, updated_at)
SELECT id, ref, page_id, name, body, cron, every_days, duration_minutes, time_zone, starts_on, ends_on,
  remind_minutes_before, enabled, next_at, managed_by, version, created_at, updated_at
FROM maintenance_schedules ORDER BY rowid;

DROP TABLE maintenance_schedules;
ALTER TABLE new_maintenance_schedules RENAME TO maintenance_schedules;

CREATE UNIQUE INDEX maintenance_schedules_by_ref ON maintenance_schedules (ref);
CREATE INDEX maintenance_schedules_by_page ON maintenance_schedules (page_id, id);
CREATE INDEX maintenance_schedules_by_next ON maintenance_schedules (next_at) WHERE next_at IS NOT NULL;

-- The version of a component also rises with its status, so some kinds of objects have a checksum of their settings
-- instead.
ALTER TABLE import_refs RENAME COLUMN version TO mark;

-- Lists of imports have the counts, without reading reports of megabytes.
CREATE INDEX imports_with_counts ON imports (id, source_id, finished_at, json_extract(report, '$.counts'));
