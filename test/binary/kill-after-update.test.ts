import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInstallation, type Server, PROCESS_TEST_MS } from "../support/binary";

/** A hundred starts, on a machine that may be busy with other things. */
setDefaultTimeout(PROCESS_TEST_MS);

const UPDATES = 100;

test("kill -9 after each of a hundred acknowledged updates loses none and delivers each event once", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API"]);
  const { value: key } = await site.createKey(["read:status", "write:incidents"]);
  const send = async (server: Server, path: string, body: object) => {
    const answer = await server.fetch(path, {
      method: "POST",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as { id: string };
  };

  const acknowledged: string[] = [];
  let incident = "";
  for (let n = 1; n <= UPDATES; n++) {
    const server = await site.serve();
    if (n === 1) {
      const opened = { page: "acme", name: "Slow answers", body: "Update 0" };
      incident = (await send(server, "/api/v1/incidents", opened)).id;
    }
    const path = `/api/v1/incidents/${incident}/updates`;
    acknowledged.push((await send(server, path, { body: `Update ${n}` })).id);
    await server.kill();
  }

  const server = await site.serve();
  const answer = await server.fetch(`/api/v1/incidents/${incident}`, { key });
  const { updates } = (await answer.json()) as { updates: { id: string; body: string }[] };
  const shown = updates.toReversed();
  expect(shown.map(({ body }) => body)).toEqual(
    Array.from({ length: UPDATES + 1 }, (_, n) => `Update ${n}`),
  );
  expect(shown.slice(1).map(({ id }) => id)).toEqual(acknowledged);
  expect(await server.stop()).toBe(0);

  using sqlite = new Database(join(site.dataDir, "allclear.db"), { readonly: true });
  const events = sqlite
    .query<{ type: string; update: string }, [string]>(
      "SELECT type, data ->> '$.latest_update.id' AS 'update' FROM events WHERE subject_id = ? ORDER BY id",
    )
    .all(incident);
  expect(events.shift()?.type).toBe("incident.created");
  expect(events).toEqual(acknowledged.map((update) => ({ type: "incident.updated", update })));
  expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
});
