import { expect, test } from "bun:test";
import { startBackground } from "../src/background";
import { SECOND_MS } from "../src/base/time";
import { createTestApp } from "./support/app";
import { settle } from "./support/clock";
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
