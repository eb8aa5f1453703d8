import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { toPage } from "../../src/http/pagination";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { createComponent, createPage } from "../support/examined";

/** Returns the cursor that a list gives after a position. */
const cursorOf = (position: string | number) =>
  toPage(
    [position, position],
    1,
    (row) => row,
    (row) => row,
  ).next_cursor ?? "";

interface Named {
  name: string;
}

const TWELVE = Array.from({ length: 12 }, (_, index) => `component ${index}`);

/** The target of a list's `Link: <…>; rel="next"`. */
function nextOf(headers: Headers): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
}

/** Follows a list by its Link headers to its end, with something happening before each page. */
async function follow(app: TestApp, path: string, key: string, between: () => Promise<unknown>) {
  const data: (Named & { page?: Named })[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const answer = await app.call(next, { key });
    expect(answer.status).toBe(200);
    data.push(...answer.body.data);
    const link = nextOf(answer.headers);
    expect(link === undefined).toBe(answer.body.next_cursor === null);
    next = link?.replace("https://status.test", "");
    await between();
  }
  return data;
}

describe("a list", () => {
  test("a list links its next page at the public address with cursor, limit and filter", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" }, TWELVE);
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/components?page=acme&limit=5", {
      key,
      host: "evil.test",
    });
    const next = new URL(nextOf(answer.headers) ?? "");
    expect(next.origin + next.pathname).toBe("https://status.test/api/v1/components");
    expect(Object.fromEntries(next.searchParams)).toEqual({
      page: "acme",
      limit: "5",
      cursor: answer.body.next_cursor,
    });
  });

  test("a list that fits on one page has no next page", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme" }, TWELVE);
    const key = await app.keyWith("read:status");
    for (const limit of [12, 13, 100]) {
      const answer = await app.call(`/api/v1/components?limit=${limit}`, { key });
      expect(answer.body.data).toHaveLength(12);
      expect(answer.body.next_cursor).toBeNull();
      expect(answer.headers.get("link")).toBeNull();
    }
  });

  test("a list returns fifty entries by default", async () => {
    await using app = await createTestApp();
    await app.page(
      { slug: "acme" },
      Array.from({ length: 51 }, (_, index) => `component ${index}`),
    );
    const key = await app.keyWith("read:status");
    const answer = await app.call("/api/v1/components", { key });
    expect(answer.body.data).toHaveLength(50);
    expect(new URL(nextOf(answer.headers) ?? "").searchParams.get("limit")).toBe("50");
  });

  test.each([1, 2, 5, 7])(
    "a list in pages of %d returns each row once while others are inserted",
    async (limit) => {
      await using app = await createTestApp();
      const { page } = await app.page({ slug: "acme" }, TWELVE);
      const key = await app.keyWith("read:status");
      let added = 0;
      const insert = () =>
        app.ctx.db.write((tx) => {
          const place = { managedBy: null, groupId: null, position: 100 };
          createComponent(app.ctx, tx, page, { name: `late ${added++}` }, place, CLI_ACTOR);
        });
      const rows = await follow(app, `/api/v1/components?limit=${limit}`, key, insert);
      expect(rows.map(({ name }) => name)).toEqual([...TWELVE].reverse());
    },
  );

  test("a list of status pages returns each once while others are created", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    let made = 0;
    const insert = () =>
      app.ctx.db.write((tx) => {
        const slug = `page-${made++}`;
        return createPage(app.ctx, tx, { slug, name: slug }, CLI_ACTOR);
      });
    for (let i = 0; i < 5; i++) await insert();
    const rows = await follow(app, "/api/v1/status?limit=2", key, insert);
    expect(rows.map(({ page }) => page?.name)).toEqual([4, 3, 2, 1, 0].map((n) => `page-${n}`));
  });

  test("a list of changes returns each once while others happen", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "acme" }, ["API"]);
    const key = await app.keyWith("read:status", "write:components");
    const path = `/api/v1/components/${components["API"]}`;
    const statuses = ["major_outage", "operational"];
    let made = 0;
    const change = async () => {
      const json = { status: statuses[made % 2], reason: String(made++) };
      expect((await app.call(path, { key, method: "PATCH", json })).status).toBe(200);
    };
    for (let i = 0; i < 5; i++) await change();
    const rows = (await follow(app, `${path}/history?limit=2`, key, change)) as unknown as {
      reason: string;
    }[];
    expect(rows.map(({ reason }) => reason)).toEqual(["4", "3", "2", "1", "0"]);
  });
});

describe("invalid cursors", () => {
  test("an altered cursor is rejected with its pointer", async () => {
    await using app = await createTestApp();
    const { components } = await app.page({ slug: "acme" }, TWELVE);
    const key = await app.keyWith("read:status");
    const list = await app.call("/api/v1/components?limit=5", { key });
    const cursor: string = list.body.next_cursor;
    const listAt = (text: string, path = "/api/v1/components") =>
      app.call(`${path}?limit=5&cursor=${text}`, { key });
    expect((await listAt(cursor)).status).toBe(200);
    const flipped = `${cursor[0] === "A" ? "B" : "A"}${cursor.slice(1)}`;
    for (const bad of ["", "0", "null", "5", flipped, cursor.slice(0, -1), `${cursor}=`, "%00"]) {
      const { errors } = expectProblem(await listAt(bad), "invalid_request");
      expect(errors[0].pointer).toBe("#/cursor");
    }
    // Of the right make, but of a list of another kind.
    const history = `/api/v1/components/${components["component 0"]}/history`;
    expectProblem(await listAt(cursor, history), "invalid_request");
    expectProblem(await listAt(cursorOf(5)), "invalid_request");
  });

  test("a cursor that is too long is rejected", async () => {
    await using app = await createTestApp();
    const key = await app.keyWith("read:status");
    const cursor = cursorOf("x".repeat(600));
    expectProblem(
      await app.call(`/api/v1/components?cursor=${cursor}`, { key }),
      "invalid_request",
    );
  });
});
