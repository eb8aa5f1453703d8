import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type CallOptions, createTestApp, expectProblem, type TestApp } from "../../support/app";
import { temporaryFolder } from "../../support/temporary-folder";

const MAINTENANCE = {
  page: "acme",
  name: "Disks",
  body: "We replace disks.",
  components: [],
  scheduled_for: "2026-03-11T12:00:00.000Z",
  scheduled_until: "2026-03-11T13:00:00.000Z",
};

/** Creates a page and a key that may create incidents and maintenance. */
async function createSite(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  await app.page();
  const key = await app.keyWith("write:incidents", "write:maintenance", "read:status");
  return { app, key, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

function post(app: TestApp, key: string, path: string, sent: CallOptions & { as?: string }) {
  const { as, ...more } = sent;
  return app.call(`/api/v1${path}`, {
    key,
    method: "POST",
    ...more,
    headers: as === undefined ? {} : { "idempotency-key": as },
  });
}

const INCIDENT = { page: "acme", name: "Slow", body: "We look into it." };

describe("repeated creating requests", () => {
  test("an incident sent repeatedly with one Idempotency-Key is created and recorded once", async () => {
    await using site = await createSite();
    const { app, key } = site;
    const [events, audit] = [app.events().length, app.audit().length];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(app, key, "/incidents", { as: "a", json: INCIDENT })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const tags = answers.map(({ headers }) => headers.get("etag"));
    expect([...new Set(tags)]).toEqual([expect.stringMatching(/^"1-[0-9a-f]{16}"$/)]);
    const isReplayed = answers.map(({ headers }) => headers.get("idempotency-replayed"));
    expect(isReplayed.filter((value) => value === "true")).toHaveLength(19);
    const list = await app.call("/api/v1/incidents", { key });
    expect(list.body.data).toHaveLength(1);
    expect(app.events().slice(events)).toMatchObject([{ type: "incident.created" }]);
    expect(app.audit()).toHaveLength(audit + 1);
  });

  test("updates and maintenance sent twice with one Idempotency-Key are recorded once", async () => {
    await using site = await createSite();
    const { app, key } = site;
    const incident = (await post(app, key, "/incidents", { json: INCIDENT })).body.id;
    const planned = (await post(app, key, "/maintenance", { json: MAINTENANCE })).body.id;
    const update = { body: "More of it." };
    for (const [path, json] of [
      [`/incidents/${incident}/updates`, update],
      ["/maintenance", MAINTENANCE],
      [`/maintenance/${planned}/updates`, update],
    ] as const) {
      const first = await post(app, key, path, { as: "a", json });
      const [events, audit] = [app.events(), app.audit()];
      const again = await post(app, key, path, { as: "a", json });
      expect([path, first.status, again.status]).toEqual([path, 201, 201]);
      expect(again.text).toBe(first.text);
      const { headers } = again;
      expect(headers.get("idempotency-replayed")).toBe("true");
      expect(headers.get("location")).toBe(first.headers.get("location"));
      expect(headers.get("etag")).toBe(first.headers.get("etag"));
      expect([app.events(), app.audit()]).toEqual([events, audit]);
    }
  });

  test("a request with a used Idempotency-Key and another body records nothing", async () => {
    await using site = await createSite();
    const { app, key } = site;
    await post(app, key, "/incidents", { as: "a", json: INCIDENT });
    const [events, audit] = [app.events(), app.audit()];
    const other = { ...INCIDENT, name: "Slower" };
    expectProblem(
      await post(app, key, "/incidents", { as: "a", json: other }),
      "idempotency_mismatch",
    );
    expect([app.events(), app.audit()]).toEqual([events, audit]);
  });

  test("a replay with an Idempotency-Key works after a restart", async () => {
    using folder = temporaryFolder();
    const databasePath = join(folder.path, "allclear.db");
    const sent = { as: "a", json: INCIDENT };
    const { key, text } = await (async () => {
      await using before = await createSite({ databasePath });
      const answer = await post(before.app, before.key, "/incidents", sent);
      expect(answer.status).toBe(201);
      return { key: before.key, text: answer.text };
    })();
    await using after = await createTestApp({ databasePath });
    const again = await post(after, key, "/incidents", sent);
    expect(again.text).toBe(text);
    expect(after.events().map(({ type }) => type)).toEqual(["incident.created"]);
  });
});
