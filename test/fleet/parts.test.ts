import { expect, test } from "bun:test";
import { describeWithPrograms } from "../support/fleet/describe";
import { startLink } from "../support/fleet/link";
import { litestreamPath } from "../support/fleet/litestream";
import { startNode } from "../support/fleet/nodes";
import { startHaproxy, startNginx } from "../support/fleet/proxies";
import { startRedis } from "../support/fleet/redis";
import { startS3 } from "../support/fleet/s3";
import { findProgram, runCommand } from "../support/servers/server-process";

await describeWithPrograms("Redis of a fleet", { debian: ["valkey-server|redis-server"] }, () => {
  test("Valkey is preferred to Redis where both are installed", async () => {
    await using server = await startRedis();
    const client = new Bun.RedisClient(server.url);
    const facts = String(await client.send("INFO", ["server"]));
    expect(facts.includes("valkey_version:")).toBe(findProgram("valkey-server") !== undefined);
    client.close();
  });

  test("a server can be frozen, killed and started again", async () => {
    await using server = await startRedis();
    const client = new Bun.RedisClient(server.url);
    expect(await client.set("a", "1")).toBe("OK");
    server.freeze();
    const answer = client.get("a");
    server.thaw();
    expect(await answer).toBe("1");
    client.close();
    await server.kill();
    await server.restart();
    const again = new Bun.RedisClient(server.url);
    expect(await again.get("a")).toBeNull();
    again.close();
  });
});

await describeWithPrograms("proxies of a fleet", { debian: ["nginx", "haproxy"] }, () => {
  test("nginx and HAProxy pass requests on", async () => {
    await using origin = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("origin"),
    });
    await using nginx = await startNginx(
      ({ port }) =>
        `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${origin.port}; } }`,
    );
    await using haproxy = await startHaproxy(
      ({ port }) => `defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
listen all
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${nginx.port}
`,
    );
    const answer = await fetch(`http://127.0.0.1:${haproxy.port}/`);
    expect(await answer.text()).toBe("origin");
  });
});

await describeWithPrograms("Litestream of a fleet", { go: ["litestream"] }, () => {
  test("Litestream has the tested version", async () => {
    const version = await runCommand([await litestreamPath(), "version"]);
    expect(version.trim()).toMatch(/0\.5\.18/);
  });
});

await describeWithPrograms("links of a fleet", { go: ["versitygw"] }, () => {
  test("a link is cut, stalled and mended", async () => {
    await using server = await startS3();
    await using link = await startLink(server.port);
    const store = server.open("a", { deadlineMs: 300 }, link.port);
    await store.put("a", Buffer.from("1"));
    await link.cut();
    await expect(store.get("a")).rejects.toMatchObject({ kind: "unreachable" });
    await link.mend();
    expect((await store.get("a"))?.bytes).toEqual(Buffer.from("1"));
    link.stall();
    await expect(store.get("a")).rejects.toMatchObject({ kind: "timeout" });
    await link.mend();
    link.truncateAfter(10);
    await expect(store.get("a")).rejects.toMatchObject({ kind: "unreachable" });
    link.truncateAfter(undefined);
    expect((await store.get("a"))?.bytes).toEqual(Buffer.from("1"));
  });
});

await describeWithPrograms("nodes of a fleet", { go: ["versitygw", "litestream"] }, () => {
  test("a node runs with a wrong clock, runs commands and starts again after a kill", async () => {
    await using store = await startS3();
    await using node = await startNode({ store, path: "fleet", clockOffsetMs: 30_000 });
    const key = await node.run("key", "create", "--name", "a", "--scope", "read:status");
    expect(key).toMatchObject({ code: 0, stderr: expect.any(String) });
    expect(await (await node.call("/healthz")).json()).toMatchObject({ status: "ok" });
    const [, time = ""] = /"time":"([^"]+)"/.exec(node.output()) ?? [];
    expect(Date.parse(time) - Date.now()).toBeGreaterThan(20_000);
    await node.kill();
    expect(await node.exited()).not.toBe(0);
    await node.restart();
    expect((await node.call("/healthz")).status).toBe(200);
  });
});
