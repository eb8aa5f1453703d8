import { expect, test } from "bun:test";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { createTestApp } from "../../../support/app";

test("the server's monitoring checks a real target over HTTP", async () => {
  let isWell = true;
  using target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("", { status: isWell ? 200 : 503 }),
  });
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    monitoring: (ctx) => {
      engine = createMonitoring(ctx);
      return engine;
    },
  });
  const key = await app.keyWith("manage:monitors");
  const json = {
    type: "http",
    name: "Local",
    config: { url: `http://127.0.0.1:${target.port}/` },
    failure_threshold: 1,
  };
  const created = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const path = `/api/v1/monitors/${created.body.id}`;
  const check = async () => (await app.call(`${path}/check`, { key, method: "POST" })).body;

  expect(await check()).toMatchObject({ outcome: "ok" });
  expect((await app.call(path, { key })).body.state).toBe("up");
  isWell = false;
  await app.clock.advance(1_000);
  const failed = await check();
  expect(failed).toMatchObject({
    outcome: "failed",
    message: "The status is 503; it should be 2xx.",
  });
  expect(failed.steps.map(({ name, ok }: { name: string; ok: boolean }) => [name, ok])).toEqual([
    ["look_up", true],
    ["connect", true],
    ["request", true],
    ["body", true],
    ["evaluation", false],
  ]);
  expect((await app.call(path, { key })).body.state).toBe("down");
  await engine?.stop();
});
