import { expect, test } from "bun:test";
import { createTestApp, expectProblem } from "../support/app";

test("two applications in one process share no keys, limits, pages or clocks", async () => {
  const env = { ALLCLEAR_PUBLIC_RATE_LIMIT: "2" };
  await using first = await createTestApp({ env });
  await using second = await createTestApp({ env });
  await first.page({ slug: "acme", name: "First" }, ["API"]);
  await second.page({ slug: "acme", name: "Second" }, ["API"]);

  const made = await first.createKey({ rate_limit: 2 });
  expectProblem(await second.call("/api/v1/key", { key: made.value }), "invalid_key");
  const own = await second.keyWith("read:status");
  const read = async (app: typeof first, key: string) =>
    (await app.call("/api/v1/status/acme", { key })).body.page?.name;
  expect(await read(first, made.value)).toBe("First");
  expect(await read(second, own)).toBe("Second");

  // Draining the one's buckets leaves the other's as they are.
  await first.call("/api/v1/key", { key: made.value });
  expectProblem(await first.call("/api/v1/key", { key: made.value }), "rate_limited");
  await first.call("/");
  await first.call("/");
  expectProblem(await first.call("/"), "rate_limited");
  expect((await second.call("/")).status).toBe(200);
  expect((await second.call("/api/v1/key", { key: own })).status).toBe(200);

  // Shutting the one down is no business of the other.
  first.app.readiness.isDraining = true;
  expect((await first.call("/readyz")).status).toBe(503);
  expect((await second.call("/readyz")).status).toBe(200);

  // Neither are the other's clock, its uses of keys and its request ids.
  await first.clock.advance(60_000);
  expect(second.ctx.clock.now()).not.toBe(first.ctx.clock.now());
  expect(second.audit().map((entry) => entry.targetId)).not.toContain(made.key.id);
  const ids = [await first.call("/nothing"), await second.call("/nothing")].map((answer) =>
    answer.headers.get("x-request-id")?.slice(0, 16),
  );
  expect(ids[0]).not.toBe(ids[1]);
});
