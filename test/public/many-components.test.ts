import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import type { ComponentStatus } from "../../src/base/status";
import { createTestApp, expectProblem } from "../support/app";
import { visit } from "../support/domains";
import { updateComponent, updateGroup, updatePage } from "../support/examined";
import { readHtml } from "../support/html";
import { createManyComponents, type Ids, reportOn } from "../support/many-components";
import type { TestApp } from "../support/app";

const MANY = { groups: 3, each: 10 };
const ENV = { env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } };

async function read(app: TestApp, path = "/status/many") {
  const { status, text } = await app.call(path);
  expect(status).toBe(200);
  return readHtml(text);
}

/** Expects the answer that a part of a public page is missing, which is the same for every client. */
async function expectNoGroup(app: TestApp, path: string): Promise<void> {
  const { status, text } = await app.call(path);
  expect([status, text.includes("There is no such group.")]).toEqual([404, true]);
}

const groupPath = (ids: Ids, name: string) => `/status/many/groups/${ids[name]}`;

describe("a status page of 30 components or more", () => {
  test("the page lists what is not operational first, worst first, with days and the name of the group", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await reportOn(app, ids, {
      "Region 0, service 3": "degraded_performance",
      "Region 1, service 1": "major_outage",
      "Region 2, service 0": "partial_outage",
      Website: "partial_outage",
    });
    const page = await read(app);
    expect(page.texts("main h2").slice(1, 3)).toEqual(["Not operational", "All components"]);
    expect(page.texts("#troubled .component strong")).toEqual([
      "Region 1, service 1",
      "Website",
      "Region 2, service 0",
      "Region 0, service 3",
    ]);
    expect(page.texts("#troubled .name .muted")).toEqual(["Region 1", "Region 2", "Region 0"]);
    expect(page.attributes("#troubled .day-chart", "role")).toHaveLength(4);
    expect(page.texts("#troubled caption")).toHaveLength(4);
    expect(page.texts("#troubled .section-head span")).toEqual(["4 of 31, last 90 days"]);
  });

  test("all groups are folded in one card in the order of the page, with counts of what is not operational", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await reportOn(app, ids, {
      "Region 1, service 1": "major_outage",
      "Region 1, service 2": "degraded_performance",
      "Region 1, service 3": "degraded_performance",
    });
    const page = await read(app);
    expect(page.texts("#components .section-head span")).toEqual(["31 in 3 groups"]);
    expect(page.texts(".groups h3")).toEqual([
      "Region 0 10 components",
      "Region 1 10 components",
      "Region 2 10 components",
      "Other components 1 component",
    ]);
    expect(page.attributes(".groups > .group", "open")).toEqual([]);
    expect(page.texts(".groups .tally")).toEqual(["1 major outage2 degraded"]);
    expect(page.texts(".groups summary > .unseen")).toEqual(Array(3).fill("Operational"));
    expect(page.texts(".filter input")).toHaveLength(1);
  });

  test("folded groups have names, statuses and uptimes of all components, and a link to their days", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await reportOn(app, ids, { "Region 1, service 1": "major_outage" });
    const page = await read(app);
    expect(page.texts(".groups .component strong")).toHaveLength(31);
    expect(page.texts(".groups .component .up")[0]).toBe("100 % uptime");
    expect(page.texts(".groups .component small")).toEqual(["Major outage"]);
    expect(page.attributes(".groups .day-chart", "role")).toEqual([]);
    expect(page.texts(".groups table")).toEqual([]);
    expect(page.attributes(".groups .axis a", "href")).toEqual([
      ...["Region 0", "Region 1", "Region 2"].map((name) => groupPath(ids, name)),
      "/status/many/groups/other",
    ]);
  });

  test("a page with 29 components draws the days of all of them", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, { groups: 4, each: 7 });
    await reportOn(app, ids, { Website: "major_outage" });
    const page = await read(app);
    expect(page.attributes(".day-chart", "role")).toHaveLength(29);
    expect(page.attributes(".group", "open")).toHaveLength(4);
    expect(page.texts("#troubled")).toEqual([]);
    expect(page.texts(".filter")).toEqual([]);
  });

  test("the list of what is not operational ends after 30 components, and the others are counted", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, { groups: 4, each: 8 });
    const names = Object.keys(ids).filter((name) => name.includes("service"));
    const all = names.map((name): [string, ComponentStatus] => [name, "partial_outage"]);
    await reportOn(app, ids, Object.fromEntries(all));
    const page = await read(app);
    expect(page.texts("#troubled .component strong")).toEqual(names.slice(0, 30));
    expect(page.texts("#troubled > .more")).toEqual(["2 more are marked in the groups."]);
    expect(page.texts("#banner p")).toEqual([
      "32 components have a partial outage. 1 of 33 components works as usual.",
    ]);
    expect(page.texts("#banner .tally li")).toEqual(["32 partial outages"]);
  });

  test("the banner counts operational components once: in its sentence while something is wrong, else by status", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    expect((await read(app)).texts("#banner .tally li")).toEqual(["31 operational"]);
    await reportOn(app, ids, { Website: "major_outage", "Region 0, service 0": "partial_outage" });
    const page = await read(app);
    expect(page.texts("#banner p")).toEqual([
      "Website has a major outage. 29 of 31 components work as usual.",
    ]);
    expect(page.texts("#banner .tally li")).toEqual(["1 major outage", "1 partial outage"]);
  });

  test("components that the page hides while they are operational are in neither list", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await app.ctx.db.write((tx) => {
      for (const name of ["Region 0, service 0", "Website"]) {
        const input = { only_show_if_degraded: true };
        updateComponent(app.ctx, tx, ids[name] ?? "", input, CLI_ACTOR);
      }
    });
    const page = await read(app);
    expect(page.texts(".groups .component strong")).toHaveLength(29);
    expect(page.texts(".groups h3")[0]).toBe("Region 0 9 components");
    await expectNoGroup(app, "/status/many/groups/other");
    await reportOn(app, ids, { Website: "partial_outage" });
    expect((await read(app)).texts("#troubled .component strong")).toEqual(["Website"]);
  });

  test("a component whose days are not shown has a row and no days, and a group of such has no link", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await app.ctx.db.write((tx) =>
      updateComponent(app.ctx, tx, ids["Website"] ?? "", { showcase: false }, CLI_ACTOR),
    );
    await reportOn(app, ids, { Website: "major_outage" });
    const page = await read(app);
    expect(page.texts("#troubled .section-head span")).toEqual(["1 of 31"]);
    expect(page.texts("#troubled .axis")).toEqual([]);
    expect(page.attributes(".groups .axis a", "href")).toHaveLength(3);
  });
});

describe("the page of a group", () => {
  test("the page of a group has the days of its components, and refreshes itself", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    await reportOn(app, ids, { "Region 1, service 1": "major_outage" });
    const page = await read(app, groupPath(ids, "Region 1"));
    expect(page.texts("head title")).toEqual(["Region 1 · Many"]);
    expect(page.texts("main .title")).toEqual(["Region 1Major outage"]);
    expect(page.texts("main .component strong")).toHaveLength(10);
    expect(page.attributes("main .day-chart", "role")).toHaveLength(10);
    expect(page.texts("main caption")).toHaveLength(10);
    expect(page.attributes('link[rel="canonical"]', "href")[0]).toEndWith(
      groupPath(ids, "Region 1"),
    );
    expect(page.attributes("script", "data-version")).toEqual([
      (await app.call("/status/many/version")).text,
    ]);
    const other = await read(app, "/status/many/groups/other");
    expect(other.texts("main .component strong")).toEqual(["Website"]);
  });

  test("the page of a group follows changes, and answers 304, HEAD and an unknown id like other pages", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY);
    const path = groupPath(ids, "Region 0");
    const first = await app.call(path);
    const etag = first.headers.get("etag") ?? "";
    expect((await app.call(path, { headers: { "if-none-match": etag } })).status).toBe(304);
    const head = await app.call(path, { method: "HEAD" });
    expect([head.status, head.headers.get("etag")]).toEqual([200, etag]);
    expect(first.headers.get("cache-control")).toStartWith("public, max-age=15");
    await app.ctx.db.write((tx) =>
      updateGroup(app.ctx, tx, ids["Region 0"] ?? "", { name: "Europe" }, CLI_ACTOR),
    );
    const second = await app.call(path, { headers: { "if-none-match": etag } });
    expect(readHtml(second.text).texts("h1")).toEqual(["Europe"]);
    for (const id of ["grp_x", "%20", ids["Website"] ?? ""]) {
      await expectNoGroup(app, `/status/many/groups/${id}`);
    }
  });

  test("a group of another page is not_found, an old slug redirects, and a custom domain has its own groups only", async () => {
    await using app = await createTestApp(ENV);
    const custom = { custom_domains: ["status.many.example"] };
    const ids = await createManyComponents(app, MANY, custom);
    await app.page({ slug: "small" }, ["API"]);
    const key = await app.keyWith("read:status");
    const [group] = (await app.call("/api/v1/status/small", { key })).body.groups;
    await expectNoGroup(app, `/status/small/groups/${ids["Region 0"]}`);
    expect((await app.call(`/status/small/groups/${group.id}`)).status).toBe(200);
    const at = (path: string) => visit(app, "status.many.example", path);
    expect((await at(groupPath(ids, "Region 0"))).status).toBe(200);
    expect((await at(`/status/small/groups/${group.id}`)).status).toBe(404);
    await app.ctx.db.write((tx) =>
      updatePage(app.ctx, tx, ids["many"] ?? "", { slug: "fresh" }, CLI_ACTOR),
    );
    const moved = await app.call(groupPath(ids, "Region 0"));
    expect([moved.status, moved.headers.get("location")]).toEqual([
      308,
      `/status/fresh/groups/${ids["Region 0"]}`,
    ]);
  });

  test("a group of a private page needs a session and is not stored", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, MANY, { visibility: "private" });
    const path = groupPath(ids, "Region 0");
    expectProblem(await app.call(path), "not_found");
    const session = await app.signedIn("viewer");
    const answer = await app.call(path, { session });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.text).toContain('content="noindex"');
  });

  test("the status page stays in memory, also if more of the pages below it are read than are kept", async () => {
    await using app = await createTestApp(ENV);
    const ids = await createManyComponents(app, { groups: 40, each: 1 });
    const before = (await app.call("/status/many")).text;
    for (let group = 0; group < 40; group++) await app.call(groupPath(ids, `Region ${group}`));
    await app.clock.advance(60_000);
    // It has the time at which it was made.
    expect((await app.call("/status/many")).text).toBe(before);
  });
});

test("a group of a small page is open while a component in it has an outage, and otherwise by its setting", async () => {
  await using app = await createTestApp(ENV);
  const ids = await createManyComponents(app, { groups: 2, each: 1 });
  const [always, unless] = ["Region 0", "Region 1"].map((name) => ids[name] ?? "");
  await app.ctx.db.write((tx) => {
    updateGroup(app.ctx, tx, always ?? "", { collapse: "collapsed" }, CLI_ACTOR);
    updateGroup(app.ctx, tx, unless ?? "", { collapse: "collapsed_unless_incident" }, CLI_ACTOR);
  });
  const key = await app.keyWith("write:components");
  const openWith = async (status: ComponentStatus) => {
    for (const name of ["Region 0, service 0", "Region 1, service 0"]) {
      const path = `/api/v1/components/${ids[name]}`;
      expect((await app.call(path, { method: "PATCH", key, json: { status } })).status).toBe(200);
    }
    const page = await read(app);
    const open = page.texts(".group[open] h3 bdi");
    expect(page.texts(".group h3")).toHaveLength(2);
    return open;
  };
  expect(await openWith("operational")).toEqual([]);
  expect(await openWith("under_maintenance")).toEqual(["Region 1"]);
  expect(await openWith("degraded_performance")).toEqual(["Region 1"]);
  expect(await openWith("partial_outage")).toEqual(["Region 0", "Region 1"]);
  expect(await openWith("major_outage")).toEqual(["Region 0", "Region 1"]);
});
