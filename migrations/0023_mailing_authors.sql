-- Kind of author of maintenance and schedules, for whom the clock starts and ends them.
ALTER TABLE maintenances ADD COLUMN author TEXT NOT NULL DEFAULT 'person' CHECK (author IN ('monitor', 'key', 'person'));
ALTER TABLE maintenance_schedules ADD COLUMN author TEXT NOT NULL DEFAULT 'person' CHECK (author IN ('monitor', 'key', 'person'));

UPDATE maintenance_schedules SET author = 'key'
  WHERE id IN (SELECT target_id FROM audit_log WHERE action = 'maintenance_schedule.create' AND actor_kind = 'key');
UPDATE maintenances SET author = 'key'
  WHERE id IN (SELECT target_id FROM audit_log WHERE action = 'maintenance.plan' AND actor_kind = 'key')
    OR schedule_id IN (SELECT id FROM maintenance_schedules WHERE author = 'key');

-- Kind of author of the event of a mailing. Each kind has a limit of its own.
ALTER TABLE mailings ADD COLUMN author TEXT NOT NULL DEFAULT 'person' CHECK (author IN ('monitor', 'key', 'person'));

-- Limits concern the last 24 hours. Of mailings about incidents, the author of the incident is known, not that of each
-- update.
UPDATE mailings SET author = coalesce(
  CASE
    WHEN kind LIKE 'incident.%' THEN
      (SELECT CASE source WHEN 'monitor' THEN 'monitor' WHEN 'api' THEN 'key' END FROM incidents WHERE id = subject_id)
    WHEN kind LIKE 'maintenance.%' THEN
      (SELECT maintenances.author FROM maintenances WHERE id = subject_id)
    ELSE
      (SELECT CASE WHEN source = 'monitor' THEN 'monitor' WHEN actor_kind = 'key' THEN 'key' END FROM component_changes
        WHERE component_id = subject_id AND at <= created_at ORDER BY component_changes.id DESC LIMIT 1)
  END, 'person')
WHERE created_at > (SELECT max(created_at) FROM mailings) - 86400000;

-- Mailings that have begun or will begin. Held ones use up no limit.
CREATE INDEX mailings_counted ON mailings (page_id, author, created_at) WHERE cursor >= 0 OR state = 'expanding';
