import { describe, expect, test } from "bun:test";
import { type Answer, expectProblem } from "../../support/app";
import {
  createMaintenanceSite,
  type MaintenanceSite,
  STEPS_TO,
} from "../../support/maintenance-site";

const namesIn = (answer: Answer): string[] =>
  answer.body.data.map((maintenance: { name: string }) => maintenance.name);

/** One maintenance of each status, named after it, planned in the order of the list. */
async function planEach(site: MaintenanceSite): Promise<void> {
  for (const [name, statuses] of Object.entries(STEPS_TO)) {
    const id = await site.plan({ name });
    for (const status of statuses) await site.update(id, { status, body: "On we go." });
  }
}

describe("GET /api/v1/maintenance", () => {
  test("GET /api/v1/maintenance lists all or one page's maintenance, or that of a component, last planned first", async () => {
    await using site = await createMaintenanceSite();
    const other = await site.app.page({ slug: "other" }, ["Else"]);
    await site.plan({ name: "One" });
    await site.plan({ name: "Two", page: "other", components: [other.components["Else"]] });
    await site.plan({ name: "Three" });
    expect(namesIn(await site.call(""))).toEqual(["Three", "Two", "One"]);
    expect(namesIn(await site.call("?page=acme"))).toEqual(["Three", "One"]);
    expect(namesIn(await site.call(`?page=${other.page.id}`))).toEqual(["Two"]);
    expect(namesIn(await site.call(`?component=${site.ids["API"]}`))).toEqual(["Three", "One"]);
    expect(namesIn(await site.call(`?component=${site.ids["Web"]}`))).toEqual([]);
  });

  test.each([
    ["status=completed", ["completed"]],
    ["status=verifying", ["verifying"]],
    ["upcoming=true", ["scheduled"]],
    ["upcoming=false", ["cancelled", "completed", "verifying", "in_progress"]],
    ["active=true", ["verifying", "in_progress"]],
    ["active=false", ["cancelled", "completed", "scheduled"]],
    ["active=false&upcoming=false", ["cancelled", "completed"]],
    ["active=true&upcoming=true", []],
    ["active=true&status=in_progress&page=acme", ["in_progress"]],
  ])("GET /api/v1/maintenance?%s returns only matching maintenance", async (query, names) => {
    await using site = await createMaintenanceSite();
    await planEach(site);
    expect(namesIn(await site.call(`?${query}`))).toEqual(names);
  });

  test("the cursor of GET /api/v1/maintenance skips and repeats nothing while others are planned", async () => {
    await using site = await createMaintenanceSite();
    for (const name of ["A", "B", "C", "D", "E"]) await site.plan({ name });
    await site.cancel(await site.plan({ name: "Cancelled" }));
    const first = await site.call("?limit=2&status=scheduled&page=acme");
    expect(namesIn(first)).toEqual(["E", "D"]);
    await site.plan({ name: "F" });
    const next = /<(.+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    const { searchParams } = new URL(next);
    expect(Object.fromEntries(searchParams)).toEqual({
      limit: "2",
      status: "scheduled",
      page: "acme",
      cursor: first.body.next_cursor,
    });
    const second = await site.app.call(next.replace("https://status.test", ""), { key: site.key });
    expect(namesIn(second)).toEqual(["C", "B"]);
    const third = await site.call(
      `?limit=2&status=scheduled&page=acme&cursor=${second.body.next_cursor}`,
    );
    expect(namesIn(third)).toEqual(["A"]);
    expect(third.body.next_cursor).toBeNull();
  });

  test("GET /api/v1/maintenance returns the 20 newest updates of each, a single read all", async () => {
    await using site = await createMaintenanceSite();
    const long = await site.plan({ name: "Long" });
    for (let n = 1; n <= 22; n++) await site.update(long, { body: `Update ${n}` });
    await site.plan({ name: "Short" });
    const { data } = (await site.call("")).body;
    expect(data.map((each: { updates: unknown[] }) => each.updates.length)).toEqual([1, 20]);
    expect(data[1].updates[0].body).toBe("Update 22");
    expect(data[1].updates[19].body).toBe("Update 3");
    expect((await site.get(long)).updates).toHaveLength(23);
  });

  test.each([
    "page=nobody",
    "component=cmp_00000000000000000000000000",
    "status=planned",
    "upcoming=1",
    "active=",
    "limit=0",
    "limit=101",
    "cursor=tampered",
    "cursor=NQ",
    "open=true",
  ])("GET /api/v1/maintenance?%s is rejected with a pointer to the parameter", async (query) => {
    await using site = await createMaintenanceSite();
    const problem = expectProblem(await site.call(`?${query}`), "invalid_request");
    expect(problem.errors[0].pointer).toBe(`#/${query.split("=")[0]}`);
  });
});
