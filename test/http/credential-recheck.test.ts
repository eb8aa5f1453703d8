import { expect, test } from "bun:test";
import { revokeKey } from "../../src/features/keys/keys";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTestApp, expectProblem } from "../support/app";

/** A JSON body that is on its way until it is let in. */
function slowBody(json: unknown): { body: ReadableStream; arrive: () => void } {
  const arrived = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async pull(stream) {
      await arrived.promise;
      stream.enqueue(new TextEncoder().encode(JSON.stringify(json)));
      stream.close();
    },
  });
  return { body, arrive: () => arrived.resolve() };
}

const CHUNKED_JSON = { "content-type": "application/json", "transfer-encoding": "chunked" };

test("a key revoked while the body arrives changes nothing", async () => {
  await using app = await createTestApp();
  const { components } = await app.page({}, ["API"]);
  const { key, value } = await app.createKey({ scopes: ["write:components"] });
  const { body, arrive } = slowBody({ status: "major_outage" });
  const answer = app.call(`/api/v1/components/${components.API}`, {
    method: "PATCH",
    key: value,
    raw: body,
    headers: CHUNKED_JSON,
  });
  await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
  arrive();
  expectProblem(await answer, "revoked_key");
  expect(app.events()).toEqual([]);
});

test("a slow request does not set last_used_at back", async () => {
  await using app = await createTestApp();
  const { components } = await app.page({}, ["API"]);
  const key = await app.keyWith("write:components");
  const { body, arrive } = slowBody({ status: "major_outage" });
  const slow = app.call(`/api/v1/components/${components.API}`, {
    method: "PATCH",
    key,
    raw: body,
    headers: CHUNKED_JSON,
  });
  await app.clock.advance(2_000);
  await app.call("/api/v1/key", { key });
  arrive();
  expect((await slow).status).toBe(200);
  const { body: own } = await app.call("/api/v1/key", { key });
  expect(own).toMatchObject({ last_used_at: "2026-03-10T12:00:02.000Z" });
});
