import { expect, test } from "bun:test";
import { createInstallation, type Installation, type Server } from "../../support/binary";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type Edge, REFRESH, startEdge } from "../../support/fleet/edge";
import { type Receiver, startReceiver } from "../../support/receiver";

/** Time limit of a test, in ms. */
const TEST_MS = 60_000;

interface Site extends AsyncDisposable {
  installation: Installation;
  origin: Server;
  edge: Edge;
  /** Purge address. Each request makes the edge fetch the page again. */
  purge: Receiver;
  /** Resolves once this number of purges has been received and done. */
  purged(count: number): Promise<void>;
  /** Key that reads status pages and writes incidents. */
  key: string;
  /** Opens an incident at the origin. */
  openIncident(name: string): Promise<void>;
}

/** A server as a process of its own, and nginx in front of it. */
async function createSite(seconds = 3_600): Promise<Site> {
  const installation = await createInstallation();
  await installation.createPage("acme", ["API"]);
  const { value: key } = await installation.createKey(["read:status", "write:incidents"]);
  const edges: Edge[] = [];
  const refreshes: Promise<unknown>[] = [];
  const purge = startReceiver(async ({ headers }) => {
    // The one of the start, which concerns no test.
    if (headers["surrogate-key"] === "all") return 200;
    // The edge may end before, at the end of a test.
    const refresh = edges[0]?.visit("/status/acme", { [REFRESH]: "1" }).catch(() => undefined);
    refreshes.push(refresh ?? Promise.resolve());
    await refresh;
    return 200;
  });
  const origin = await installation.serve({
    env: {
      ALLCLEAR_CDN: String(seconds),
      ALLCLEAR_PURGE_URL: purge.url,
      ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1",
    },
  });
  const edge = await startEdge(origin.port);
  edges.push(edge);
  return {
    installation,
    origin,
    edge,
    purge,
    async purged(count) {
      await purge.until(count);
      await Promise.all(refreshes);
    },
    key,
    async openIncident(name) {
      const answer = await origin.fetch("/api/v1/incidents", {
        method: "POST",
        key,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ page: "acme", name, body: "We look into it." }),
      });
      expect(answer.status).toBe(201);
    },
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      await installation[Symbol.asyncDispose]();
      await purge[Symbol.asyncDispose]();
    },
  };
}

const PUBLIC = [
  "/",
  "/status/acme",
  "/status/acme/history",
  "/status/acme/version",
  "/status/acme/summary.json",
  "/status/acme/feed.atom",
  "/status/acme/calendar.ics",
  "/status/acme/badge.svg",
  "/status/acme/widget.js",
  "/api/v2/summary.json",
  "/openapi.json",
  "/robots.txt",
  "/status/acme/incidents/inc_none",
];

const NEVER = [
  "/healthz",
  "/readyz",
  "/admin/sign-in",
  "/api/v1/status",
  "/metrics",
  "/status/nobody",
  "/status/acme/nothing",
];

await describeWithPrograms("nginx as the cache in front of a server", { debian: ["nginx"] }, () => {
  test(
    "nginx stores each public answer, and nothing that is no-store",
    async () => {
      await using site = await createSite();
      const { edge, key } = site;
      for (const path of PUBLIC) {
        const [first, second] = [await edge.visit(path), await edge.visit(path)];
        expect([path, first.cache, second.cache]).toEqual([path, "MISS", "HIT"]);
        expect([second.status, second.text]).toEqual([first.status, first.text]);
        for (const name of ["x-request-id", "ratelimit", "x-ratelimit-remaining", "set-cookie"]) {
          expect([path, name, second.headers.get(name)]).toEqual([path, name, null]);
        }
        const authorization = `Bearer ${key}`;
        const cookie = "allclear_session=x; other=1";
        expect((await edge.visit(path, { authorization, cookie })).text).toBe(first.text);
      }
      for (const path of NEVER) {
        const authorization = `Bearer ${key}`;
        for (const headers of [undefined, undefined, { authorization }]) {
          const { cache } = await edge.visit(path, headers);
          expect([path, cache]).toEqual([path, "MISS"]);
        }
      }
    },
    TEST_MS,
  );

  test(
    "a plain and a compressed answer are stored side by side, and an entity tag is confirmed by the edge",
    async () => {
      await using site = await createSite();
      const { edge } = site;
      const plain = await edge.visit("/status/acme", { "accept-encoding": "identity" });
      const packed = await edge.visit("/status/acme", { "accept-encoding": "gzip" });
      expect([plain.cache, packed.cache, packed.text]).toEqual(["MISS", "MISS", plain.text]);
      expect(packed.headers.get("etag")).not.toBe(plain.headers.get("etag"));
      for (const [answer, encoding] of [
        [plain, "identity"],
        [packed, "gzip"],
      ] as const) {
        const again = await edge.visit("/status/acme", {
          "accept-encoding": encoding,
          "if-none-match": answer.headers.get("etag") ?? "",
        });
        expect([again.status, again.cache]).toEqual([304, "HIT"]);
      }
    },
    TEST_MS,
  );

  test(
    "an incident is on the page at the edge as soon as the purge was answered, although the page is kept for an hour",
    async () => {
      await using site = await createSite();
      const { edge, purge } = site;
      await site.purged(1);
      expect((await edge.visit("/status/acme")).text).not.toContain("Broken uplink");
      await site.openIncident("Broken uplink");
      await site.purged(2);
      const { cache, text } = await edge.visit("/status/acme");
      expect([cache, text.includes("Broken uplink")]).toEqual(["HIT", true]);
      expect(purge.received[1]?.headers["surrogate-key"]).toMatch(/^page-page_\w+$/);
    },
    TEST_MS,
  );

  test(
    "without an answer from the server, the edge serves what it has for a day, and asks again when it is back",
    async () => {
      await using site = await createSite(15);
      const { installation, edge, origin } = site;
      const before = await edge.visit("/status/acme");
      await origin.kill();
      edge.age(14);
      expect((await edge.visit("/status/acme")).cache).toBe("HIT");
      // Past its lifetime and past stale-while-revalidate.
      edge.age(80);
      for (let visits = 0; visits < 50; visits++) {
        const { status, cache, text } = await edge.visit("/status/acme");
        expect([status, cache, text]).toEqual([200, "STALE", before.text]);
      }
      expect((await edge.visit("/status/acme/history")).status).toBe(502);
      edge.age(86_400);
      const late = await edge.visit("/status/acme");
      expect([late.status, late.cache]).toEqual([502, "EXPIRED"]);
      const listen = `127.0.0.1:${origin.port}`;
      await installation.serve({ env: { ALLCLEAR_CDN: "15", ALLCLEAR_LISTEN: listen } });
      expect((await edge.visit("/status/acme")).status).toBe(200);
    },
    TEST_MS,
  );

  test(
    "an unchanged page is confirmed by the origin without its bytes, while visitors get the stored one",
    async () => {
      await using site = await createSite(15);
      const { edge } = site;
      const first = await edge.visit("/status/acme/summary.json");
      edge.age(20);
      const stale = await edge.visit("/status/acme/summary.json");
      expect([stale.cache, stale.text]).toEqual(["STALE", first.text]);
      let next = await edge.visit("/status/acme/summary.json");
      while (next.cache !== "HIT") next = await edge.visit("/status/acme/summary.json");
      expect(next.headers.get("etag")).toBe(first.headers.get("etag"));
    },
    TEST_MS,
  );
});
