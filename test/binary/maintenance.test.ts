import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SECOND_MS } from "../../src/base/time";
import { createInstallation, holds, PROCESS_TEST_MS, type Server } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

interface Shown {
  id: string;
  status: string;
  started_at: string | null;
  completed_at: string | null;
}

test("kill -9 and a restart lose no start or end of maintenance, and each event has its own time", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API"]);
  const { value: key } = await site.createKey(["read:status", "write:maintenance"]);
  const first = await site.serve();
  const now = Date.now();
  const after = (seconds: number) => new Date(now + seconds * SECOND_MS).toISOString();
  const component = (await componentOf(first, key)).id;

  const plan = async (name: string, from: string, until: string): Promise<string> => {
    const answer = await first.fetch("/api/v1/maintenance", {
      method: "POST",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        page: "acme",
        name,
        body: "Planned.",
        components: [component],
        scheduled_for: from,
        scheduled_until: until,
      }),
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as Shown).id;
  };
  const interrupted = await plan("Interrupted", after(1), after(6));
  const missed = await plan("Missed", after(4), after(4.5));

  const read = async (server: Server, id: string) =>
    (await (await server.fetch(`/api/v1/maintenance/${id}`, { key })).json()) as Shown;
  const hasBegun = async () => (await read(first, interrupted)).status === "in_progress";
  expect(await holds(hasBegun)).toBe(true);
  expect((await componentOf(first, key)).status).toBe("under_maintenance");
  await first.kill();
  await holds(async () => Date.now() > now + 4.5 * SECOND_MS);

  const second = await site.serve();
  const areOver = async () => {
    const both = [await read(second, interrupted), await read(second, missed)];
    return both.every(({ status }) => status === "completed");
  };
  expect(await holds(areOver)).toBe(true);
  expect(await read(second, interrupted)).toMatchObject({
    started_at: after(1),
    completed_at: after(6),
  });
  expect(await read(second, missed)).toMatchObject({
    started_at: after(4),
    completed_at: after(4.5),
  });
  expect((await componentOf(second, key)).status).toBe("operational");
  expect(await second.stop()).toBe(0);

  const sqlite = new Database(join(site.dataDir, "allclear.db"), { readonly: true });
  const eventTypes = sqlite.query<{ type: string }, [string]>(
    "SELECT type FROM events WHERE subject_id = ? ORDER BY id",
  );
  const once = ["maintenance.scheduled", "maintenance.started", "maintenance.completed"];
  for (const id of [interrupted, missed]) {
    expect(eventTypes.all(id).map(({ type }) => type)).toEqual(once);
  }
  expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  sqlite.close();
});

async function componentOf(server: Server, key: string): Promise<{ id: string; status: string }> {
  const answer = await server.fetch("/api/v1/status/acme", { key });
  const { components } = (await answer.json()) as { components: { id: string; status: string }[] };
  const [component] = components;
  if (!component) throw new Error("the page has no component");
  return component;
}
