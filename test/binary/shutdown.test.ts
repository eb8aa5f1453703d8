import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";
import { openConnection, parseAnswer } from "../support/raw-http";

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
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  test("a server also stops at SIGINT", async () => {
    await using site = await createInstallation();
    const server = await site.serve();
    server.signal("SIGINT");
    expect(await server.exited).toBe(0);
  });
});
