import { describe, expect, test } from "bun:test";
import {
  beginRequest,
  countedOf,
  sendForever,
  untilCounted,
  untilRead,
} from "../support/body-senders";
import { createTestClock } from "../support/clock";
import { type MonitorApi, recordingMonitoring } from "../support/monitor-api";
import { parseAnswer } from "../support/raw-http";
import { serveApp } from "../support/served-app";

/** Milliseconds after which a heartbeat is recorded with the part of its body that has come. */
const DEADLINE_MS = 10_000;
const ROUTE = "/api/v1/heartbeats/:token";
const CHUNKED = "Transfer-Encoding: chunked";

/** A server that listens, with a push monitor whose heartbeats are kept. */
async function openSite() {
  const clock = createTestClock();
  const heartbeats: MonitorApi["heartbeats"] = [];
  const site = await serveApp({
    clock,
    monitoring: (ctx) => recordingMonitoring(ctx, heartbeats, []),
  });
  const key = await site.app.keyWith("manage:monitors");
  const json = { type: "push", name: "Backup", config: {} };
  const { body } = await site.app.call("/api/v1/monitors", { method: "POST", key, json });
  const path = `/api/v1/heartbeats/${body.token}`;
  return {
    ...site,
    clock,
    heartbeats,
    /** Sends the head of a heartbeat. */
    begin: (headers: readonly string[], query = "") =>
      beginRequest(site, `POST ${path}${query}`, headers),
    rotate: () =>
      site.app.call(`/api/v1/monitors/${body.id}/rotate-token`, { method: "POST", key }),
    messages: () => heartbeats.map(({ message }) => message),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

describe("the body of a heartbeat", () => {
  test("a compressed heartbeat is rejected", async () => {
    await using site = await openSite();
    using zipped = await site.begin(["Content-Encoding: gzip", "Content-Length: 4"]);
    zipped.send("abcd");
    const rejected = parseAnswer(await zipped.until(/"instance"/));
    expect(rejected?.status).toBe(415);
    expect(rejected?.headers["accept-encoding"]).toBe("identity");
    expect(site.heartbeats).toEqual([]);

    using plain = await site.begin(["Content-Encoding: identity", "Content-Length: 4"]);
    plain.send("abcd");
    const taken = parseAnswer(await plain.until(/"ok"/));
    expect(taken?.status).toBe(200);
    expect(taken?.headers["connection"]).toBeUndefined();
    expect(site.messages()).toEqual(["abcd"]);
  });

  test("a heartbeat that arrives slowly is recorded after 10 seconds with what has arrived, and the connection is closed", async () => {
    await using site = await openSite();
    using connection = await site.begin([CHUNKED]);
    connection.send("5\r\ndisk \r\n");
    await untilRead(site);
    await site.clock.advance(DEADLINE_MS - 1);
    connection.send("4\r\nfull\r\n");
    await untilRead(site);
    expect(site.heartbeats).toEqual([]);
    await site.clock.advance(1);
    const answer = parseAnswer(await connection.untilClosed());
    expect([answer?.status, answer?.headers["connection"]]).toEqual([200, "close"]);
    expect(site.messages()).toEqual(["disk full"]);
  });

  test("a heartbeat without end is answered after its first 1,000 characters, and the connection is closed", async () => {
    await using site = await openSite();
    using connection = await site.begin([CHUNKED]);
    const answer = parseAnswer(await sendForever(connection));
    expect([answer?.status, answer?.headers["connection"]]).toEqual([200, "close"]);
    expect(answer?.body).toBe('{"ok":true,"msg_truncated":true}');
    expect(site.messages()).toEqual(["a".repeat(1_000)]);
  });

  test("a heartbeat with a message in the query is answered without reading its body, and the connection is closed", async () => {
    await using site = await openSite();
    using connection = await site.begin([CHUNKED], "?msg=done");
    const answer = parseAnswer(await sendForever(connection));
    expect([answer?.status, answer?.headers["connection"]]).toEqual([200, "close"]);
    expect(site.messages()).toEqual(["done"]);
  });

  test("a heartbeat that arrives after its token was rotated is not recorded", async () => {
    await using site = await openSite();
    using connection = await site.begin(["Content-Length: 4"]);
    await untilRead(site);
    expect((await site.rotate()).status).toBe(200);
    connection.send("done");
    expect(await connection.until(/"instance"/)).toStartWith("HTTP/1.1 404");
    expect(site.heartbeats).toEqual([]);
  });

  test.each([
    ["of a declared length", "Content-Length: 1000", "half"],
    ["in chunks", CHUNKED, "4\r\nhalf\r\n"],
  ])(
    "a heartbeat whose connection is closed before its whole body %s has arrived is not recorded",
    async (_how, header, part) => {
      await using site = await openSite();
      {
        using connection = await site.begin([header]);
        connection.send(part);
        await untilRead(site);
      }
      await untilCounted(site, ROUTE, 1);
      expect(site.heartbeats).toEqual([]);
      expect(countedOf(site, ROUTE)).toEqual({ "499": 1 });
      expect(site.app.logged.filter((entry) => Number(entry["level"]) >= 40)).toEqual([]);
    },
  );

  test.each([
    ["of a declared length", "Content-Length: 4", "done"],
    ["in chunks", CHUNKED, "4\r\ndone\r\n0\r\n\r\n"],
  ])(
    "a heartbeat with a whole body %s is recorded even if its sender does not wait for the answer",
    async (_how, header, body) => {
      await using site = await openSite();
      {
        using connection = await site.begin([header]);
        connection.send(body);
      }
      await untilCounted(site, ROUTE, 1);
      expect(site.messages()).toEqual(["done"]);
      expect(countedOf(site, ROUTE)).toEqual({ "200": 1 });
    },
  );

  test("a heartbeat is recorded if its connection is closed after the first 10,000 bytes of its body", async () => {
    await using site = await openSite();
    {
      using connection = await site.begin(["Content-Length: 50000"]);
      connection.send("a".repeat(20_000));
    }
    await untilCounted(site, ROUTE, 1);
    expect(site.messages()).toEqual(["a".repeat(1_000)]);
  });

  test("a heartbeat reserves 16 KiB, so 256 of one address are accepted at once and one more is rate_limited", async () => {
    await using site = await openSite();
    const headers = { "transfer-encoding": "chunked" };
    const key = await site.app.keyWith("manage:monitors");
    const tokens: string[] = [];
    for (let n = 0; n < 5; n++) {
      const json = { type: "push", name: `Job ${n}`, config: {} };
      const { body } = await site.app.call("/api/v1/monitors", { method: "POST", key, json });
      tokens.push(body.token);
    }
    const arrived = Promise.withResolvers<void>();
    const beat = (n: number) => {
      const raw = new ReadableStream({
        async pull(stream) {
          await arrived.promise;
          stream.close();
        },
      });
      const path = `/api/v1/heartbeats/${tokens[n % tokens.length]}`;
      return site.app.call(path, { method: "POST", raw, headers });
    };
    const underWay = Array.from({ length: 256 }, (_, n) => beat(n));
    expect((await beat(256)).status).toBe(429);
    arrived.resolve();
    const statuses = (await Promise.all(underWay)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await beat(256)).status).toBe(200);
  });
});
