import type { Database } from "bun:sqlite";

/** A monitor that is down and has to be linked to an incident of a page. */
interface OpenOutage {
  monitor: string;
  page: string;
  /** Incidents with an open outage of the monitor. */
  incidents: number;
}

const OPEN_OUTAGES = `
  SELECT m.name AS monitor, c.page_id AS page, (
    SELECT count(DISTINCT o.incident_id)
    FROM incident_outages AS o JOIN incidents AS i ON i.id = o.incident_id
    WHERE o.monitor_id = m.id AND o.ended_at IS NULL AND i.page_id = c.page_id
  ) AS incidents
  FROM monitors AS m
  JOIN monitor_states AS s ON s.monitor_num = m.num
  JOIN monitor_components AS mc ON mc.monitor_id = m.id
  JOIN components AS c ON c.id = mc.component_id
  WHERE s.state = 'down' AND m.open_incident <> 'never' AND m.paused = 0 AND m.deleted_at IS NULL
    AND c.deleted_at IS NULL
  GROUP BY m.id, c.page_id`;

/** Descriptions of rows that contradict a rule, by rule. */
const ERRORS: Readonly<Record<string, string>> = {
  "an outage is open although its monitor works or has left": `
    SELECT m.name || ' in ' || o.incident_id AS error
    FROM incident_outages AS o
    JOIN monitors AS m ON m.id = o.monitor_id
    JOIN monitor_states AS s ON s.monitor_num = m.num
    WHERE o.ended_at IS NULL AND (
      s.state IN ('up', 'degraded') OR m.paused = 1 OR m.deleted_at IS NOT NULL OR m.open_incident = 'never'
      OR NOT EXISTS (
        SELECT 1 FROM monitor_components AS mc
        WHERE mc.monitor_id = m.id AND mc.component_id = o.component_id))`,
  "Allclear resolved an incident with an open outage": `
    SELECT i.name || ' (' || i.id || ')' AS error
    FROM incidents AS i
    WHERE i.status = 'resolved' AND i.deleted_at IS NULL
      AND (
        SELECT u.is_automatic FROM incident_updates AS u
        WHERE u.incident_id = i.id ORDER BY u.display_at DESC, u.id DESC LIMIT 1) = 1
      AND EXISTS (
        SELECT 1 FROM incident_outages AS o
        WHERE o.incident_id = i.id AND o.ended_at IS NULL AND o.started_at <= i.resolved_at)`,
  "an incident of Allclear is open although all outages ended, the last by a recovery": `
    SELECT i.name || ' (' || i.id || ')' AS error
    FROM automatic_incidents AS a
    JOIN incidents AS i ON i.id = a.incident_id
    WHERE a.taken_over_at IS NULL AND i.status <> 'resolved' AND i.draft = 0 AND i.deleted_at IS NULL
      AND (
        SELECT max(o.ended_at) FROM incident_outages AS o WHERE o.incident_id = i.id AND o.has_left = 0
      ) > (
        SELECT coalesce(max(o.ended_at), 0) FROM incident_outages AS o WHERE o.incident_id = i.id AND o.has_left = 1
      )
      AND NOT EXISTS (
        SELECT 1 FROM incident_outages AS o WHERE o.incident_id = i.id AND o.ended_at IS NULL)`,
  "Allclear wrote an update after a person": `
    SELECT i.name || ' (' || i.id || ')' AS error
    FROM incidents AS i
    WHERE EXISTS (
      SELECT 1 FROM incident_updates AS p JOIN incident_updates AS a ON a.incident_id = p.incident_id
      WHERE p.incident_id = i.id AND p.is_automatic = 0 AND a.is_automatic = 1 AND a.id > p.id)`,
  "the causes of an incident of Allclear differ from its outages": `
    SELECT i.name || ' (' || i.id || '): ' || c.name AS error
    FROM automatic_incidents AS a
    JOIN incidents AS i ON i.id = a.incident_id
    JOIN components AS c ON c.page_id = i.page_id AND c.deleted_at IS NULL
    WHERE a.taken_over_at IS NULL AND i.draft = 0 AND i.deleted_at IS NULL AND i.status <> 'resolved'
      AND EXISTS (
        SELECT 1 FROM component_causes AS k
        WHERE k.source = 'incident' AND k.source_id = i.id AND k.component_id = c.id AND k.ended_at IS NULL
      ) <> EXISTS (
        SELECT 1 FROM incident_outages AS o
        WHERE o.incident_id = i.id AND o.component_id = c.id AND o.kind = 'joined' AND o.ended_at IS NULL)`,
};

/**
 * Returns what contradicts the rules of automatic incidents in a database; empty if nothing does. Each monitor that is
 * down and opens incidents has an open outage in exactly one incident of each of its pages. Outages of incidents
 * that a person resolved or deleted stay open.
 */
export function outageErrors(database: Database): string[] {
  const outages = database.query<OpenOutage, []>(OPEN_OUTAGES).all();
  const unlinked = outages
    .filter(({ incidents }) => incidents !== 1)
    .map(({ monitor, incidents }) => `${monitor} is down and in ${incidents} incidents`);
  const errors = Object.entries(ERRORS).flatMap(([rule, sql]) =>
    database
      .query<{ error: string }, []>(sql)
      .all()
      .map(({ error }) => `${rule}: ${error}`),
  );
  return [...unlinked, ...errors];
}
