import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { openConnection, parseAnswer } from "../support/raw-http";
import { startRawServer } from "../support/raw-server";

setDefaultTimeout(PROCESS_TEST_MS);

interface ListedKey {
  last_used_at: string | null;
  last_used_ip: string | null;
}

const BODY = JSON.stringify({ status: "major_outage" });

describe("a server that is stopped", () => {
  test("a stopping server completes running requests, accepts no new ones and exits with 0", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const key = await site.createKey(["read:status", "write:components"]);
    const server = await site.serve();
    const document = await server.fetch("/api/v1/status/acme", { key: key.value });
    const { components } = (await document.json()) as { components: { id: string }[] };
    const path = `/api/v1/components/${components[0]?.id}`;

    using idle = await openConnection(server.port);
    idle.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    await idle.until(/\r\n\r\n{"status":"ok".*}$/);
    using working = await openConnection(server.port);
    working.send(
      [
        `PATCH ${path} HTTP/1.1`,
        "Host: x",
        `Authorization: Bearer ${key.value}`,
        "Content-Type: application/json",
        `Content-Length: ${BODY.length}`,
        "Expect: 100-continue",
        "",
        BODY.slice(0, 5),
      ].join("\r\n"),
    );
    // The server asks for the body once it has the head: the request is under way.
    await working.until(/^HTTP\/1\.1 100/);

    server.signal("SIGTERM");
    await idle.untilClosed();
    expect(openConnection(server.port)).rejects.toThrow("ECONNREFUSED");
    working.send(BODY.slice(5));
    const text = await working.untilClosed();
    const answer = parseAnswer(text.slice(text.indexOf("\r\n\r\n") + 4));
    expect(answer?.status).toBe(200);
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({ status: "major_outage" });
    expect(await server.exited).toBe(0);

    const again = await site.serve();
    const kept = await again.fetch(path, { key: key.value });
    expect(await kept.json()).toMatchObject({ status: "major_outage" });
  });

  test("a stopping server stores the last use of keys and releases the data directory", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const key = await site.createKey(["read:status"]);
    const server = await site.serve();
    const before = Date.now();
    expect((await server.fetch("/api/v1/status/acme", { key: key.value })).status).toBe(200);
    expect(await server.stop()).toBe(0);

    const [listed] = JSON.parse(await site.output("key", "list", "--json")) as ListedKey[];
    expect(Date.parse(listed?.last_used_at ?? "")).toBeGreaterThanOrEqual(before);
    expect(listed?.last_used_ip).toBe("127.0.0.1");
    expect(readdirSync(site.dataDir)).not.toContain("allclear.pid");
    // Restoring requires the lock of the directory, which is free now.
    await site.output("backup", site.path("copy.db"));
    expect((await site.run(["restore", site.path("copy.db")])).exitCode).toBe(0);
  });

  test("an idle connection does not delay a stopping server", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    using _silent = await openConnection(server.port);
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toContain("were broken off");
  });

  test("a server that drains is not ready, and answers until a second signal ends it", async () => {
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const server = await site.serve({ args: ["--drain-seconds", "3600"] });
    expect((await server.fetch("/readyz")).status).toBe(200);
    using kept = await openConnection(server.port);
    kept.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    await kept.until(/{"status":"ok"}$/);
    server.signal("SIGTERM");
    while ((await server.fetch("/readyz")).status !== 503) await Bun.sleep(5);
    // The next request of a proxy has to choose another server, not a connection that closes meanwhile.
    kept.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await kept.untilClosed()).toMatch(/Connection: close\r\n[^]*{"status":"ok"}$/i);
    expect((await server.fetch("/status/acme")).status).toBe(200);
    expect((await server.fetch("/healthz")).status).toBe(200);
    // Earlier ones count as the same signal.
    await Bun.sleep(300);
    server.signal("SIGINT");
    expect(await server.exited).toBe(1);
    // The lock is free, and nothing is damaged.
    const again = await site.serve();
    expect((await again.fetch("/status/acme")).status).toBe(200);
  });

  test("a server that has drained closes its port and exits with 0", async () => {
    await using site = await createInstallation();
    const server = await site.serve({ env: { ALLCLEAR_DRAIN_SECONDS: "1" } });
    const before = performance.now();
    server.signal("SIGTERM");
    expect(await server.exited).toBe(0);
    expect(performance.now() - before).toBeGreaterThanOrEqual(1_000);
    expect(server.stderr()).toContain('"msg":"draining');
  });

  test("a hanging check and a hanging webhook keep no request and no stop waiting", async () => {
    await using silent = await startRawServer(() => {});
    await using site = await createInstallation();
    const key = await site.createKey(["manage:monitors", "manage:webhooks"]);
    const env = { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.1" };
    const server = await site.serve({ env });
    const url = `http://127.0.0.1:${silent.port}/`;
    const post = (path: string, body?: object) =>
      server.fetch(`/api/v1${path}`, {
        method: "POST",
        key: key.value,
        ...(body && { body: JSON.stringify(body) }),
        headers: { "content-type": "application/json" },
      });
    const idOf = async (answer: Response) => ((await answer.json()) as { id: string }).id;
    const monitor = { name: "slow", type: "http", config: { url }, timeout_ms: 30_000 };
    const id = await idOf(await post("/monitors", { ...monitor, interval_seconds: 86_400 }));
    const hook = await idOf(await post("/webhooks", { url, events: ["incident.created"] }));
    await post(`/webhooks/${hook}/test`);
    const checked = post(`/monitors/${id}/check`);
    while (silent.connections() < 2) await Bun.sleep(5);
    server.signal("SIGTERM");
    // Without a stop, the check would be answered with 200 after 30 seconds.
    expect((await checked).status).toBe(503);
    expect(await server.exited).toBe(0);
  });

  test("a server also stops at SIGINT", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    server.signal("SIGINT");
    expect(await server.exited).toBe(0);
  });
});
