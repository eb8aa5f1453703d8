import { expect, test } from "bun:test";
import { storeFirstRun } from "../../../src/first-run";
import { createTestApp, expectProblem } from "../../support/app";
import { RECEIVER, WEBHOOKS } from "../../support/webhook-site";

test("a webhook cannot be limited to the sample page", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  await storeFirstRun(ctx);
  const key = await app.keyWith("manage:webhooks");
  const list = async () => (await app.call(WEBHOOKS, { key })).body.data;
  const post = (json: object) => app.call(WEBHOOKS, { key, method: "POST", json });
  const forAll = await post({ url: RECEIVER });
  expect(forAll.status).toBe(201);
  const path = `${WEBHOOKS}/${forAll.body.id}`;
  const before = [await list(), app.audit()];
  for (const rejected of [
    await post({ url: RECEIVER, page: "sample" }),
    await app.call(path, { key, method: "PATCH", json: { page: "sample" } }),
  ]) {
    expect(expectProblem(rejected, "validation_failed").errors).toEqual([
      {
        pointer: "#/page",
        detail: "is the sample page, which is removed when you create your first page",
      },
    ]);
  }
  expect([await list(), app.audit()]).toEqual(before);

  await app.page({ slug: "acme" });
  const scoped = await app.call(path, { key, method: "PATCH", json: { page: "acme" } });
  expect(scoped.body).toMatchObject({ page: "acme" });
  expect(await list()).toHaveLength(1);
});
