import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decideExpiry } from "../../../src/features/keys/rules";
import { createTestApp, expectProblem } from "../../support/app";

describe("an expired key", () => {
  test("a key is rejected from the exact millisecond of its expiry", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey({ expires: "2026-03-10T12:00:01.000Z" });
    await app.clock.advance(999);
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
    await app.clock.advance(1);
    const answer = await app.call("/api/v1/key", { key: value });
    expectProblem(answer, "expired_key");
    expect(answer.headers.get("www-authenticate")).toBe(
      'Bearer realm="allclear", error="invalid_token", error_description="The API key expired at 2026-03-10T12:00:01.000Z."',
    );
  });

  test("the expiry of a key is checked by the wall clock at every request, also after it is set back", async () => {
    await using app = await createTestApp();
    const { value } = await app.createKey({ expires: "2026-03-11T00:00:00Z" });
    app.clock.setWallClock(Date.parse("2026-03-11T00:00:00.000Z"));
    expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
    app.clock.setWallClock(Date.parse("2026-03-10T23:59:59.999Z"));
    expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
  });
});

test("a key with an expiry date works until the end of that UTC day", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey({ expires: "2026-03-10" });
  expect(key.expires_at).toBe("2026-03-11T00:00:00.000Z");
  app.clock.setWallClock(Date.parse("2026-03-10T23:59:59.999Z"));
  expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
  app.clock.setWallClock(Date.parse("2026-03-11T00:00:00.000Z"));
  expectProblem(await app.call("/api/v1/key", { key: value }), "expired_key");
});

test("a key without an expiry never expires", async () => {
  await using app = await createTestApp();
  const { value } = await app.createKey();
  app.clock.setWallClock(Date.parse("9999-12-31T23:59:59.999Z"));
  expect((await app.call("/api/v1/key", { key: value })).status).toBe(200);
});

test.each([
  ["2026-03-10T14:00:01+02:00", "2026-03-10T12:00:01.000Z"],
  ["2026-03-10T12:01Z", "2026-03-10T12:01:00.000Z"],
  ["2028-02-29", "2028-03-01T00:00:00.000Z"],
  ["2026-12-31", "2027-01-01T00:00:00.000Z"],
])("an expiry of %s is the time %s", async (expires, moment) => {
  await using app = await createTestApp();
  expect((await app.createKey({ expires })).key.expires_at).toBe(moment);
});

test("an expiry date ends at the next midnight, whenever it is set", () => {
  const days = fc.date({
    min: new Date("2000-01-01T00:00:00Z"),
    max: new Date("9999-12-30T23:59:59Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(days, (moment) => {
      const day = moment.toISOString().slice(0, 10);
      const midnight = Date.parse(`${day}T00:00:00Z`) + 86_400_000;
      expect(decideExpiry(day, moment.getTime())).toEqual({ expiresAt: midnight });
      expect(decideExpiry(day, midnight)).toEqual({ error: "is in the past" });
    }),
  );
});
