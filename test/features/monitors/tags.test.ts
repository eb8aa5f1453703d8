import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem } from "../../support/app";
import { createMonitorApi, HTTP } from "../../support/monitor-api";
import { updateComponent } from "../../support/examined";

const TAGS = [
  "production",
  "Team „Ops“",
  'a "quoted", one',
  "back\\slash",
  "it's 100 %",
  "🦊".repeat(100),
];

describe("tags of monitors", () => {
  test("a monitor has no tags unless it is created with them, and a change raises its version once", async () => {
    await using api = await createMonitorApi();
    expect((await api.create()).tags).toEqual([]);
    const { id } = await api.create({ tags: TAGS });
    const read = await api.call(`/${id}`);
    expect(read.body).toMatchObject({ tags: TAGS, version: 1 });
    const changed = await api.patch(id, { tags: ["staging"] });
    expect(changed.body).toMatchObject({ tags: ["staging"], version: 2 });
    expect(api.app.audit().at(-1)).toMatchObject({
      action: "monitor.update",
      summary: "Changed the monitor “Shop”: tags",
    });
    const etag = (await api.call(`/${id}`)).headers.get("etag");
    expect(etag).not.toBe(read.headers.get("etag"));
    expect((await api.patch(id, { tags: ["staging"] })).body.version).toBe(2);
    expect((await api.patch(id, { interval_seconds: 30 })).body.tags).toEqual(["staging"]);
    expect((await api.patch(id, { tags: [] })).body).toMatchObject({ tags: [], version: 4 });
    const stale = await api.patch(id, { tags: ["late"] }, { "if-match": '"2"' });
    expectProblem(stale, "precondition_failed");
  });

  test("a change of the tags alone does not make visitors load the page again", async () => {
    await using api = await createMonitorApi();
    const { ctx } = api.app;
    const { id } = await api.create({ component_ids: [api.components["API"] ?? ""] });
    let changes = 0;
    ctx.signals.pageChanged.on(() => (changes += 1));
    await api.patch(id, { tags: ["production"] });
    expect(changes).toBe(0);
    await api.patch(id, { tags: [], interval_seconds: 30 });
    expect(changes).toBe(1);
  });

  test("the longest list of the longest tags is accepted", async () => {
    await using api = await createMonitorApi();
    const tags = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(100, "é"));
    expect((await api.create({ tags })).tags).toEqual(tags);
  });

  const many = Array.from({ length: 21 }, (_, index) => `tag ${index}`);
  test.each([
    ["more than 20", many, "has 21 items; 20 is the most"],
    ["too long a tag", ["x".repeat(101)], "item 1 is 101 characters long; 100 is the most"],
    ["an empty tag", ["a", ""], "item 2 is empty"],
    ["a tag with white space before it", [" a"], "item 1 begins or ends with white space"],
    ["a tag with white space after it", ["a\u00a0"], "item 1 begins or ends with white space"],
    ["a control character", ["a\nb"], "item 1 holds control characters or bidirectional overrides"],
    [
      "a repetition in another case",
      ["Äpi", "b", "äPI"],
      "item 3 is a repetition; case is ignored",
    ],
    ["something that is no text", [1], "item 1 must be text"],
    ["something that is no list", "production", "must be a list of texts"],
    ["half of a character", ["\ud800"], "item 1 holds half of a surrogate pair"],
  ])("tags with %s are rejected in a new monitor and in a change", async (_, tags, detail) => {
    await using api = await createMonitorApi();
    const { id } = await api.create({ tags: ["kept"] });
    const before = api.written();
    for (const answer of [await api.post({ ...HTTP, tags }), await api.patch(id, { tags })]) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toEqual([{ pointer: "#/tags", detail }]);
    }
    expect(api.written()).toEqual(before);
  });

  test("null is rejected as a list of tags", async () => {
    await using api = await createMonitorApi();
    const { id } = await api.create();
    expectProblem(await api.patch(id, { tags: null }), "validation_failed");
  });

  test("GET /monitors?tag= lists the monitors with a tag, whole and in any case, on every part of the list", async () => {
    await using api = await createMonitorApi();
    for (const [index, tag] of TAGS.entries()) await api.create({ name: `M${index}`, tags: [tag] });
    await api.create({ name: "All", tags: TAGS });
    await api.create({ name: "Part", tags: ["production-eu", "pre,production", "prod"] });
    await api.create({ name: "None" });
    const namesFor = async (tag: string, more = "") => {
      const { body } = await api.call(`?tag=${encodeURIComponent(tag)}${more}`);
      return body.data.map((one: { name: string }) => one.name);
    };
    for (const [index, tag] of TAGS.entries()) {
      expect(await namesFor(tag)).toEqual(["All", `M${index}`]);
    }
    expect(await namesFor("PRODUCTION")).toEqual(["All", "M0"]);
    expect(await namesFor("production", "&type=tcp")).toEqual([]);
    for (const tag of ["duction", '"', ',"', "%", "[", "quoted", "unknown"]) {
      expect(await namesFor(tag), tag).toEqual([]);
    }
    const first = await api.call("?tag=production&limit=1");
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(new URL(next).searchParams.get("tag")).toBe("production");
  });

  test("an empty tag, too long a tag and a control character in the filter are rejected", async () => {
    await using api = await createMonitorApi();
    for (const tag of ["", "x".repeat(101), "a%0Ab"]) {
      expectProblem(await api.call(`?tag=${tag}`), "invalid_request");
    }
  });

  test("tags of monitors and components are in no public document and no answer about components", async () => {
    await using api = await createMonitorApi();
    const { app } = api;
    const SECRET = "tag-for-staff";
    const component = api.components["API"] ?? "";
    await app.ctx.db.write((tx) =>
      updateComponent(app.ctx, tx, component, { tags: [SECRET], show_latency: true }, CLI_ACTOR),
    );
    await api.create({ component_ids: [component], tags: [SECRET], open_incident: "automatic" });
    const key = await app.keyWith("read:status");
    for (const path of [
      "/status/acme",
      "/status/acme/version",
      "/status/acme/badge.json",
      "/status/acme/calendar.ics",
      "/status/acme/subscribe",
      "/status/acme/summary.json",
      "/status/acme/feed.atom",
      "/status/acme/feed.rss",
      "/status/acme/history",
      "/status/acme/api/v2/summary.json",
      "/status/acme/api/v2/components.json",
      "/api/v1/status/acme",
    ]) {
      const answer = await app.call(path, path.startsWith("/api") ? { key } : {});
      expect(answer.status, path).toBe(200);
      expect(answer.text, path).not.toContain(SECRET);
    }
    const { body } = await app.call(`/api/v1/components/${component}`, { key });
    expect(body).not.toHaveProperty("tags");
    expect(
      JSON.stringify(app.events().filter(({ type }) => !`${type}`.startsWith("monitor."))),
    ).not.toContain(SECRET);
  });
});
