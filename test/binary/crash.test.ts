import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createInstallation, PROCESS_TEST_MS, type Server } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const CLIENTS = 32;

interface ShownComponent {
  id: string;
  status: string;
}

async function componentsOf(server: Server, key: string): Promise<ShownComponent[]> {
  const answer = await server.fetch("/api/v1/status/acme", { key });
  return ((await answer.json()) as { components: ShownComponent[] }).components;
}

test("kill -9 loses no acknowledged change and leaves a sound database", async () => {
  await using site = await createInstallation();
  const names = Array.from({ length: CLIENTS }, (_, index) => `Component ${index}`);
  await site.createPage("acme", names);
  const { value: key } = await site.createKey(["read:status", "write:components"]);
  const server = await site.serve();
  const components = await componentsOf(server, key);
  expect(components).toHaveLength(CLIENTS);
  const set = async (id: string, status: string) => {
    const answer = await server.fetch(`/api/v1/components/${id}`, {
      method: "PATCH",
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ status, reason: "a test" }),
    });
    return answer.status;
  };

  const acknowledged = await Promise.all(components.map(({ id }) => set(id, "partial_outage")));
  expect(acknowledged).toEqual(Array.from({ length: CLIENTS }, () => 200));

  // A second round is cut off by the kill, at its first acknowledgement.
  const secondRound = new Set<string>();
  const { promise: firstOfSecond, resolve } = Promise.withResolvers<void>();
  const underWay = Promise.allSettled(
    components.map(async ({ id }) => {
      if ((await set(id, "major_outage")) === 200) secondRound.add(id);
      resolve();
    }),
  );
  await Promise.race([firstOfSecond, underWay]);
  await server.kill();
  await underWay;
  expect(secondRound.size).toBeGreaterThan(0);

  const again = await site.serve();
  const after = await componentsOf(again, key);
  expect(after).toHaveLength(CLIENTS);
  for (const { id, status } of after) {
    if (secondRound.has(id)) expect(status).toBe("major_outage");
    else expect(["partial_outage", "major_outage"]).toContain(status);
    const history = await again.fetch(`/api/v1/components/${id}/history`, { key });
    const { data } = (await history.json()) as { data: { to: string }[] };
    expect(data.map(({ to }) => to)).toContain("partial_outage");
    expect(data[0]?.to).toBe(status);
  }
  expect(await again.stop()).toBe(0);

  const sqlite = new Database(join(site.dataDir, "allclear.db"), { readonly: true });
  expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
  sqlite.close();
});
