import { describe, expect, test } from "bun:test";
import { listAllKeys } from "../../../src/features/keys/records";
import { listKeyValues } from "../../../src/features/keys/store";
import { createTestApp, type TestApp } from "../../support/app";
import { rejectionOf } from "../../support/rejection";
import { shareSite } from "../../support/shared-site";

/** Rejected input, the field at fault and its error. */
const WRONG: [what: string, input: Record<string, unknown>, pointer: string, detail: string][] = [
  ["a scope that does not exist", { scopes: ["read:all"] }, "#/scopes/0", "must be one of"],
  ["a scope in capitals", { scopes: ["READ:STATUS"] }, "#/scopes/0", "must be one of"],
  ["a property of every object as a scope", { scopes: ["toString"] }, "#/scopes/0", "must be one"],
  ["no scope", { scopes: [] }, "#/scopes", "at least one"],
  ["a scope twice", { scopes: ["read:status", "read:status"] }, "#/scopes", "twice"],
  ["scopes that are one text", { scopes: "read:status" }, "#/scopes", "must be a list"],
  ["a limit of 0", { rate_limit: 0 }, "#/rate_limit", "from 1 to 1,000,000"],
  ["a limit below 0", { rate_limit: -1 }, "#/rate_limit", "from 1 to 1,000,000"],
  ["a limit of 1.5", { rate_limit: 1.5 }, "#/rate_limit", "whole number"],
  ["a limit of 1,000,001", { rate_limit: 1_000_001 }, "#/rate_limit", "from 1 to 1,000,000"],
  ["a limit that is no number", { rate_limit: Number.NaN }, "#/rate_limit", "whole number"],
  ["a limit as text", { rate_limit: "5" }, "#/rate_limit", "whole number"],
  ["yesterday", { expires: "2026-03-09" }, "#/expires", "in the past"],
  ["this very moment", { expires: "2026-03-10T12:00:00.000Z" }, "#/expires", "in the past"],
  ["31 February", { expires: "2027-02-31" }, "#/expires", "must be a day"],
  ["29 February of a common year", { expires: "2027-02-29" }, "#/expires", "must be a day"],
  ["a time on 31 February", { expires: "2027-02-31T00:00:00Z" }, "#/expires", "must be a day"],
  ["a time without its zone", { expires: "2027-01-31T00:00:00" }, "#/expires", "with its zone"],
  ["a day in words", { expires: "tomorrow" }, "#/expires", "must be a day"],
  ["an empty expiration", { expires: "" }, "#/expires", "must be a day"],
  ["an expiration as a number", { expires: 1_800_000_000 }, "#/expires", "must be text"],
  ["a day whose end has five digits of year", { expires: "9999-12-31" }, "#/expires", "too far"],
  ["an empty name", { name: "" }, "#/name", "is empty"],
  ["a blank name", { name: "  " }, "#/name", "is blank"],
  ["a name of 256 characters", { name: "x".repeat(256) }, "#/name", "256 characters"],
  ["a name of 300 characters", { name: "x".repeat(300) }, "#/name", "300 characters"],
  ["a name with a line feed", { name: "a\nb" }, "#/name", "control characters"],
  ["a name with a NUL", { name: "a\0b" }, "#/name", "NUL"],
  ["a name with an escape", { name: "a\u001b[31mb" }, "#/name", "control characters"],
  ["a name with a C1 control", { name: "a\u0085b" }, "#/name", "control characters"],
  ["a name with an override", { name: "a\u202eb" }, "#/name", "bidirectional"],
  ["a name with an isolate", { name: "a\u2066b" }, "#/name", "bidirectional"],
  ["no name", { name: undefined }, "#/name", "must be text"],
  ["a name that is a number", { name: 5 }, "#/name", "must be text"],
  ["a field that no key has", { scope: "read:status" }, "#/scope", "is not a known field"],
];

/** Creates a key from input of any type, as a form or a program may send it. */
function create(app: TestApp, input: Record<string, unknown>) {
  return app.createKey(input as Parameters<TestApp["createKey"]>[0]);
}

function expectNothingWritten(app: TestApp): void {
  expect(listAllKeys(app.ctx.db)).toEqual([]);
  expect(listKeyValues(app.ctx.db, {})).toEqual([]);
  expect(app.audit()).toEqual([]);
  expect(app.events()).toEqual([]);
}

describe("invalid input for a key", () => {
  const shared = shareSite(createTestApp);

  test.each(WRONG)(
    "a key with %s is rejected, and nothing is written",
    async (_what, input, pointer, detail) => {
      const app = await shared();
      const rejection = await rejectionOf(create(app, input));
      expect(rejection.code).toBe("validation_failed");
      expect(rejection.fields.map((field) => field.pointer)).toEqual([pointer]);
      expect(rejection.fields[0]?.detail).toContain(detail);
      expectNothingWritten(app);
    },
  );
});

test("a key with several invalid fields is rejected with all of them", async () => {
  await using app = await createTestApp();
  const rejection = await rejectionOf(
    create(app, {
      name: "x".repeat(300),
      scopes: ["read:status", "nonsense", "write:everything"],
      rate_limit: 0,
      expires: "2027-02-31",
      colour: "green",
    }),
  );
  expect(rejection.fields.map((field) => field.pointer).sort()).toEqual([
    "#/colour",
    "#/expires",
    "#/name",
    "#/rate_limit",
    "#/scopes/1",
    "#/scopes/2",
  ]);
  expect(rejection.message).toBe("6 fields are wrong.");
  expectNothingWritten(app);
});

test("a rejected key does not affect one created at the same time", async () => {
  await using app = await createTestApp();
  const [good, bad] = await Promise.all([app.createKey(), rejectionOf(create(app, { name: "" }))]);
  expect(bad.code).toBe("validation_failed");
  expect(listAllKeys(app.ctx.db)).toEqual([good.key]);
  expect(app.audit()).toHaveLength(1);
});
