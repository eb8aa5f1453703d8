import { expect, test } from "bun:test";
import { startSignUps } from "../../../src/features/subscribers/sign-up";
import { MINUTE_MS } from "../../../src/base/time";
import { settle } from "../../support/clock";
import { createSubscribingSite } from "../../support/subscribing";

test("a database that cannot be read for a time delays sign-ups, and nothing else fails", async () => {
  await using site = await createSubscribingSite();
  site.worker.cancel();
  const { ctx, clock } = site.app;
  let isBroken = false;
  const db = new Proxy(ctx.db, {
    get(target, name) {
      if (isBroken) throw new Error("disk I/O error");
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const worker = startSignUps({ ...ctx, db });
  await clock.advance(MINUTE_MS - 1);
  await site.signUp();
  isBroken = true;
  await clock.advance(MINUTE_MS);
  await settle();
  expect(site.requests().map(({ state }) => state)).toEqual(["waiting"]);
  isBroken = false;
  await clock.advance(MINUTE_MS);
  await settle();
  expect(site.requests().map(({ state }) => state)).toEqual(["sent"]);
  worker.cancel();
});
