import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWithPrograms } from "../../support/fleet/describe";
import { fleetToken, TOKEN_HEADER } from "../../../src/fleet/store";
import { FLEET_SECRET, type FleetNode, startNode } from "../../support/fleet/nodes";
import { startS3 } from "../../support/fleet/s3";
import { eventually } from "../../support/fleet/eventually";
import { applyPage, createKeyAt } from "../../support/fleet/keys";
import { grantOf } from "../../support/page-access";

const statusOf = async (node: FleetNode, path: string, key?: string) =>
  (await node.call(path, key === undefined ? {} : { key })).status;

const PRIVATE_PAGE = `pages:
  - slug: inside
    name: Inside
    visibility: private
    access: { password: open sesame 1 }
`;

/** Makes a private page at the primary, and enters it at the replica by its password. Returns the grant. */
async function enterPrivatePage(primary: FleetNode, replica: FleetNode): Promise<string> {
  const file = join(primary.folder, "inside.yaml");
  writeFileSync(file, PRIVATE_PAGE);
  expect((await primary.run("apply", file)).code).toBe(0);
  await eventually(
    "the replica asks for the password",
    async () => (await statusOf(replica, "/status/inside")) === 401,
  );
  const origin = `http://127.0.0.1:${replica.port}`;
  const answer = await fetch(`${origin}/status/inside/access`, {
    method: "POST",
    redirect: "manual",
    headers: { origin },
    body: new URLSearchParams({ password: "open sesame 1" }),
  });
  expect(answer.status).toBe(303);
  return grantOf(answer);
}

await describeWithPrograms(
  "a replica in a process of its own",
  { go: ["litestream", "versitygw"] },
  () => {
    test("follows the primary, forwards changes, sees them, counts for the primary and outlives it", async () => {
      await using store = await startS3();
      await using primary = await startNode({ store, path: "fleet" });
      await applyPage(primary);
      const { value: key } = await createKeyAt(primary, "read:status", "write:incidents");
      await using replica = await startNode({ store, path: "fleet", args: ["--replica"] });
      await eventually(
        "the replica serves the page",
        async () => (await statusOf(replica, "/status/acme")) === 200,
      );
      await eventually(
        "the replica knows of revocations",
        async () => (await statusOf(replica, "/readyz/api")) === 200,
      );
      const ready = (await (await replica.call("/readyz")).json()) as Record<string, unknown>;
      expect(ready).toMatchObject({ role: "replica", term: 1, writable: false });
      expect(await statusOf(replica, "/readyz/primary")).toBe(503);

      // A change through the replica is made by the primary and comes back.
      const body = { page: "acme", name: "Down here", body: "It is down." };
      const made = await replica.call("/api/v1/incidents", { method: "POST", key, body });
      expect(made.status).toBe(201);
      const own = await replica.call("/api/v1/incidents", { key });
      expect(own.headers.has("allclear-as-of")).toBe(false);
      expect(await own.text()).toContain("Down here");
      await eventually("the incident is shown", async () =>
        (await (await replica.call("/status/acme")).text()).includes("Down here"),
      );

      // A key that a command made, and revoked, on the primary.
      const { value: other } = await createKeyAt(primary, "read:status");
      await eventually(
        "the new key is known",
        async () => (await statusOf(replica, "/api/v1/components", other)) === 200,
      );
      await eventually("the use of the key is counted", async () => {
        using database = new Database(join(primary.folder, "allclear.db"), { readonly: true });
        const sum = "SELECT sum(ok) AS uses FROM api_key_hours";
        return (database.query<{ uses: number }, []>(sum).get()?.uses ?? 0) >= 2;
      });

      // A private page is the primary's, whose password opens it here too.
      const cookie = await enterPrivatePage(primary, replica);
      const inside = await replica.call("/status/inside", { headers: { cookie } });
      expect([inside.status, inside.headers.has("allclear-as-of")]).toEqual([200, false]);

      // The primary knows its replica.
      const headers = { [TOKEN_HEADER]: fleetToken(FLEET_SECRET) };
      await eventually("the primary knows the replica", async () => {
        const answer = await fetch(`${primary.privateUrl}/fleet/v1/nodes`, { headers });
        const { nodes } = (await answer.json()) as { nodes: { role: string }[] };
        return nodes.map(({ role }) => role).join() === "primary,replica";
      });
      const self = await fetch(`${replica.privateUrl}/fleet/v1/status`, { headers });
      expect(await self.json()).toMatchObject({ role: "replica", term: 1 });
      expect((await fetch(`${replica.privateUrl}/fleet/v1/status`)).status).toBe(401);
      expect(await statusOf(replica, "/fleet/v1/status")).toBe(404);

      // Without the primary pages are served and changes are refused.
      await primary.kill();
      expect(await statusOf(replica, "/status/acme")).toBe(200);
      expect((await replica.call("/status/inside", { headers: { cookie } })).status).toBe(503);
      const refused = await replica.call("/api/v1/incidents", { method: "POST", key, body });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      // Nobody can revoke a key now, and the store can be listed.
      expect(await statusOf(replica, "/api/v1/components", other)).toBe(200);
      expect(await statusOf(replica, "/readyz")).toBe(200);
    }, 600_000);

    test("does not start without a copy if its secret is not that of the leader record", async () => {
      await using store = await startS3();
      await using primary = await startNode({ store, path: "fleet" });
      const env = { ALLCLEAR_FLEET_SECRET: "a secret of another fleet, 40 characters" };
      const start = startNode({ store, path: "fleet", args: ["--replica"], env });
      const message = await start.then(String, (error: Error) => error.message);
      expect(message).toContain("ALLCLEAR_FLEET_SECRET must be equal");
      expect(message).not.toContain(env.ALLCLEAR_FLEET_SECRET);
      expect(primary.output()).not.toContain(env.ALLCLEAR_FLEET_SECRET);
    }, 600_000);

    test("refuses a data directory with a database of its own", async () => {
      await using store = await startS3();
      const folder = join(store.folder, "own");
      mkdirSync(folder);
      writeFileSync(join(folder, "allclear.db"), "");
      const started = startNode({
        store,
        path: "fleet",
        args: ["--replica", "--data-dir", folder],
      });
      expect(started).rejects.toThrow("has a database of its own");
      await started.catch(() => {});
    }, 600_000);
  },
);
