-- Repairs what deletions of pages left behind: they ended neither the components of the page nor its
-- maintenance, causes, monitors and webhooks. Times are unix milliseconds in UTC.

-- Components and groups end when their page did.
UPDATE components
SET deleted_at = page.deleted_at, updated_at = page.deleted_at, version = components.version + 1
FROM pages AS page
WHERE page.id = components.page_id AND page.deleted_at IS NOT NULL AND components.deleted_at IS NULL;

UPDATE component_groups
SET deleted_at = page.deleted_at, updated_at = page.deleted_at, version = component_groups.version + 1
FROM pages AS page
WHERE page.id = component_groups.page_id AND page.deleted_at IS NOT NULL AND component_groups.deleted_at IS NULL;

-- No deleted component has an open cause, such as the one that kept its monitors in maintenance.
UPDATE component_causes
SET ended_at = max(component_causes.started_at, component.deleted_at)
FROM components AS component
WHERE component.id = component_causes.component_id AND component.deleted_at IS NOT NULL
  AND component_causes.ended_at IS NULL;

UPDATE component_no_data
SET ended_at = max(component_no_data.started_at, component.deleted_at)
FROM components AS component
WHERE component.id = component_no_data.component_id AND component.deleted_at IS NOT NULL
  AND component_no_data.ended_at IS NULL;

-- Maintenance of a deleted page is cancelled, without an event: it was 404 since the deletion.
INSERT INTO audit_log (actor_kind, actor_label, action, target_id, summary, at)
SELECT 'system', 'Allclear', 'maintenance.cancel', m.id,
  'Cancelled the maintenance “' || m.name || '”: its status page was deleted',
  CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM maintenances AS m JOIN pages AS page ON page.id = m.page_id
WHERE page.deleted_at IS NOT NULL AND m.deleted_at IS NULL
  AND m.status IN ('scheduled', 'in_progress', 'verifying')
ORDER BY m.id;

UPDATE maintenances
SET status = 'cancelled', completed_at = NULL, updated_at = page.deleted_at, version = maintenances.version + 1
FROM pages AS page
WHERE page.id = maintenances.page_id AND page.deleted_at IS NOT NULL
  AND maintenances.status IN ('scheduled', 'in_progress', 'verifying');

-- Monitors lose the components of deleted pages. They keep running: an upgrade must not end alerts that
-- their webhooks may still send.
UPDATE monitors
SET version = version + 1, updated_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
WHERE deleted_at IS NULL AND id IN (
  SELECT watched.monitor_id FROM pages AS page
  JOIN components AS component ON component.page_id = page.id
  JOIN monitor_components AS watched ON watched.component_id = component.id
  WHERE page.deleted_at IS NOT NULL);

DELETE FROM monitor_components WHERE component_id IN (
  SELECT component.id FROM pages AS page
  JOIN components AS component ON component.page_id = page.id
  WHERE page.deleted_at IS NOT NULL);

-- Webhooks of a deleted page are deleted, with their secrets.
INSERT INTO audit_log (actor_kind, actor_label, action, target_id, summary, at)
SELECT 'system', 'Allclear', 'webhook.delete', w.id,
  'Deleted the webhook “' || w.ref || '”: its status page was deleted',
  CAST(unixepoch('subsec') * 1000 AS INTEGER)
FROM webhooks AS w JOIN pages AS page ON page.id = w.page_id
WHERE page.deleted_at IS NOT NULL AND w.deleted_at IS NULL
ORDER BY w.id;

UPDATE webhooks
SET deleted_at = CAST(unixepoch('subsec') * 1000 AS INTEGER),
  updated_at = CAST(unixepoch('subsec') * 1000 AS INTEGER),
  version = version + 1, url = '', settings = '{}', secret = '',
  previous_secret = NULL, previous_secret_ends_at = NULL
WHERE deleted_at IS NULL AND page_id IN (SELECT id FROM pages WHERE deleted_at IS NOT NULL);
