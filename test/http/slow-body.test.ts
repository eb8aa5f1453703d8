import { expect, test } from "bun:test";
import { revokeKey } from "../../src/features/keys";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { createTestApp, expectProblem } from "../support/app";

test("a key that is revoked while the body is on its way changes nothing any more", async () => {
  await using app = await createTestApp();
  const { components } = await app.page({}, ["API"]);
  const { key, value } = await app.createKey({ scopes: ["write:components"] });
  const arrived = Promise.withResolvers<void>();
  const body = new ReadableStream({
    async pull(stream) {
      await arrived.promise;
      stream.enqueue(new TextEncoder().encode('{"status":"major_outage"}'));
      stream.close();
    },
  });
  const answer = app.call(`/api/v1/components/${components.API}`, {
    method: "PATCH",
    key: value,
    raw: body,
    headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
  });
  await app.ctx.db.write((tx) => revokeKey(app.ctx, tx, key.id, CLI_ACTOR));
  arrived.resolve();
  expectProblem(await answer, "revoked_key");
  expect(app.events()).toEqual([]);
});
