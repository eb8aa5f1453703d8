-- Incidents that monitors open together, and the outages that they report. Times are unix milliseconds in UTC.

-- Minutes after its opening in which further outages join an incident; 0 opens one for each outage.
ALTER TABLE pages ADD COLUMN join_minutes INTEGER NOT NULL DEFAULT 10 CHECK (join_minutes BETWEEN 0 AND 1440);

-- 1 for an update that Allclear wrote because monitors failed or recovered. Its statuses are those of the outages.
ALTER TABLE incident_updates ADD COLUMN is_automatic INTEGER NOT NULL DEFAULT 0 CHECK (is_automatic IN (0, 1));

-- Incidents that Allclear opened. Outages join and resolve them until a person or a key takes them over.
CREATE TABLE automatic_incidents (
  incident_id TEXT PRIMARY KEY REFERENCES incidents (id) ON DELETE CASCADE,
  page_id TEXT NOT NULL,
  -- The last name that followed from its components. A person has renamed an incident that has another one.
  name TEXT NOT NULL,
  -- The start that followed from its outages. A person has moved the start of an incident that has another one.
  started_at INTEGER NOT NULL,
  -- Time at which Allclear opened or reopened it last.
  opened_at INTEGER NOT NULL,
  -- End of its outages, if Allclear resolved it.
  resolved_at INTEGER,
  taken_over_at INTEGER,
  -- Time at which an update about components that have joined or changed is due.
  update_due_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX automatic_incidents_by_page ON automatic_incidents (page_id, opened_at) WHERE taken_over_at IS NULL;
CREATE INDEX automatic_incidents_due ON automatic_incidents (update_due_at) WHERE update_due_at IS NOT NULL;

-- Outages of monitors by component. One of `joined` gives its component its status, as long as the incident is
-- Allclear's; one of `linked` belongs to a person's incident, which reported it already.
CREATE TABLE incident_outages (
  incident_id TEXT NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  component_id TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
  monitor_id TEXT NOT NULL REFERENCES monitors (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  status TEXT NOT NULL CHECK (status IN ('degraded_performance', 'partial_outage', 'major_outage')),
  kind TEXT NOT NULL CHECK (kind IN ('joined', 'linked')),
  -- 1 if it ended without a recovery: the monitor was paused, deleted, detached or changed.
  has_left INTEGER NOT NULL DEFAULT 0 CHECK (has_left IN (0, 1)),
  PRIMARY KEY (incident_id, component_id, monitor_id, started_at, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX incident_outages_by_monitor ON incident_outages (monitor_id, incident_id);
CREATE INDEX incident_outages_open ON incident_outages (monitor_id, component_id) WHERE ended_at IS NULL;
CREATE INDEX incident_outages_open_by_incident ON incident_outages (incident_id) WHERE ended_at IS NULL;

-- Open and newly resolved incidents that no one else has changed stay Allclear's, unless their monitor does not run.
INSERT INTO automatic_incidents
SELECT i.id, i.page_id, i.name, i.started_at, max(m.opened_at),
  CASE WHEN i.status = 'resolved' THEN max(m.resolved_at) END, NULL, NULL
FROM monitor_incidents AS m
JOIN incidents AS i ON i.id = m.incident_id
JOIN monitors AS o ON o.id = m.monitor_id
WHERE m.version = i.version AND i.deleted_at IS NULL
  AND o.deleted_at IS NULL AND o.paused = 0 AND o.open_incident <> 'never'
  AND (i.status <> 'resolved' OR m.resolved_at > (SELECT at FROM liveness) - 1800000)
GROUP BY i.id;

UPDATE incident_updates SET is_automatic = 1 WHERE incident_id IN (SELECT incident_id FROM automatic_incidents);

-- What published ones of these said of components, so that their history stays.
INSERT OR IGNORE INTO incident_outages
SELECT c.source_id, c.component_id, m.monitor_id, c.started_at, c.ended_at, c.status, 'joined', 0
FROM automatic_incidents AS a
JOIN monitor_incidents AS m ON m.incident_id = a.incident_id
JOIN component_causes AS c ON c.source_id = a.incident_id AND c.source = 'incident'
WHERE c.status IN ('degraded_performance', 'partial_outage', 'major_outage');

-- All others, by the components of their first update.
INSERT OR IGNORE INTO incident_outages
SELECT m.incident_id, n.component_id, m.monitor_id, i.started_at,
  CASE
    WHEN m.resolved_at IS NOT NULL THEN max(i.started_at, m.resolved_at)
    WHEN o.deleted_at IS NULL AND o.paused = 0 AND o.open_incident <> 'never'
      AND m.incident_id = (
        SELECT max(l.incident_id) FROM monitor_incidents AS l
        WHERE l.monitor_id = m.monitor_id AND l.page_id = m.page_id)
      AND (
        SELECT p.state FROM monitor_spans AS p
        WHERE p.monitor_num = o.num AND p.state IN ('up', 'degraded', 'down')
        ORDER BY p.started_at DESC LIMIT 1) = 'down'
      THEN NULL
    ELSE max(i.started_at, s.since)
  END,
  n.new_status, CASE WHEN a.incident_id IS NULL THEN 'linked' ELSE 'joined' END,
  o.deleted_at IS NOT NULL OR o.paused
FROM monitor_incidents AS m
JOIN incidents AS i ON i.id = m.incident_id
JOIN monitors AS o ON o.id = m.monitor_id
JOIN monitor_states AS s ON s.monitor_num = o.num
JOIN incident_update_components AS n ON n.update_id = (
  SELECT min(u.id) FROM incident_updates AS u WHERE u.incident_id = m.incident_id)
LEFT JOIN automatic_incidents AS a ON a.incident_id = m.incident_id
WHERE n.new_status IN ('degraded_performance', 'partial_outage', 'major_outage')
  AND (a.incident_id IS NULL OR i.draft = 1);

DROP TABLE monitor_incidents;

-- For statements of replicas with an earlier version.
CREATE VIEW monitor_incidents AS
SELECT o.monitor_id, o.incident_id, i.page_id, i.version, min(o.started_at) AS opened_at,
  CASE WHEN count(*) = count(o.ended_at) THEN max(o.ended_at) END AS resolved_at
FROM incident_outages AS o
JOIN incidents AS i ON i.id = o.incident_id
GROUP BY o.monitor_id, o.incident_id;
