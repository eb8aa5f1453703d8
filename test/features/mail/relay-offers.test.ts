import { expect, test } from "bun:test";
import { noteRelayOffers } from "../../../src/features/mail/settings";
import { createTestApp } from "../../support/app";

test("what a relay offers is noted without a failure, also while the database is not readable", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  const broken: typeof ctx = Object.create(ctx, { db: { value: undefined } });
  await noteRelayOffers(broken, { host: "relay.test", port: 25 }, new Set(["SMTPUTF8"]));
  expect(app.logged.map(({ msg }) => msg)).toContain("what the relay offers could not be stored");
});
