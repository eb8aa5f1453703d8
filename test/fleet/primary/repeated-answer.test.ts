import { expect, test } from "bun:test";
import { createAcknowledge } from "../../../src/fleet/primary/primary";
import { notPrimary } from "../../../src/fleet/leader";
import { createTestApp, expectProblem } from "../../support/app";
import { settle } from "../../support/clock";
import { until } from "../../support/until";

const INCIDENT = { page: "acme", name: "Down", body: "We look into it." };

test("an answer that is repeated for an Idempotency-Key waits for the upload like the first one", async () => {
  const uploads: PromiseWithResolvers<number | undefined>[] = [];
  await using app = await createTestApp({
    wrap: (ctx) =>
      createAcknowledge(ctx.db, () => {
        const upload = Promise.withResolvers<number | undefined>();
        uploads.push(upload);
        return upload.promise;
      }),
  });
  await app.page();
  const key = await app.keyWith("write:incidents");
  const answered: string[] = [];
  async function post(name: string) {
    const headers = { "idempotency-key": "one" };
    const answer = await app.call("/api/v1/incidents", {
      method: "POST",
      key,
      headers,
      json: INCIDENT,
    });
    answered.push(name);
    return answer;
  }
  const first = post("first");
  await until(() => uploads.length === 1);
  const again = post("again");
  await until(() => uploads.length === 2);
  await settle();
  expect(answered).toEqual([]);
  uploads[1]?.resolve(undefined);
  const repeated = await again;
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  expect(repeated.headers.get("allclear-durability")).toBe("local");
  expect(answered).toEqual(["again"]);
  uploads[0]?.resolve(7);
  expect((await first).body).toEqual(repeated.body);
});

test("an answer that is repeated for an Idempotency-Key is refused if another node is the primary", async () => {
  let isPrimary = true;
  await using app = await createTestApp({
    wrap: (ctx) =>
      createAcknowledge(ctx.db, async () => {
        if (!isPrimary) throw notPrimary();
        return 7;
      }),
  });
  await app.page();
  const key = await app.keyWith("write:incidents");
  const post = () =>
    app.call("/api/v1/incidents", {
      method: "POST",
      key,
      headers: { "idempotency-key": "one" },
      json: INCIDENT,
    });
  expect((await post()).status).toBe(201);
  isPrimary = false;
  expectProblem(await post(), "unavailable");
});
