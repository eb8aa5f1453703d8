/**
 * Opens a database of Uptime Kuma as another user, and prints the names of its monitors or the error, in JSON:
 * `bun open-kuma-as.ts PATH UID TEMPORARY-FOLDER`. Waits for a line before it closes the database. Needs root.
 */
import { openKumaDatabase } from "../../../src/imports/uptime-kuma/database";

const [, , path = "", uid = "", temporary = ""] = process.argv;
process.env["TMPDIR"] = temporary;
process.setgroups?.([]);
process.setgid?.(Number(uid));
process.setuid?.(Number(uid));

try {
  using kuma = await openKumaDatabase(path);
  console.log(JSON.stringify(kuma.rows("monitor", ["name"]).map(({ name }) => name)));
  for await (const _line of console) break;
} catch (error) {
  console.log(JSON.stringify((error as Error).message));
}
