import { RedisClient } from "bun";
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine, startFleet } from "../support/fleet/fleet";
import { durationMs, IS_LONG_RUN, report, rounds } from "../support/long";
import type { FleetNode } from "../support/fleet/nodes";
import { startRedis } from "../support/fleet/redis";
import { idsByRecipient, startRelay } from "../support/relay";

const ENDPOINTS = 10;
const INCIDENTS = 20;
const SUBSCRIBERS = 50;

/** Time that receiver and relay take for an answer, in ms. */
const ANSWER_MS = 100;
/** Time within which results reach the store, in ms. */
const UPLOADED_MS = 1_500;

/** Message as its receiver saw it. */
interface Received {
  answeredAt: number | undefined;
}

/** Endpoint of webhooks. Each message is named by endpoint and incident. */
function startReceiver() {
  const received: (Received & { name: string; incident: string; id: string })[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { data } = (await request.json()) as { data: { id: string } };
      const { pathname } = new URL(request.url);
      const id = request.headers.get("webhook-id") ?? "";
      const name = `${pathname} ${data.id}`;
      const entry = { name, incident: data.id, id, answeredAt: undefined as number | undefined };
      received.push(entry);
      await Bun.sleep(ANSWER_MS);
      entry.answeredAt = performance.now();
      return new Response();
    },
  });
  return { received, url: server.url, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** Relay that takes all mails. */
async function startSlowRelay() {
  const begun: Received[] = [];
  const relay = await startRelay({
    onRcptTo(_address, _session, done) {
      const entry: Received = { answeredAt: undefined };
      begun.push(entry);
      setTimeout(() => {
        entry.answeredAt = performance.now();
        done();
      }, ANSWER_MS);
    },
  });
  return Object.assign(relay, { begun });
}

/** Creates endpoints for all incidents, one for those of the page `quiet`, and the page `mailed` with subscribers. */
async function addReceivers(primary: FleetNode, url: URL): Promise<void> {
  const endpoint = (name: string) => ({
    ref: `endpoint-${name}`,
    url: new URL(`/${name}`, url).href,
    events: ["incident.created"],
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  });
  const webhooks = [
    ...Array.from({ length: ENDPOINTS }, (_, index) => endpoint(String(index))),
    { ...endpoint("quiet"), page: "quiet" },
  ];
  const file = join(primary.folder, "receivers.json");
  const pages = ["mailed", "quiet"].map((slug) => ({ slug, name: slug, components: [] }));
  await Bun.write(file, JSON.stringify({ pages, webhooks }));
  expect(await primary.run("apply", file)).toMatchObject({ code: 0 });
  const list = join(primary.folder, "subscribers.csv");
  const lines = Array.from({ length: SUBSCRIBERS }, (_, index) => `user${index}@d${index}.test`);
  await Bun.write(list, ["email", ...lines].join("\n"));
  const imported = ["subscriber", "import", list, "--page", "mailed", "--consent", "They agreed."];
  expect(await primary.run(...imported)).toMatchObject({ code: 0 });
}

/** Returns the number of deliveries and mails that the database of a primary has not ended. */
function pendingAt(primary: FleetNode): number {
  using database = new Database(join(primary.folder, "allclear.db"), { readonly: true });
  const sql = `SELECT (SELECT count(*) FROM deliveries WHERE status = 'pending')
    + (SELECT count(*) FROM mails WHERE status = 'pending')
    + (SELECT count(*) FROM mailings WHERE state = 'expanding') AS pending`;
  return (database.query(sql).get() as { pending: number }).pending;
}

function isStoredAt(primary: FleetNode, name: string): boolean {
  using database = new Database(join(primary.folder, "allclear.db"), { readonly: true });
  return database.query("SELECT 1 FROM incidents WHERE name = ?").get(name) !== null;
}

/** Returns the number of attempts whose outcome is noted in Valkey. */
async function countNoted(url: string): Promise<number> {
  const client = new RedisClient(url);
  try {
    const keys = (await client.send("KEYS", ["send:*"])) as string[];
    const noted = keys.length === 0 ? [] : await client.send("MGET", keys);
    // An attempt without an outcome has the number of the term alone.
    return (noted as string[]).filter((text) => text.includes(" {")).length;
  } finally {
    client.close();
  }
}

/** Figures of a round. */
interface Figures {
  missing: number;
  repeated: number;
  /** Attempts that the receivers had not answered at the kill. */
  unanswered: number;
  /** Attempts whose result the next primary cannot know, which it repeats at most. */
  unknown: number;
}

/** Kills a primary with webhooks and mails under way, and lets the replica repeat what had no result. */
async function runRound({ isAutomatic, hasValkey }: Way): Promise<Figures> {
  await using receiver = startReceiver();
  await using relay = await startSlowRelay();
  await using redis = hasValkey ? await startRedis() : undefined;
  await using fleet = await startFleet({
    replicas: 1,
    args: ["--eligible", ...(isAutomatic ? ["--failover", "automatic"] : [])],
    env: {
      ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8",
      ALLCLEAR_SMTP_HOST: "127.0.0.1",
      ALLCLEAR_SMTP_PORT: String(relay.port),
      ALLCLEAR_SMTP_TLS: "none",
      ALLCLEAR_SMTP_RATE: "0",
      ALLCLEAR_MAIL_FROM: "status@mail.example",
      ALLCLEAR_BASE_URL: "https://status.example.com",
      ALLCLEAR_VALKEY_URL: redis?.url,
    },
  });
  const { primary, key } = fleet;
  const [replica] = fleet.replicas;
  if (!replica) throw new Error("there is no replica");
  await addReceivers(primary, receiver.url);
  const { received } = receiver;

  /** Ids of the incidents whose writes were acknowledged from the store. */
  const acknowledged = new Set<string>();
  async function open(page: string, name = "Down"): Promise<void> {
    const body = { page, name, body: "x" };
    const request = { method: "POST", key, body };
    const answer = await primary.call("/api/v1/incidents", request).catch(() => undefined);
    if (answer?.status !== 201 || answer.headers.has("allclear-durability")) return;
    expect(answer.headers.get("allclear-txid")).toMatch(/^[0-9a-f]{16}$/);
    acknowledged.add(((await answer.json()) as { id: string }).id);
  }
  await open("mailed");
  await eventually("mails are under way", async () => relay.begun.length > 0);
  const posts = Array.from({ length: INCIDENTS - 1 }, () => open("acme"));
  const half = (ENDPOINTS * INCIDENTS) / 2;
  await eventually("half of the webhooks arrive", async () => received.length >= half);
  // From here on nothing is uploaded, so that nothing about the last incident may be sent.
  await fleet.store.kill();
  posts.push(open("quiet", "Last"));
  await eventually("the last incident is stored", async () => isStoredAt(primary, "Last"));
  const killedAt = performance.now();
  await killMachine(primary);
  await Promise.all(posts);
  await fleet.store.restart();
  const countSince = (time: number) =>
    [...received, ...relay.begun].filter(({ answeredAt = Infinity }) => answeredAt > time).length;
  const unanswered = countSince(killedAt);
  const unknown = redis
    ? received.length + relay.begun.length - (await countNoted(redis.url))
    : countSince(killedAt - UPLOADED_MS);
  const sentBefore = new Set(received.map(({ incident }) => incident));

  if (!isAutomatic) expect(await replica.run("promote", "--force")).toMatchObject({ code: 0 });
  await eventually(
    "the replica is the primary",
    async () => (await replica.call("/readyz/primary")).status === 200,
  );
  await eventually("nothing waits to be sent", async () => pendingAt(replica) === 0);
  // What was sent before its upload would be unknown to the new primary.
  for (const incident of sentBefore) {
    const { status } = await replica.call(`/api/v1/incidents/${incident}`, { key });
    expect([incident, status]).toEqual([incident, 200]);
  }
  const webhooks = Map.groupBy(received, ({ name }) => name);
  for (const all of webhooks.values()) expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  const mails = idsByRecipient(relay.mails);
  for (const ids of mails.values()) expect(ids.size).toBe(1);
  const wanted = [...acknowledged].flatMap((incident) =>
    Array.from({ length: ENDPOINTS }, (_, index) => `/${index} ${incident}`),
  );
  const repeated = received.length - webhooks.size + relay.mails.length - mails.size;
  expect(repeated).toBeLessThanOrEqual(unknown);
  return {
    missing: wanted.filter((name) => !webhooks.has(name)).length + SUBSCRIBERS - mails.size,
    repeated,
    unanswered,
    unknown,
  };
}

interface Way {
  name: string;
  isAutomatic: boolean;
  hasValkey: boolean;
}

const WAYS: readonly Way[] = [
  { name: "by hand", isAutomatic: false, hasValkey: false },
  { name: "by hand with Valkey", isAutomatic: false, hasValkey: true },
  { name: "automatic", isAutomatic: true, hasValkey: false },
  { name: "automatic with Valkey", isAutomatic: true, hasValkey: true },
];

const NEEDED = { go: ["versitygw", "litestream"], debian: ["redis-server|valkey-server"] } as const;

await describeWithPrograms("webhooks and mails when the primary is killed", NEEDED, () => {
  // An automatic failover takes 20 seconds.
  test.each(WAYS.filter(({ isAutomatic }) => IS_LONG_RUN || !isAutomatic))(
    "$name: all arrive, and few of them twice with the same id",
    async (way) => {
      const all = rounds(1, 10);
      const totals: Figures = { missing: 0, repeated: 0, unanswered: 0, unknown: 0 };
      for (let round = 0; round < all; round++) {
        const figures = await runRound(way);
        for (const name of Object.keys(totals) as (keyof Figures)[]) totals[name] += figures[name];
      }
      report(`messages while the primary is killed, ${way.name}`, { rounds: all, ...totals });
      expect(totals.missing).toBe(0);
    },
    durationMs(600_000, 1_800_000),
  );
});
