import { expect, test } from "bun:test";
import { createInstallation, holds, PROCESS_TEST_MS } from "../support/binary";
import { startLabelledDocker } from "../support/docker";
import { hasDockerd, startDockerd } from "../support/servers/dockerd";

interface Listed {
  ref: string;
  paused: boolean;
}

/** Starts a server that reads the labels of a Docker host, and returns how to read its monitors. */
async function serveLabels(site: Awaited<ReturnType<typeof createInstallation>>, path: string) {
  const { value: key } = await site.createKey(["manage:monitors"], "--rate-limit", "100000");
  const server = await site.serve({ args: ["--docker-hosts", `local=unix://${path}`] });
  const list = async () => {
    const answer = await server.fetch("/api/v1/monitors", { key });
    const { data } = (await answer.json()) as { data: Listed[] };
    return data.map(({ ref, paused }) => (paused ? `${ref} (paused)` : ref)).sort();
  };
  return {
    server,
    until: (...expected: string[]) => holds(async () => Bun.deepEquals(await list(), expected)),
  };
}

test(
  "the executable makes monitors of labels and pauses them, and after a restart it goes on",
  async () => {
    await using site = await createInstallation();
    using docker = startLabelledDocker(
      { name: "web", labels: { "allclear.monitor": "http://127.0.0.1:9" } },
      { name: "db", labels: { "kuma.db.port.hostname": "127.0.0.1", "kuma.db.port.port": "9" } },
    );
    const { server, until } = await serveLabels(site, docker.path);
    expect(await until("db", "web")).toBe(true);
    expect(await server.stop()).toBe(0);
    docker.containers = docker.containers.slice(0, 1);
    const again = await serveLabels(site, docker.path);
    expect(await again.until("db (paused)", "web")).toBe(true);
    expect(await again.server.stop()).toBe(0);
  },
  PROCESS_TEST_MS,
);

if (!hasDockerd) console.warn("Skipped: labels of containers of Docker. There is no dockerd here.");

test.skipIf(!hasDockerd)(
  "containers of Docker keep their monitors while they are stopped, until they are removed",
  async () => {
    await using site = await createInstallation();
    await using docker = await startDockerd();
    const label = { "allclear.monitor": "http://127.0.0.1:9" };
    await docker.start("web", label);
    await docker.start("other", { "org.example": "x" });
    const { until } = await serveLabels(site, docker.path);
    expect(await until("web")).toBe(true);
    await docker.stop("web");
    await docker.start("second", { "allclear.monitor.second.url": "tcp://127.0.0.1:9" });
    expect(await until("second", "web")).toBe(true);
    await docker.remove("web");
    expect(await until("second", "web (paused)")).toBe(true);
    await docker.start("web", label);
    expect(await until("second", "web")).toBe(true);
  },
  PROCESS_TEST_MS,
);
