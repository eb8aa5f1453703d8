import { describe, expect, test } from "bun:test";
import { Problem } from "../../src/base/errors";
import { createBearerReader } from "../../src/http/elysia";
import { createCredentials } from "../../src/http/caller";
import { createTestApp, expectProblem } from "../support/app";

/** `Authorization` as sent, with KEY for the value of a live key, and the result of the gateway. */
const HEADERS: [header: string, expected: "accepted" | "missing_key" | "invalid_key"][] = [
  ["Bearer KEY", "accepted"],
  ["bearer KEY", "accepted"],
  ["BEARER KEY", "accepted"],
  ["bEaReR KEY", "accepted"],
  ["BearerKEY", "missing_key"],
  ["Bearerabc", "missing_key"],
  ["Bearer", "missing_key"],
  ["KEY", "missing_key"],
  ["Basic KEY", "missing_key"],
  ["Basic YWxsOmNsZWFy", "missing_key"],
  ["Token KEY", "missing_key"],
  ["Bearers KEY", "missing_key"],
  ["Bearer\tKEY", "missing_key"],
  ["Bearer  KEY", "invalid_key"],
  ["Bearer KEY KEY", "invalid_key"],
  ["Bearer KEY x", "invalid_key"],
  ["Bearer KEY,", "invalid_key"],
  ["Bearer KEY, Bearer KEY", "invalid_key"],
  ["Bearer KEY, Basic YWxsOmNsZWFy", "invalid_key"],
  ["Basic YWxsOmNsZWFy, Bearer KEY", "missing_key"],
  ['Bearer "KEY"', "invalid_key"],
  ["Bearer token=KEY", "invalid_key"],
  ["Bearer KEY=", "invalid_key"],
  ["Bearer KEY;", "invalid_key"],
  ["Bearer %20KEY", "invalid_key"],
  ["Bearer xKEY", "invalid_key"],
  ["Bearer abc", "invalid_key"],
  ["Bearer =", "invalid_key"],
  ["Bearer ü", "invalid_key"],
];

describe("Authorization", () => {
  test.each(HEADERS)("the Authorization header %j is %s", async (header, expected) => {
    await using app = await createTestApp();
    const value = await app.keyWith("read:status");
    const authorization = header.replaceAll("KEY", value);
    const answer = await app.call("/api/v1/key", { headers: { authorization } });
    if (expected === "accepted") expect(answer.status).toBe(200);
    else expectProblem(answer, expected);
  });

  test("two Authorization headers are invalid_key, even with the same key", async () => {
    await using app = await createTestApp();
    const value = await app.keyWith("read:status");
    const headers = new Headers([
      ["authorization", `Bearer ${value}`],
      ["authorization", `Bearer ${value}`],
    ]);
    const request = new Request("http://status.test/api/v1/key", { headers });
    const answer = await app.app.handle(request, () => "203.0.113.7");
    expect(answer.status).toBe(401);
    expect((await answer.json()) as unknown).toMatchObject({ code: "invalid_key" });
  });
});

test("a key in a cookie or another header does not authenticate", async () => {
  await using app = await createTestApp();
  const value = await app.keyWith("read:status");
  for (const headers of [
    { cookie: `access_token=${value}` },
    { "x-api-key": value },
    { "proxy-authorization": `Bearer ${value}` },
  ] as Record<string, string>[]) {
    expectProblem(await app.call("/api/v1/key", { headers }), "missing_key");
  }
});

test("a key value with a wrong format or checksum is rejected without a look-up", async () => {
  await using app = await createTestApp();
  const value = await app.keyWith("read:status");
  let lookUps = 0;
  const credentials = createCredentials({ find: () => void lookUps++ }, createBearerReader());
  const mistyped = value.slice(0, -1) + (value.endsWith("0") ? "1" : "0");
  for (const token of ["abc", mistyped, value.slice(1), value.toUpperCase(), `${value}0`]) {
    expect(credentials.authenticate(`Bearer ${token}`, 0)).toBeInstanceOf(Problem);
  }
  expect(lookUps).toBe(0);
  expect(credentials.authenticate(`Bearer ${value}`, 0)).toBeInstanceOf(Problem);
  expect(lookUps).toBe(1);
});
