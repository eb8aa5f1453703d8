/**
 * Baseline for SQLite alone: the prepared statements of a component change in a loop, with one
 * durable commit per change. `raw-commits FILE SECONDS` works on a database of Allclear's schema
 * and prints the commits per second.
 */
import { Database } from "bun:sqlite";

const [file = "", seconds = "1"] = process.argv.slice(2);
const db = new Database(file, { readwrite: true, strict: true });
for (const setting of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) {
  db.run(`PRAGMA ${setting}`);
}

const begin = db.prepare("BEGIN IMMEDIATE");
const commit = db.prepare("COMMIT");
const findComponent = db.prepare<{ page_id: string }, [string]>(
  "SELECT * FROM components WHERE id = ?",
);
const endCauses = db.prepare(
  "UPDATE component_causes SET ended_at = $now WHERE component_id = $id AND ended_at IS NULL",
);
const insertCause = db.prepare(
  "INSERT INTO component_causes (component_id, source, source_id, status, started_at) VALUES ($id, 'api', $actor, $status, $now)",
);
const listCauses = db.prepare(
  "SELECT * FROM component_causes WHERE component_id = ? AND ended_at IS NULL",
);
const updateComponent = db.prepare(
  "UPDATE components SET status = $status, baseline_status = $status, version = version + 1, updated_at = $now WHERE id = $id",
);
const updatePage = db.prepare(
  "UPDATE pages SET content_version = content_version + 1, content_changed_at = $now WHERE id = $page",
);
const insertChange = db.prepare(
  "INSERT INTO component_changes (component_id, from_status, to_status, source, actor_kind, actor_id, actor_label, at) VALUES ($id, 'operational', $status, 'api', 'key', $actor, 'bench', $now)",
);
const insertEvent = db.prepare(
  "INSERT INTO events (id, type, page_id, subject_id, data, at) VALUES ($event, 'component.status_changed', $page, $id, $data, $now)",
);

const ids = db
  .prepare<{ id: string }, []>("SELECT id FROM components")
  .all()
  .map((row) => row.id);
const statuses = ["major_outage", "partial_outage", "degraded_performance", "under_maintenance"];
const actor = `key_${"0".repeat(26)}`;

/** Ids begin with the time, as Allclear's do, so that they are appended and new in every run. */
const beginning = `evt_${Date.now().toString(36).padStart(12, "0")}`;
let count = 0;
function change(): void {
  const id = ids[count % ids.length] as string;
  const status = statuses[Math.floor(count / ids.length) % statuses.length] as string;
  const now = Date.now();
  begin.run();
  const component = findComponent.get(id);
  if (!component) throw new Error(`${id} is not there`);
  const page = component.page_id;
  endCauses.run({ id, now });
  insertCause.run({ id, actor, status, now });
  listCauses.all(id);
  updateComponent.run({ id, status, now });
  updatePage.run({ page, now });
  insertChange.run({ id, actor, status, now });
  const event = beginning + String((count += 1)).padStart(14, "0");
  insertEvent.run({ event, page, id, data: JSON.stringify({ ...component, status }), now });
  commit.run();
}

const since = performance.now();
while (performance.now() - since < Number(seconds) * 1_000) change();
process.stdout.write(String(count / ((performance.now() - since) / 1_000)));
db.close();
