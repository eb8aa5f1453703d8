import { expect, test } from "bun:test";
import { usageOfKey } from "../../../src/features/keys/records";
import { createTestApp } from "../../support/app";

const HOUR = 3_600_000;

test("the requests of a key's last day are counted by kind of answer", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey({ rate_limit: 3 });
  const other = await app.createKey();
  await app.call("/api/v1/key", { key: other.value });
  await app.call("/api/v1/key", { key: value });
  await app.call("/api/v1/key", { key: value });
  await app.call("/api/v1/status/none", { key: value });
  await app.call("/api/v1/key", { key: value });
  await app.clock.advance(HOUR);
  await app.call("/api/v1/key", { key: value });
  await app.clock.advance(5_000);
  const { last24h } = usageOfKey(app.ctx.db, key.id, app.clock.now());
  expect(last24h).toEqual({ ok: 3, client_error: 1, limited: 1, total: 5 });
});

test("an hour leaves a key's last day when the 24th hour after it starts", async () => {
  await using app = await createTestApp();
  const { key, value } = await app.createKey();
  await app.call("/api/v1/key", { key: value });
  await app.clock.advance(5_000);
  const noon = Date.parse("2026-03-10T12:00:00Z");
  const totalAt = (now: number) => usageOfKey(app.ctx.db, key.id, now).last24h.total;
  expect(totalAt(noon + 24 * HOUR - 1)).toBe(1);
  expect(totalAt(noon + 24 * HOUR)).toBe(0);
});

test("the last day of an unknown key is an error that does not repeat a key value", async () => {
  await using app = await createTestApp();
  const { value } = await app.createKey();
  const read = (id: string) => () => usageOfKey(app.ctx.db, id, app.clock.now());
  expect(read("key_00000000000000000000000000")).toThrow("key_00000000000000000000000000");
  expect(read(value)).toThrow("This is the value of a key");
});
