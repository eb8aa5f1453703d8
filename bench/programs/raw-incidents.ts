/**
 * Baseline for SQLite alone: the prepared statements of a new incident in a loop, with one durable
 * commit per incident. `raw-incidents FILE SECONDS` works on a database of Allclear's schema and
 * prints the commits per second.
 */
import { Database } from "bun:sqlite";

const [file = "", seconds = "1"] = process.argv.slice(2);
const db = new Database(file, { readwrite: true, strict: true });
for (const setting of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) {
  db.run(`PRAGMA ${setting}`);
}

const begin = db.prepare("BEGIN IMMEDIATE");
const commit = db.prepare("COMMIT");
const findPage = db.prepare<{ id: string }, [string]>("SELECT * FROM pages WHERE slug = ?");
const findComponent = db.prepare<{ name: string }, [string]>(
  "SELECT * FROM components WHERE id = ?",
);
const insertIncident = db.prepare(
  "INSERT INTO incidents (id, page_id, name, status, impact, source, draft, started_at, version, created_at, updated_at) VALUES ($incident, $page, $name, 'investigating', 'major', 'api', 0, $now, 1, $now, $now)",
);
const insertUpdate = db.prepare(
  "INSERT INTO incident_updates (id, incident_id, status, body, display_at, notify, created_at, updated_at) VALUES ($update, $incident, 'investigating', $body, $now, 1, $now, $now)",
);
const insertNaming = db.prepare(
  "INSERT INTO incident_update_components (update_id, incident_id, component_id, name, old_status, new_status) VALUES ($update, $incident, $id, $component, 'partial_outage', 'partial_outage')",
);
const insertAudit = db.prepare(
  "INSERT INTO audit_log (actor_kind, actor_id, actor_label, action, target_id, summary, at) VALUES ('key', $actor, 'bench', 'incident.create', $incident, $summary, $now)",
);
const insertEvent = db.prepare(
  "INSERT INTO events (id, type, page_id, subject_id, data, at) VALUES ($event, 'incident.created', $page, $incident, $data, $now)",
);
const listCausesOfSource = db.prepare(
  "SELECT * FROM component_causes WHERE source_id = ? AND source = 'incident'",
);
const insertCause = db.prepare(
  "INSERT INTO component_causes (component_id, source, source_id, status, started_at) VALUES ($id, 'incident', $incident, 'partial_outage', $now)",
);
const listCauses = db.prepare(
  "SELECT * FROM component_causes WHERE component_id = ? AND ended_at IS NULL",
);
const updateComponent = db.prepare(
  "UPDATE components SET status = 'partial_outage', version = version + 1, updated_at = $now WHERE id = $id",
);
const updatePage = db.prepare(
  "UPDATE pages SET content_version = content_version + 1, content_changed_at = $now WHERE id = $page",
);

const page = findPage.get("large")?.id;
const ids = db
  .prepare<{ id: string }, [string]>("SELECT id FROM components WHERE page_id = ?")
  .all(page ?? "")
  .map((row) => row.id);
const actor = `key_${"0".repeat(26)}`;
const name = "Elevated error rates";
const body = "We are looking into it. The next update follows within half an hour.";

/** Ids begin with the time, as Allclear's do, so that they are appended and new in every run. */
const beginning = Date.now().toString(36).padStart(12, "0");
let count = 0;
function open(): void {
  const id = ids[count % ids.length] as string;
  const end = beginning + String((count += 1)).padStart(14, "0");
  const [incident, update, event] = [`inc_${end}`, `upd_${end}`, `evt_${end}`];
  const now = Date.now();
  begin.run();
  const { id: page } = findPage.get("large") ?? { id: "" };
  const { name: component } = findComponent.get(id) ?? { name: "" };
  insertIncident.run({ incident, page, name, now });
  insertUpdate.run({ update, incident, body, now });
  insertNaming.run({ update, incident, id, component });
  insertAudit.run({ actor, incident, summary: `Opened the incident “${name}”`, now });
  const data = { id: incident, page, name, components: [{ id, component }], latest: { body } };
  insertEvent.run({ event, page, incident, data: JSON.stringify(data), now });
  listCausesOfSource.all(incident);
  findComponent.get(id);
  insertCause.run({ id, incident, now });
  listCauses.all(id);
  updateComponent.run({ id, now });
  updatePage.run({ page, now });
  commit.run();
}

const since = performance.now();
while (performance.now() - since < Number(seconds) * 1_000) open();
process.stdout.write(String(count / ((performance.now() - since) / 1_000)));
db.close();
