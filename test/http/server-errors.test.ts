import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { anotherProcess } from "../support/second-connection";
import { createTestApp, expectProblem } from "../support/app";
import { streamOf } from "../support/streamed-body";
import { temporaryFolder } from "../support/temporary-folder";

describe("a failure of the server", () => {
  test("an internal error does not reveal its cause, which the log has under the request id", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    const { components } = await app.page({ slug: "acme" }, ["API"]);
    const key = await app.keyWith("read:status");
    await using other = anotherProcess(app, databasePath);
    other.sqlite.run("DROP TABLE component_changes");

    const answer = await app.call(`/api/v1/components/${components["API"]}/history`, { key });
    const problem = expectProblem(answer, "internal_error");
    expect(problem.detail).toBe(
      "Something went wrong. The server's log has the cause under this request's id.",
    );
    expect(answer.text).not.toMatch(/component_changes|sqlite|select|stack|\.ts/i);
    const errors = app.logged.filter((line) => line["level"] === 50);
    expect(errors).toHaveLength(1);
    expect(errors[0]?.["request"]).toBe(answer.headers.get("x-request-id"));
    expect(JSON.stringify(errors[0]?.["err"])).toContain("component_changes");
  });

  test("an internal error is charged once and does not affect the next request", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    await using app = await createTestApp({ databasePath });
    const { components } = await app.page({ slug: "acme" }, ["API"]);
    const { value: key } = await app.createKey({ rate_limit: 10 });
    await using other = anotherProcess(app, databasePath);
    other.sqlite.run("DROP TABLE component_changes");
    const path = `/api/v1/components/${components["API"]}`;
    expect((await app.call(`${path}/history`, { key })).status).toBe(500);
    const next = await app.call(path, { key });
    expect(next.status).toBe(200);
    expect(next.headers.get("x-ratelimit-remaining")).toBe("8");
  });
});

test.each([
  ["no value", undefined],
  ["null", null],
  ["a text", "the secret cause"],
  ["an object", { secret: "cause" }],
])("%s that a handler throws is an internal_error and is logged once", async (_what, thrown) => {
  for (const fail of [() => Promise.reject(thrown), throws]) {
    await using app = await createTestApp({ wrap: () => () => fail });
    const answer = await app.call("/api/v1/key", { key: await app.keyWith("read:status") });
    expectProblem(answer, "internal_error");
    expect(answer.text).not.toMatch(/secret/);
    const errors = app.logged.filter((line) => line["level"] === 50);
    expect(errors.map((line) => line["request"])).toEqual([answer.headers.get("x-request-id")]);
  }

  function throws(): never {
    // oxlint-disable-next-line typescript/only-throw-error
    throw thrown;
  }
});

test("an error before a body is read is an internal_error, is logged, and frees the room of the body", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "allclear.db");
  await using app = await createTestApp({ databasePath });
  const send = (path: string) => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "transfer-encoding": "chunked",
      origin: "http://status.test",
    };
    return app.call(path, { method: "POST", raw: streamOf("next=").stream, headers });
  };
  // After these, a sign-in is refused before its body is read, with a page that depends on the users.
  for (let attempt = 0; attempt < 10; attempt++) await send("/admin/sign-in");
  expect((await send("/admin/sign-in")).status).toBe(429);
  await using other = anotherProcess(app, databasePath);
  other.sqlite.run("DROP TABLE users");

  for (let attempt = 0; attempt < 4; attempt++) {
    const answer = await send("/admin/sign-in");
    expectProblem(answer, "internal_error");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  }
  const errors = app.logged.filter((line) => line["level"] === 50);
  expect(errors).toHaveLength(4);
  expect(JSON.stringify(errors[0]?.["err"])).toContain("users");
  expect((await send("/admin/sign-out")).status).toBe(303);
});

test("errors of the caller are not logged", async () => {
  await using app = await createTestApp();
  const key = await app.keyWith("read:status");
  await app.call("/nothing");
  await app.call("/api/v1/key");
  await app.call("/api/v1/components?limit=0", { key });
  await app.call("/api/v1/components", { key, method: "PATCH", json: {} });
  expect(app.logged).toEqual([]);
});
