import { describe, expect, test } from "bun:test";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";

async function namesIn({ app, key }: IncidentSite, query = ""): Promise<string[]> {
  const { body } = await app.call(`${INCIDENTS}${query}`, { key });
  return body.data.map((each: { name: string }) => each.name);
}

/** On the page: A (resolved, API), B (identified, API and Web), C (open); on another one: D. */
async function createSiteWithFour(): Promise<IncidentSite & { otherId: string }> {
  const site = await createIncidentSite();
  const { page } = await site.app.page({ slug: "other", name: "Other" }, []);
  const a = await site.open({
    name: "A",
    started_at: "2026-03-08T00:00:00Z",
    components: { [site.api]: "major_outage" },
  });
  await site.update(a.id, { status: "resolved" });
  const b = await site.open({ name: "B", started_at: "2026-03-09T00:00:00Z" });
  const components = { [site.api]: "operational", [site.web]: "partial_outage" };
  await site.update(b.id, { status: "identified", components });
  await site.open({ name: "C" });
  await site.open({ name: "D", page: "other" });
  return { ...site, otherId: page.id };
}

describe("GET /api/v1/incidents", () => {
  test("GET /api/v1/incidents lists the incidents of all pages, newest first, as single reads return them", async () => {
    await using site = await createSiteWithFour();
    const { body } = await site.app.call(INCIDENTS, { key: site.key });
    expect(body.data.map((each: { name: string }) => each.name)).toEqual(["D", "C", "B", "A"]);
    for (const each of body.data) expect(each).toEqual(await site.read(each.id));
  });

  test("GET /api/v1/incidents filters by page, status, component, open and start", async () => {
    await using site = await createSiteWithFour();
    const cases: [string, string[]][] = [
      ["page=acme", ["C", "B", "A"]],
      [`page=${site.otherId}`, ["D"]],
      ["status=identified", ["B"]],
      ["status=resolved", ["A"]],
      ["open=true", ["D", "C", "B"]],
      ["open=false", ["A"]],
      ["open=true&page=acme", ["C", "B"]],
      ["open=false&status=identified", []],
      [`component=${site.api}`, ["B", "A"]],
      [`component=${site.web}`, ["B"]],
      [`component=${site.api}&open=false`, ["A"]],
      [`component=${site.api}&page=other`, []],
      [`component=${site.api}&page=acme&open=true&status=identified`, ["B"]],
      ["since=2026-03-09T00:00:00Z", ["D", "C", "B"]],
      ["until=2026-03-09T00:00:00Z", ["A"]],
      ["since=2026-03-09T01:00:00%2B01:00&until=2026-03-10T00:00:00Z", ["B"]],
    ];
    for (const [query, names] of cases) expect(await namesIn(site, `?${query}`)).toEqual(names);
  });

  test("the cursor of GET /api/v1/incidents keeps filters and skips nothing while incidents are created", async () => {
    await using site = await createSiteWithFour();
    const first = await site.app.call(`${INCIDENTS}?limit=2&page=acme`, { key: site.key });
    expect(first.body.data).toHaveLength(2);
    await site.open({ name: "E" });
    const next = /<(.+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect(next).toContain("page=acme");
    const rest = await site.app.call(next.replace("https://status.test", ""), { key: site.key });
    expect(rest.body.data.map((each: { name: string }) => each.name)).toEqual(["A"]);
    expect(rest.body.next_cursor).toBeNull();
  });

  test("GET /api/v1/incidents returns the 20 newest updates of each incident, a single read all", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "partial_outage" } });
    for (let n = 1; n <= 24; n++) await site.update(id, { body: `No. ${n}` });
    const [listed] = (await site.app.call(INCIDENTS, { key: site.key })).body.data;
    expect(listed.updates).toHaveLength(20);
    expect(listed.updates[0].body).toBe("No. 24");
    expect(listed.components).toEqual([{ id: site.api, name: "API", status: "partial_outage" }]);
    expect((await site.read(id)).updates).toHaveLength(25);
  });
});
