import { Database } from "bun:sqlite";

/** Event of a database that was set aside, which the present history lacks. */
export interface Orphan {
  id: string;
  type: string;
  /** Unix ms. */
  at: number;
  subject: string;
  /** Name of the subject, if the event has it. */
  name: string | null;
}

/**
 * Lists the events after the last common one of two databases that only the first has, oldest first. Events that
 * the second has deleted since, as they were old, are not among them.
 */
export function listOrphans(setAside: string, present: string): Orphan[] {
  const sqlite = new Database(setAside, { readonly: true, strict: true });
  try {
    sqlite.query("ATTACH $present AS present").run({ present });
    return sqlite.query<Orphan, []>(ORPHANS).all();
  } finally {
    sqlite.close();
  }
}

const ORPHANS = `
  SELECT id, type, at, subject_id AS subject, data ->> 'name' AS name
  FROM main.events
  WHERE id > ifnull(
      (SELECT own.id FROM main.events AS own
        WHERE EXISTS (SELECT 1 FROM present.events AS other WHERE other.id = own.id)
        ORDER BY own.id DESC LIMIT 1), '')
    AND id NOT IN (SELECT id FROM present.events)
  ORDER BY id`;
