-- Schedules of maintenance. Times are unix milliseconds in UTC, days YYYY-MM-DD in the time zone.
CREATE TABLE maintenance_schedules (
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
  managed_by TEXT CHECK (managed_by IN ('apply')),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX maintenance_schedules_by_ref ON maintenance_schedules (ref);
CREATE INDEX maintenance_schedules_by_page ON maintenance_schedules (page_id, id);
CREATE INDEX maintenance_schedules_by_next ON maintenance_schedules (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE maintenance_schedule_components (
  schedule_id TEXT NOT NULL REFERENCES maintenance_schedules (id) ON DELETE CASCADE,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  PRIMARY KEY (schedule_id, component_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX maintenance_schedule_components_by_component ON maintenance_schedule_components (component_id);

-- The schedule that made a maintenance, and for when. The time stays if the maintenance is moved.
ALTER TABLE maintenances ADD COLUMN schedule_id TEXT REFERENCES maintenance_schedules (id) ON DELETE SET NULL;
ALTER TABLE maintenances ADD COLUMN occurrence_at INTEGER;

CREATE UNIQUE INDEX maintenances_by_occurrence ON maintenances (schedule_id, occurrence_at) WHERE schedule_id IS NOT NULL;
CREATE INDEX maintenances_upcoming_by_schedule ON maintenances (schedule_id, scheduled_for) WHERE status = 'scheduled' AND schedule_id IS NOT NULL;
