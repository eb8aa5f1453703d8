import { describe, expect, test } from "bun:test";
import { chargeOf, expectProblem, requestOf } from "../../support/app";
import { createReplicaPair, FLEET_SECRET } from "../../support/fleet/replica-pair";
import { named, PROXY, PROXY_ENV } from "../../support/identity-proxy";
import { rawRequest } from "../../support/raw-http";
import { createApp } from "../../../src/app";
import { CLI_ACTOR } from "../../../src/base/actor";
import { revokeKey } from "../../../src/features/keys/keys";
import { createAcknowledge } from "../../../src/fleet/primary/primary";
import { CLIENT_HEADER, fleetToken, ORIGIN_HEADER, TOKEN_HEADER } from "../../../src/fleet/store";

const INCIDENT = { page: "acme", name: "Down", body: "It is down." };

describe("a request at a replica", () => {
  test("public pages, JSON, feeds, badges and files are answered by the replica, with the time of its data", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    for (const path of [
      "/status/acme",
      "/status/acme/history",
      "/status/acme/feed.atom",
      "/status/acme/badge.svg",
      "/status/acme/summary.json",
      "/status/acme/api/v2/summary.json",
      "/docs",
      "/healthz",
      "/readyz",
      "/status/none",
    ]) {
      const answer = await pair.call(path);
      expect([path, answer.status]).toEqual([path, path.endsWith("none") ? 404 : 200]);
      expect(answer.headers.get("allclear-as-of")).toBe("2026-03-10T12:00:00.000Z");
    }
    expect(pair.received).toEqual([]);
  });

  test.each([
    ["without --cdn", {}],
    ["with --cdn", { ALLCLEAR_CDN: "15" }],
  ])("answers %s show the present time of their data, also repeated ones", async (_name, env) => {
    await using pair = await createReplicaPair({ env });
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status");
    const calls = [
      () => pair.call("/status/acme"),
      () => pair.call("/status/acme/none"),
      () => pair.call("/api/v1/status/acme", { key }),
      () => pair.call("/api/v1/components", { key }),
    ];
    const shown = () =>
      Promise.all(calls.map(async (call) => (await call()).headers.get("allclear-as-of")));
    expect(await shown()).toEqual(Array(4).fill("2026-03-10T12:00:00.000Z"));
    pair.state.asOf = (pair.state.asOf ?? 0) + 5_000;
    expect(await shown()).toEqual(Array(4).fill("2026-03-10T12:00:05.000Z"));
  });

  test("a read by a key is answered by the replica", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    const answer = await pair.call("/api/v1/components", { key });
    expect(answer.status).toBe(200);
    expect(chargeOf(answer)).toBe("key 999");
    expect(answer.headers.get("allclear-as-of")).not.toBeNull();
    expect(pair.received).toEqual([]);
  });

  test("a change is made by the primary once, which charges the key", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("write:incidents");
    const answer = await pair.call("/api/v1/incidents", { method: "POST", key, json: INCIDENT });
    expect(answer.status).toBe(201);
    expect(answer.body.name).toBe("Down");
    expect(chargeOf(answer)).toBe("key 999");
    expect(answer.headers.get("allclear-as-of")).toBeNull();
    expect(answer.headers.get("allclear-forwarded")).toBeNull();
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(pair.primary.audit().filter(({ action }) => action === "incident.create").length).toBe(
      1,
    );
    expect(pair.received.length).toBe(1);
    expect(pair.forwarder.counts().answered).toBe(1);
  });

  test("refusals of the primary come back unchanged", async () => {
    await using pair = await createReplicaPair();
    const post = { method: "POST", json: INCIDENT };
    expectProblem(await pair.call("/api/v1/incidents", post), "missing_key");
    const reader = await pair.primary.keyWith("read:status");
    const refused = await pair.call("/api/v1/incidents", { ...post, key: reader });
    expectProblem(refused, "insufficient_scope");
    expectProblem(await pair.call("/api/v1/nothing", { method: "POST" }), "not_found");
    expectProblem(await pair.call("/status/acme", { method: "DELETE" }), "method_not_allowed");
  });

  test("the primary sees the client address that the replica found, not the client's own headers", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("write:incidents");
    await pair.call("/api/v1/incidents", {
      method: "POST",
      key,
      json: INCIDENT,
      from: "198.51.100.9",
      headers: { "x-forwarded-for": "192.0.2.1", "allclear-forwarded-for": "192.0.2.2" },
    });
    await pair.primary.app.usage.flush();
    const owner = await pair.primary.signedIn();
    const activity = await pair.primary.call("/admin/settings/activity", { session: owner });
    expect(activity.text).toContain("198.51.100.9");
    expect(activity.text).not.toContain("192.0.2.");
    const [sent] = pair.received;
    expect(sent?.headers.has("x-forwarded-for")).toBe(false);
    expect(
      [...(sent?.headers.keys() ?? [])].filter((name) => name.startsWith("allclear-")),
    ).toEqual([]);
    expect(sent?.url).toBe("http://status.test/api/v1/incidents");
    expect(sent?.headers.get("host")).toBe("status.test");
  });

  test("the dashboard is answered by the primary, with its cookies and redirects", async () => {
    await using pair = await createReplicaPair();
    const session = await pair.primary.signedIn();
    expect((await pair.call("/admin", { session })).status).toBe(200);
    const headers = { accept: "text/html" };
    const anonymous = await pair.call("/admin", { headers });
    expect(anonymous.headers.get("location")).toContain("/admin/sign-in");
    const out = await pair.call("/admin/sign-out", { session, form: {} });
    expect(out.headers.getSetCookie().join()).toContain("Max-Age=0");
    expect((await pair.call("/admin", { session })).status).toBe(401);
    expect((await pair.call("/admin/nothing", { session })).status).toBe(404);
    expect(pair.received.length).toBe(5);
  });

  test("the dashboard at a replica believes no headers of an identity proxy", async () => {
    await using pair = await createReplicaPair({ env: PROXY_ENV });
    await pair.primary.signedIn();
    const headers = named("bob");
    expectProblem(await pair.call("/admin", { from: PROXY, headers }), "sign_in_required");
    const [sent] = pair.received;
    for (const name of Object.keys(headers)) expect(sent?.headers.has(name)).toBe(false);
    expect((await pair.primary.call("/admin", { from: PROXY, headers })).status).toBe(200);
  });

  test("the primary believes no headers of an identity proxy that a replica passes on", async () => {
    await using pair = await createReplicaPair({ env: PROXY_ENV });
    await pair.primary.signedIn();
    const lines = Object.entries({
      [TOKEN_HEADER]: fleetToken(FLEET_SECRET),
      [ORIGIN_HEADER]: "http://status.test",
      [CLIENT_HEADER]: PROXY,
      ...named("bob"),
    }).map(([name, value]) => `${name}: ${value}`);
    const head = ["GET /fleet/v1/forward/admin HTTP/1.1", "Host: primary", ...lines];
    expect((await rawRequest(pair.listener.port, head))?.status).toBe(401);
    expect(pair.received).toHaveLength(1);
  });

  test("a form from another site is refused as on the primary", async () => {
    await using pair = await createReplicaPair();
    const session = await pair.primary.signedIn();
    const headers = { origin: "https://evil.example" };
    const answer = await pair.call("/admin/sign-out", { session, form: {}, headers });
    expect(answer.status).toBe(403);
  });

  test("a public page is answered by the replica for people with a session too", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const session = await pair.primary.signedIn();
    expect((await pair.call("/status/acme", { session })).status).toBe(200);
    expect(pair.received).toEqual([]);
  });

  test("the form to subscribe and links of mails are answered by the primary", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    expect((await pair.call("/status/acme/subscribe")).status).toBe(200);
    expect((await pair.call(`/mail/manage/${"a".repeat(40)}`)).status).toBe(404);
    expect(pair.received.length).toBe(2);
  });

  test("OPTIONS and HEAD of public documents are answered by the replica", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    expect((await pair.call("/status/acme/summary.json", { method: "OPTIONS" })).status).toBe(204);
    expect((await pair.call("/status/acme/summary.json", { method: "HEAD" })).status).toBe(200);
    expect(pair.received).toEqual([]);
  });
});

describe("what a key wrote through a replica", () => {
  test("is read from the primary for five seconds, and then from the replica", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("write:incidents", "read:status");
    const other = await pair.primary.keyWith("read:status");
    await pair.call("/api/v1/incidents", { method: "POST", key, json: INCIDENT });
    await pair.call("/api/v1/incidents", { key });
    expect(pair.received.length).toBe(2);
    await pair.call("/api/v1/incidents", { key: other });
    expect(pair.received.length).toBe(2);
    await pair.primary.clock.advance(5_000);
    const answer = await pair.call("/api/v1/incidents", { key });
    expect(answer.headers.has("allclear-as-of")).toBe(true);
    expect(pair.received.length).toBe(2);
  });

  test("a read with Allclear-Min-Txid waits for the transaction and is then answered by the replica", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    const headers = { "allclear-min-txid": "2a" };
    await pair.call("/docs");
    const answer = pair.call("/api/v1/components", { key, headers });
    await pair.primary.clock.advance(1_500);
    pair.apply(0x29);
    pair.apply(0x2a);
    expect((await answer).headers.has("allclear-as-of")).toBe(true);
    expect(pair.received).toEqual([]);
    expect((await pair.call("/api/v1/components", { key, headers })).status).toBe(200);
  });

  test("a read with Allclear-Min-Txid goes to the primary after two seconds", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    await pair.call("/docs");
    const answer = pair.call("/api/v1/components", { key, headers: { "allclear-min-txid": "2A" } });
    await pair.primary.clock.advance(2_000);
    expect((await answer).headers.has("allclear-as-of")).toBe(false);
    expect(pair.received.length).toBe(1);
  });

  test("a request without a key does not wait for the transaction of its Allclear-Min-Txid", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const headers = { "allclear-min-txid": "2a" };
    // The clock stands still, so that an answer which waited would never come.
    expectProblem(await pair.call("/api/v1/components", { headers }), "missing_key");
    const unknown = { key: "ack_unknown", headers };
    expectProblem(await pair.call("/api/v1/components", unknown), "invalid_key");
    expect((await pair.call("/status/acme", { headers })).status).toBe(200);
    expect(pair.received).toEqual([]);
  });

  test("a read that waits for a transaction is charged to its key before the wait", async () => {
    await using pair = await createReplicaPair();
    const { value: key } = await pair.primary.createKey({ rate_limit: 2 });
    const headers = { "allclear-min-txid": "2a" };
    await pair.call("/docs");
    const waiting = [1, 2].map(() => pair.call("/api/v1/components", { key, headers }));
    expectProblem(await pair.call("/api/v1/components", { key, headers }), "rate_limited");
    pair.apply(0x2a);
    const remaining = (await Promise.all(waiting)).map(({ status, headers: sent }) => [
      status,
      sent.get("x-ratelimit-remaining"),
    ]);
    expect(remaining).toEqual([
      [200, "1"],
      [200, "0"],
    ]);
  });

  test("a key that is revoked while its read waits for a transaction is refused", async () => {
    await using pair = await createReplicaPair();
    const { ctx } = pair.primary;
    const { key, value } = await pair.primary.createKey();
    await pair.call("/docs");
    const headers = { "allclear-min-txid": "2a" };
    const waiting = pair.call("/api/v1/components", { key: value, headers });
    await ctx.db.write((tx) => revokeKey(ctx, tx, key.id, CLI_ACTOR));
    pair.apply(0x2a);
    expectProblem(await waiting, "revoked_key");
  });

  test("the answer to a forwarded change names the transaction that the primary named", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("write:incidents");
    const wrap = createAcknowledge(pair.primary.ctx.db, async () => 0x2a);
    pair.state.gateway = createApp(pair.primary.ctx, { wrap }).handle;
    const made = await pair.call("/api/v1/incidents", { method: "POST", key, json: INCIDENT });
    expect([made.status, made.headers.get("allclear-txid")]).toEqual([201, "000000000000002a"]);
  });

  test("an Allclear-Min-Txid that is no number is refused", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    const headers = { "allclear-min-txid": "newest" };
    expectProblem(await pair.call("/api/v1/components", { key, headers }), "invalid_request");
  });
});

describe("keys at a replica that cannot know of revocations", () => {
  test("are refused for reads, while pages and forwarded changes are answered", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    const key = await pair.primary.keyWith("read:status", "write:incidents");
    pair.state.acceptsKeys = false;
    const refused = await pair.call("/api/v1/components", { key });
    expectProblem(refused, "unavailable");
    expect(refused.headers.get("retry-after")).toBe("2");
    expect((await pair.call("/status/acme")).status).toBe(200);
    const made = await pair.call("/api/v1/incidents", { method: "POST", key, json: INCIDENT });
    expect(made.status).toBe(201);
  });

  test("are refused too once the transaction that they waited for has come", async () => {
    await using pair = await createReplicaPair();
    const key = await pair.primary.keyWith("read:status");
    await pair.call("/docs");
    const answer = pair.call("/api/v1/components", { key, headers: { "allclear-min-txid": "2" } });
    pair.state.acceptsKeys = false;
    pair.apply(2);
    expectProblem(await answer, "unavailable");
  });
});

/** Beginning of an answer of the primary with a body of 100 bytes. */
const PARTLY = "HTTP/1.1 200 OK\r\nallclear-forwarded: 1\r\ncontent-length: 100\r\n\r\n";

/** Starts a primary that answers only what the test writes to its one connection. */
function startPartly() {
  const asked = Promise.withResolvers<{ write(text: string): unknown }>();
  const closed = Promise.withResolvers<void>();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => asked.resolve(socket),
      close: () => closed.resolve(),
    },
  });
  return {
    address: `http://127.0.0.1:${server.port}`,
    /** Resolves to the connection once there is a request. */
    asked: asked.promise,
    /** Resolves when the connection has ended. */
    closed: closed.promise,
    [Symbol.dispose]: () => server.stop(true),
  };
}

describe("a primary that does not answer", () => {
  test("without a primary changes are refused and nothing else", async () => {
    await using pair = await createReplicaPair();
    await pair.primary.page();
    pair.state.address = undefined;
    const refused = await pair.call("/api/v1/incidents", { method: "POST", json: INCIDENT });
    expect(expectProblem(refused, "unavailable").detail).toContain("nothing was changed");
    expect(refused.headers.get("retry-after")).toBe("5");
    expect((await pair.call("/status/acme")).status).toBe(200);
    expect(pair.forwarder.counts().no_primary).toBe(1);
  });

  test("a port on which nobody listens is told from an unknown outcome", async () => {
    await using pair = await createReplicaPair();
    pair.state.address = "http://127.0.0.1:1";
    const refused = await pair.call("/api/v1/incidents", { method: "POST", json: INCIDENT });
    expect(expectProblem(refused, "unavailable").detail).toContain("nothing was changed");
    expect(pair.forwarder.counts().not_connected).toBe(1);
  });

  test("after ten seconds the outcome is unknown, and the request is not repeated", async () => {
    await using pair = await createReplicaPair();
    const started = Promise.withResolvers<void>();
    pair.state.gateway = () => {
      started.resolve();
      return new Promise(() => {});
    };
    const answer = pair.call("/api/v1/incidents", { method: "POST", json: INCIDENT });
    await started.promise;
    await pair.primary.clock.advance(10_000);
    expect(expectProblem(await answer, "unavailable").detail).toContain("may have been made");
    expect(pair.received.length).toBe(1);
    expect(pair.forwarder.counts().timed_out).toBe(1);
  });

  test("a connection that ends without an answer is not repeated", async () => {
    await using pair = await createReplicaPair();
    let connections = 0;
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: () => void (connections += 1),
        data: (socket) => void socket.end(),
      },
    });
    pair.state.address = `http://127.0.0.1:${server.port}`;
    const answer = await pair.call("/api/v1/incidents", { method: "POST", json: INCIDENT });
    expect(expectProblem(answer, "unavailable").detail).toContain("may have been made");
    expect(connections).toBe(1);
    expect(pair.forwarder.counts().failed).toBe(1);
  });

  test("a primary that hangs before its answer is given up after ten seconds", async () => {
    await using pair = await createReplicaPair();
    using primary = startPartly();
    pair.state.address = primary.address;
    const answer = pair.call("/admin");
    await primary.asked;
    await pair.primary.clock.advance(9_999);
    expect(pair.forwarder.counts().timed_out).toBe(0);
    await pair.primary.clock.advance(1);
    expectProblem(await answer, "unavailable");
    expect(pair.forwarder.counts().timed_out).toBe(1);
    await primary.closed;
  });

  test("an answer that stops in its middle ends with an error after ten seconds of silence", async () => {
    await using pair = await createReplicaPair();
    using primary = startPartly();
    pair.state.address = primary.address;
    const { clock } = pair.primary;
    const answering = pair.handle(requestOf(pair.primary.ctx, "/admin", {}), () => "203.0.113.7");
    (await primary.asked).write(`${PARTLY}one `);
    const answer = await answering;
    expect(answer.status).toBe(200);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe("one ");
    // Each part begins the ten seconds again.
    for (const part of ["two ", "three "]) {
      const next = read();
      await clock.advance(9_999);
      (await primary.asked).write(part);
      expect(await next).toBe(part);
    }
    const last = read().then(
      () => "complete",
      () => "an error",
    );
    await clock.advance(10_000);
    expect(await last).toBe("an error");
    await primary.closed;
    expect(pair.logged.map(({ msg }) => msg)).toContain(
      "the primary's answer to a forwarded request is not complete",
    );
  });

  test("an answer is not given up while the client reads slowly", async () => {
    await using pair = await createReplicaPair();
    using primary = startPartly();
    pair.state.address = primary.address;
    const answering = pair.handle(requestOf(pair.primary.ctx, "/admin", {}), () => "203.0.113.7");
    const text = "x".repeat(100);
    (await primary.asked).write(PARTLY + text);
    const answer = await answering;
    await pair.primary.clock.advance(60_000);
    expect(await answer.text()).toBe(text);
  });

  test("more than 64 requests at once are refused", async () => {
    await using pair = await createReplicaPair();
    const held = Promise.withResolvers<Response>();
    pair.state.gateway = () => held.promise.then((answer) => answer.clone() as Response);
    const post = { method: "POST" };
    const answers = Array.from({ length: 64 }, () => pair.call("/api/v1/incidents", post));
    expectProblem(await pair.call("/api/v1/incidents", post), "unavailable");
    expect(pair.forwarder.counts().busy).toBe(1);
    held.resolve(new Response("{}", { headers: { "content-type": "application/json" } }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(
      answers.map(() => 200),
    );
    expect((await pair.call("/api/v1/incidents", post)).status).toBe(200);
  });

  test("a node that is not the primary, another program and another fleet are not believed", async () => {
    await using pair = await createReplicaPair();
    pair.state.isPrimary = false;
    expectProblem(await pair.call("/admin"), "unavailable");
    using other = Bun.serve({ port: 0, fetch: () => new Response("hello") });
    pair.state.address = `http://127.0.0.1:${other.port}`;
    expectProblem(await pair.call("/admin"), "unavailable");
    expect(pair.forwarder.counts().refused).toBe(2);

    expect(JSON.stringify(pair.logged)).toContain("with status 200");

    await using stranger = await createReplicaPair({ token: fleetToken("another secret") });
    expectProblem(await stranger.call("/admin"), "unavailable");
    expect(stranger.received).toEqual([]);
    expect(JSON.stringify(stranger.logged)).toContain("401, since ALLCLEAR_FLEET_SECRET differs");
    expect(JSON.stringify(stranger.logged)).not.toContain(fleetToken("another secret"));
  });
});

describe("limits of forwarding", () => {
  test("one address can forward 600 requests a minute", async () => {
    await using pair = await createReplicaPair();
    pair.state.address = undefined;
    for (let sent = 0; sent < 600; sent++) await pair.call("/admin");
    const limited = await pair.call("/admin");
    expectProblem(limited, "rate_limited");
    expect(chargeOf(limited)).toBe("forward 0");
    expectProblem(await pair.call("/admin", { from: "198.51.100.1" }), "unavailable");
  });

  test("a body over 256 KiB is refused without asking the primary", async () => {
    await using pair = await createReplicaPair();
    const raw = "x".repeat(256 * 1024 + 1);
    expectProblem(
      await pair.call("/api/v1/incidents", { method: "POST", raw }),
      "payload_too_large",
    );
    const session = await pair.primary.signedIn();
    // The form takes more on the primary.
    const upload = await pair.call("/admin/subscribers/import", { method: "POST", raw, session });
    expectProblem(upload, "unavailable");
    expect(pair.received).toEqual([]);
  });

  test("a body of 256 KiB arrives unchanged", async () => {
    await using pair = await createReplicaPair();
    const raw = new Uint8Array(256 * 1024).map((_, index) => index % 251);
    pair.state.gateway = async (request) => new Response(await request.arrayBuffer());
    const key = await pair.primary.keyWith("write:incidents");
    const headers = { "content-type": "application/json" };
    const answer = await pair.call("/api/v1/incidents", { method: "POST", key, raw, headers });
    expect(answer.text).toBe(new TextDecoder().decode(raw));
  });
});

describe("heartbeats at a replica", () => {
  test("are counted by the primary", async () => {
    await using pair = await createReplicaPair();
    pair.state.gateway = (request) => Response.json({ path: new URL(request.url).pathname });
    const answer = await pair.call("/api/v1/heartbeats/abc/fail?msg=full");
    expect(answer.body.path).toBe("/api/v1/heartbeats/abc/fail");
  });

  test("with JSON arrive whole, since they may be alerts, and others as far as they are read", async () => {
    await using pair = await createReplicaPair();
    pair.state.gateway = async (request) =>
      Response.json({ bytes: (await request.arrayBuffer()).byteLength });
    const bytesOf = async (type: string, length: number) => {
      const raw = "x".repeat(length);
      const headers = { "content-type": type };
      return (await pair.call("/api/v1/heartbeats/abc", { method: "POST", raw, headers })).body
        .bytes;
    };
    expect(await bytesOf("application/json", 100_000)).toBe(100_000);
    expect(await bytesOf("application/json; charset=utf-8", 200_000)).toBe(200_000);
    expect(await bytesOf("text/plain", 100_000)).toBe(10_000);
    expect(await bytesOf("application/json", 300_000)).toBe(10_000);
  });

  test("are handled by the replica without a primary, which keeps or refuses them", async () => {
    const kept: string[] = [];
    const monitoring = { heartbeat: async (id: string) => void kept.push(id) };
    await using pair = await createReplicaPair({ monitoring, logLevel: "debug" });
    const key = await pair.primary.keyWith("manage:monitors");
    const made = await pair.primary.call("/api/v1/monitors", {
      method: "POST",
      key,
      json: { type: "push", name: "Backup", interval_seconds: 60 },
    });
    pair.state.address = undefined;
    const path = new URL(made.body.heartbeat_url).pathname;
    const answer = await pair.call(path, { method: "POST", raw: "done" });
    expect(answer.status).toBe(200);
    expect(kept).toEqual([made.body.id]);
    // Its body was read, so it is handled as a copy.
    expect(pair.logged.findLast(({ msg }) => msg === "request")?.["ip"]).toBe("203.0.113.7");
    expect((await pair.call(`${path}x`, { method: "POST" })).status).toBe(404);
    expect(kept.length).toBe(1);
  });

  test("give back the room of their bodies, and close the connection of one that is not read whole", async () => {
    const monitoring = { heartbeat: async () => {} };
    await using pair = await createReplicaPair({ monitoring });
    const key = await pair.primary.keyWith("manage:monitors");
    const made = await pair.primary.call("/api/v1/monitors", {
      method: "POST",
      key,
      json: { type: "push", name: "Backup", interval_seconds: 60 },
    });
    pair.state.address = undefined;
    const path = new URL(made.body.heartbeat_url).pathname;
    const large = { method: "POST", raw: "x".repeat(100_000) };
    // One address has room for 64 of them.
    for (let sent = 0; sent < 100; sent++) {
      const answer = await pair.call(path, large);
      expect([sent, answer.status]).toEqual([sent, 200]);
      expect(answer.headers.get("connection")).toBe("close");
      await pair.primary.clock.advance(10_000);
    }
    pair.state.address = `http://127.0.0.1:${pair.listener.port}`;
    expect((await pair.call(path, large)).headers.get("connection")).toBe("close");
    const whole = await pair.call(path, { method: "POST", raw: "done" });
    expect(whole.headers.get("connection")).toBeNull();
  });
});

describe("the path of a forwarded request", () => {
  test.each([
    "/../usage",
    "/%2e%2e/usage",
    "/.%2E/usage",
    "/x/../../usage",
    "/x\\..\\..\\usage",
    "/x/../admin/sign-out",
    "/x/./../admin/sign-out",
    "/admin/.",
    "/x#",
  ])(
    "%s reaches neither the primary nor the handlers of nodes, since it would become another path",
    async (path) => {
      const reached: string[] = [];
      const note = (request: Request) => {
        reached.push(request.url);
        return new Response();
      };
      await using pair = await createReplicaPair({ handlers: { "POST /fleet/v1/usage": note } });
      using server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => pair.handle(request, () => "203.0.113.7"),
      });
      // The runtime leaves a URL as it was sent if it cannot parse the host.
      const head = [`POST ${path} HTTP/1.1`, "Host: h:99999", "Content-Length: 0"];
      const answer = await rawRequest(Number(server.port), head);
      expect(answer?.status).toBe(404);
      expect([reached, pair.received]).toEqual([[], []]);
    },
  );

  test("does not lead to a handler of nodes at the private listener, nor does a host become a path", async () => {
    const reached: string[] = [];
    const note = (request: Request) => {
      reached.push(request.url);
      return new Response();
    };
    await using pair = await createReplicaPair({ handlers: { "POST /fleet/v1/usage": note } });
    const send = async (path: string, origin: string) => {
      const headers = {
        [TOKEN_HEADER]: fleetToken(FLEET_SECRET),
        [ORIGIN_HEADER]: origin,
        [CLIENT_HEADER]: "203.0.113.7",
      };
      return (await fetch(pair.state.address + path, { method: "POST", headers })).status;
    };
    expect(await send("/fleet/v1/usage", "http://status.test")).toBe(400);
    for (const origin of ["http://a\\admin", "http://a/admin", "http://a@b", "http://a#", "x"]) {
      expect([origin, await send("/fleet/v1/forward/x", origin)]).toEqual([origin, 400]);
    }
    expect([reached, pair.received]).toEqual([[], []]);
    expect(await send("/fleet/v1/forward/x", "http://status.test")).toBe(404);
    expect(pair.received.length).toBe(1);
  });
});

describe("the private listener", () => {
  test("refuses requests without the token, unknown paths, and paths of the public listener", async () => {
    await using pair = await createReplicaPair();
    const base = pair.state.address ?? "";
    const token = { [TOKEN_HEADER]: fleetToken(FLEET_SECRET) };
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(base + path, { headers })).status;
    expect(await status("/fleet/v1/forward/admin")).toBe(401);
    expect(await status("/fleet/v1/forward/admin", { [TOKEN_HEADER]: "x" })).toBe(401);
    expect(await status("/healthz")).toBe(401);
    expect(await status("/healthz", token)).toBe(404);
    expect(await status("/fleet/v1/other", token)).toBe(404);
    expect(await status("/fleet/v1/forward/admin", token)).toBe(400);
    expect(pair.received).toEqual([]);
  });

  test("its paths do not exist on the public listener", async () => {
    await using pair = await createReplicaPair();
    const headers = { [TOKEN_HEADER]: fleetToken(FLEET_SECRET) };
    const direct = await pair.primary.call("/fleet/v1/forward/admin", { headers });
    expectProblem(direct, "not_found");
  });
});
