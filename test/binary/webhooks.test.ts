import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { type Receiver, startReceiver } from "../support/receiver";

setDefaultTimeout(PROCESS_TEST_MS);

const COMPONENTS = 100;
const ROUNDS = 10;
const EVENTS = COMPONENTS * ROUNDS;
const ENV = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" };

interface Site {
  server: Server;
  /** Changes every component ten times: a thousand events. */
  changeAll(): Promise<void>;
}

async function createSite(site: Installation, receiver: Receiver): Promise<Site> {
  const names = Array.from({ length: COMPONENTS }, (_, index) => `Component ${index}`);
  await site.createPage("acme", names);
  const { value: key } = await site.createKey([
    "read:status",
    "write:components",
    "manage:webhooks",
  ]);
  const server = await site.serve({ env: ENV });
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await server.fetch(path, {
      method,
      key,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  };
  await send("POST", "/api/v1/webhooks", { url: receiver.url });
  const answer = await server.fetch("/api/v1/status/acme", { key });
  const { components } = (await answer.json()) as { components: { id: string }[] };
  return {
    server,
    async changeAll() {
      for (let round = 0; round < ROUNDS; round++) {
        const status = round % 2 === 0 ? "major_outage" : "operational";
        const changes = Object.fromEntries(components.map(({ id }) => [id, status]));
        await send("PATCH", "/api/v1/components", { components: changes });
      }
    },
  };
}

/** Reads the events and deliveries in the database of a stopped server. */
function readDatabase({ dataDir }: Installation) {
  const sqlite = new Database(join(dataDir, "allclear.db"), { readonly: true });
  const events = sqlite.query<{ id: string }, []>("SELECT id FROM events").all();
  const pending = sqlite
    .query<{ id: string }, []>("SELECT event_id AS id FROM deliveries WHERE status = 'pending'")
    .all();
  const statuses = sqlite
    .query<{ status: string; count: number }, []>(
      "SELECT status, COUNT(*) AS count FROM deliveries GROUP BY status",
    )
    .all();
  sqlite.close();
  return {
    events: events.map(({ id }) => id),
    /** Ids of the events that are not recorded as delivered. */
    pending: pending.map(({ id }) => id),
    statuses: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
  };
}

const idsOf = (receiver: Receiver) => new Set(receiver.received.map(({ id }) => id));

const hasAll = (receiver: Receiver) => holds(async () => idsOf(receiver).size >= EVENTS);

describe("kill -9 during deliveries", () => {
  test("kill -9 during a thousand deliveries loses none, and repeated ones have the same id", async () => {
    let isDead = false;
    const middle = EVENTS / 4;
    await using receiver = startReceiver((_message, count) =>
      count <= middle || isDead ? 200 : new Promise<number>(() => undefined),
    );
    await using site = await createInstallation();
    const { server, changeAll } = await createSite(site, receiver);
    await Promise.all([changeAll(), receiver.until(middle + 8)]);
    await server.kill();
    isDead = true;
    expect(idsOf(receiver).size).toBe(middle + 8);

    const again = await site.serve({ env: ENV });
    expect(await hasAll(receiver)).toBe(true);
    expect(await again.stop()).toBe(0);
    const { events, statuses } = readDatabase(site);
    expect(events).toHaveLength(EVENTS);
    expect([...idsOf(receiver)].toSorted()).toEqual(events.toSorted());
    expect(statuses).toEqual({ delivered: EVENTS });
    // At least the unanswered ones.
    expect(receiver.received.length).toBeGreaterThanOrEqual(EVENTS + 8);
  });

  test("kill -9 between a receiver's answer and its record sends the same message again", async () => {
    let server: Server | undefined;
    // The second round's messages begin when the first round's have been answered.
    await using receiver = startReceiver((_message, count) => {
      if (count === 9) server?.signal("SIGKILL");
      return 200;
    });
    await using site = await createInstallation();
    const made = await createSite(site, receiver);
    server = made.server;
    await made.changeAll().catch(() => undefined);
    await server.exited;
    const { events, pending } = readDatabase(site);
    const unrecorded = pending.filter((id) => idsOf(receiver).has(id));
    expect(unrecorded.length).toBeGreaterThan(0);

    const again = await site.serve({ env: ENV });
    const countOf = (id: string) => receiver.received.filter((one) => one.id === id).length;
    const isEverythingThere = () =>
      holds(
        async () =>
          idsOf(receiver).size === events.length && unrecorded.every((id) => countOf(id) === 2),
      );
    expect(await isEverythingThere()).toBe(true);
    expect(await again.stop()).toBe(0);
    expect([...idsOf(receiver)].toSorted()).toEqual(events.toSorted());
    expect(readDatabase(site).statuses).toEqual({ delivered: events.length });
  });
});

describe("deliveries of a server that is stopped", () => {
  test("a stopping server completes running deliveries and keeps the rest for the next start", async () => {
    const answer = Promise.withResolvers<number>();
    await using receiver = startReceiver(() => answer.promise);
    await using site = await createInstallation();
    const { server, changeAll } = await createSite(site, receiver);
    await changeAll();
    await receiver.until(8);
    server.signal("SIGTERM");
    // It takes no new connection once it has begun to stop.
    await holds(() =>
      server.fetch("/readyz").then(
        () => false,
        () => true,
      ),
    );
    answer.resolve(200);
    expect(await server.exited).toBe(0);
    expect(receiver.received).toHaveLength(8);
    expect(readDatabase(site).statuses).toEqual({ delivered: 8, pending: EVENTS - 8 });

    const again = await site.serve({ env: ENV });
    expect(await hasAll(receiver)).toBe(true);
    expect(await again.stop()).toBe(0);
    expect(readDatabase(site).statuses).toEqual({ delivered: EVENTS });
    expect(receiver.received).toHaveLength(EVENTS);
  });
});
