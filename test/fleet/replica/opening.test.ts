import { expect, test } from "bun:test";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWithPrograms } from "../../support/fleet/describe";
import { eventually } from "../../support/fleet/eventually";
import { startFleet } from "../../support/fleet/fleet";
import { litestreamPath } from "../../support/fleet/litestream";
import { type FleetNode, startNode } from "../../support/fleet/nodes";
import { rounds } from "../../support/long";
import { startHaproxy } from "../../support/fleet/proxies";

/** Requests a page without a pause, and counts the answers by status, until it is disposed. */
function visit(url: string) {
  const counts: Record<string, number> = {};
  let isStopped = false;
  const visiting = (async () => {
    while (!isStopped) {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(240_000) });
      counts[status] = (counts[status] ?? 0) + 1;
    }
  })();
  return {
    counts,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await visiting;
    },
  };
}

/** Returns the status of the first answer after a start. Connections are refused before. */
async function firstStatus(node: FleetNode, path: string): Promise<number> {
  for (;;) {
    const answer = await node.call(path).catch(() => undefined);
    if (answer) return answer.status;
  }
}

await describeWithPrograms(
  "the port of a replica",
  { go: ["litestream", "versitygw"], debian: ["haproxy"] },
  () => {
    test("opens with pages after a restart, so that visitors of a balancer meet no error", async () => {
      await using fleet = await startFleet({
        replicas: 2,
        env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "1000000" },
      });
      const { replicas } = fleet;
      await using balancer = await startHaproxy(
        ({ port }) => `defaults
  mode http
  retries 3
  option redispatch 1
  timeout connect 1s
  timeout client 10s
  timeout server 10s
listen all
  bind 127.0.0.1:${port}
  stats uri /balancer
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host status.example.com
  default-server check inter 1s fall 2 rise 1
${replicas.map(({ port: own }, index) => `  server replica${index} 127.0.0.1:${own}\n`).join("")}`,
      );
      const address = `http://127.0.0.1:${balancer.port}`;
      const allAreUsed = () =>
        eventually("the balancer uses all replicas", async () => {
          const table = await (await fetch(`${address}/balancer;csv`)).text();
          return table.match(/^all,replica\d,.*,UP,/gm)?.length === replicas.length;
        });
      await allAreUsed();
      {
        await using visitors = visit(`${address}/status/acme`);
        for (let round = 0; round < rounds(1, 10); round++) {
          for (const replica of replicas) {
            process.kill(replica.pid(), "SIGTERM");
            await replica.exited();
            // As a new machine, it has to restore a copy first.
            rmSync(join(replica.folder, "fleet", "replica"), { recursive: true });
            const first = firstStatus(replica, "/status/acme");
            await replica.restart();
            expect(await first).toBe(200);
            await allAreUsed();
          }
        }
        expect(Object.keys(visitors.counts)).toEqual(["200"]);
      }
    }, 600_000);

    test("opens after three seconds without data, and answers 503 then", async () => {
      await using fleet = await startFleet({ replicas: 0 });
      const program = join(fleet.primary.folder, "litestream-without-restore");
      writeFileSync(
        program,
        `#!/bin/sh\n[ "$1" = version ] && exec ${await litestreamPath()} version\nexit 1\n`,
      );
      chmodSync(program, 0o755);
      const begun = performance.now();
      await using replica = await startNode({
        store: fleet.store,
        path: "fleet",
        args: ["--replica"],
        env: { ALLCLEAR_LITESTREAM: program },
      });
      expect(performance.now() - begun).toBeGreaterThan(3_000);
      expect((await replica.call("/status/acme")).status).toBe(503);
      expect((await replica.call("/readyz")).status).toBe(503);
    }, 600_000);
  },
);
