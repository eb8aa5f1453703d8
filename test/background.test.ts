import { expect, test } from "bun:test";
import { startBackground } from "../src/background";
import { SECOND_MS } from "../src/base/time";
import { createTestApp } from "./support/app";
import { settle } from "./support/clock";
import { startLabelledDocker } from "./support/docker";
import { createTestEgress } from "./support/egress";
import { startRawServer } from "./support/raw-server";
import { until } from "./support/until";

test("a stop breaks off a hanging delivery within a second, and the next start repeats it", async () => {
  await using silent = await startRawServer(() => {});
  await using app = await createTestApp();
  const { clock, ctx } = app;
  const names = { "receiver.test": [["127.0.0.1"]] };
  const { egress } = await createTestEgress(names, { clock, outboundAllow: "127.0.0.1" });
  const key = await app.keyWith("manage:webhooks");
  const url = `http://receiver.test:${silent.port}/`;
  const json = { url, events: ["incident.created"] };
  const { body } = await app.call("/api/v1/webhooks", { method: "POST", key, json });
  await app.call(`/api/v1/webhooks/${body.id}/test`, { method: "POST", key });
  for (const attempt of [1, 2]) {
    const background = startBackground(
      ctx,
      { holdOpen: () => () => {} },
      { requests: () => 0, lastUnreachableAt: () => Number.NEGATIVE_INFINITY },
      { egress },
    );
    await until(() => silent.connections() === attempt);
    let isStopped = false;
    const stopped = background.stop(Promise.resolve()).then(() => (isStopped = true));
    await settle();
    expect(isStopped).toBe(false);
    await clock.advance(SECOND_MS);
    await until(() => isStopped);
    await stopped;
  }
});

/** Starts the work without requests of an application that may read the labels of a Docker host. */
async function startWithDocker(path: string, env: Record<string, string | undefined>) {
  const app = await createTestApp({
    env: { ALLCLEAR_DOCKER_HOSTS: `local=unix://${path}`, ...env },
  });
  const background = startBackground(
    app.ctx,
    { holdOpen: () => () => {} },
    { requests: () => 0, lastUnreachableAt: () => Number.NEGATIVE_INFINITY },
  );
  return { ...app, background };
}

test("labels of containers are read with a Docker host, until the stop", async () => {
  using docker = startLabelledDocker();
  await using app = await startWithDocker(docker.path, {});
  const { background, clock } = app;
  await until(() => background.labels?.() !== undefined);
  await clock.advance(2 * SECOND_MS);
  await until(() => background.labels?.()?.readAt === clock.now());
  expect(docker.requests).toEqual(["GET /containers/json?all=true"]);
  await background.stop(Promise.resolve());
  await clock.advance(60 * SECOND_MS);
  expect(docker.requests).toHaveLength(1);
});

test("labels of containers are not read with --docker-labels off, nor without a Docker host", async () => {
  using docker = startLabelledDocker();
  for (const env of [{ ALLCLEAR_DOCKER_LABELS: "off" }, { ALLCLEAR_DOCKER_HOSTS: "" }]) {
    await using app = await startWithDocker(docker.path, env);
    expect(app.background.labels).toBeUndefined();
    await app.clock.advance(60 * SECOND_MS);
    expect(docker.requests).toEqual([]);
    await app.background.stop(Promise.resolve());
  }
});
