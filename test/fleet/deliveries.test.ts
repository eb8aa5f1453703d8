import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine, startFleet } from "../support/fleet/fleet";
import { durationMs, report, rounds } from "../support/fleet/long";
import type { FleetNode } from "../support/fleet/nodes";

const ENDPOINTS = 10;
const INCIDENTS = 20;

/** Time that the receiver takes for an answer, in ms. */
const ANSWER_MS = 100;

/** Time within which results of deliveries reach the store, in ms. */
const UPLOAD_MS = 1_500;

/** Deliveries as their receiver saw them. */
function startReceiver() {
  const received: { delivery: string; answeredAt: number | undefined }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const delivery = `${new URL(request.url).pathname} ${request.headers.get("webhook-id")}`;
      const entry: (typeof received)[number] = { delivery, answeredAt: undefined };
      received.push(entry);
      await request.text();
      await Bun.sleep(ANSWER_MS);
      entry.answeredAt = performance.now();
      return new Response();
    },
  });
  return { received, url: server.url, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function addEndpoints(primary: FleetNode, url: URL): Promise<void> {
  const webhooks = Array.from({ length: ENDPOINTS }, (_, index) => ({
    ref: `endpoint-${index}`,
    url: new URL(`/${index}`, url).href,
    events: ["incident.created"],
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
  }));
  const file = join(primary.folder, "webhooks.json");
  await Bun.write(file, JSON.stringify({ pages: [], webhooks }));
  expect(await primary.run("apply", file)).toMatchObject({ code: 0 });
}

await describeWithPrograms("deliveries of webhooks", { go: ["versitygw", "litestream"] }, () => {
  test(
    "all arrive when the primary is killed, and few of them twice with the same id",
    async () => {
      const all = rounds(1, 10);
      const totals = { deliveries: 0, missing: 0, repeated: 0, openAtKill: 0, notUploaded: 0 };
      for (let round = 0; round < all; round++) {
        await using receiver = startReceiver();
        await using fleet = await startFleet({
          replicas: 1,
          args: ["--eligible"],
          env: { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" },
        });
        const { primary, key } = fleet;
        const [replica] = fleet.replicas;
        if (!replica) throw new Error("there is no replica");
        await addEndpoints(primary, receiver.url);
        const { received } = receiver;
        const posts = Array.from({ length: INCIDENTS }, async (_, number) => {
          const body = { page: "acme", name: `Incident ${number}`, body: "x" };
          const answer = await primary.call("/api/v1/incidents", { method: "POST", key, body });
          expect([answer.status, answer.headers.get("allclear-durability")]).toEqual([201, null]);
        });
        await Promise.all(posts);
        const wanted = ENDPOINTS * INCIDENTS;
        await eventually(
          "half of the deliveries arrive",
          async () => received.length >= wanted / 2,
        );
        const killedAt = performance.now();
        await killMachine(primary);
        const openAtKill = received.filter(({ answeredAt }) => answeredAt === undefined).length;
        const notUploaded = received.filter(
          ({ answeredAt = 0 }) => answeredAt > killedAt - UPLOAD_MS,
        ).length;
        expect(await replica.run("promote", "--force")).toMatchObject({ code: 0 });
        const distinct = () => new Set(received.map(({ delivery }) => delivery)).size;
        await eventually("all deliveries arrive", async () => distinct() >= wanted);
        // A delivery that is repeated once more would come by now.
        await Bun.sleep(2_000);
        totals.deliveries += wanted;
        totals.missing += wanted - distinct();
        totals.repeated += received.length - distinct();
        totals.openAtKill += openAtKill;
        totals.notUploaded += notUploaded;
        expect(received.length - distinct()).toBeLessThanOrEqual(openAtKill + notUploaded);
      }
      report("deliveries while the primary is killed", { rounds: all, ...totals });
      expect(totals.missing).toBe(0);
    },
    durationMs(90_000, 1_800_000),
  );
});
