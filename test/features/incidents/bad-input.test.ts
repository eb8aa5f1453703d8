import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";
import { shareSite } from "../../support/shared-site";

const pointersOf = (problem: { errors: { pointer: string }[] }) =>
  problem.errors.map(({ pointer }) => pointer).toSorted();

const bidi = "Paid \u202Elive";
const later = "2026-03-10T12:01:00.001Z";

/** Input that the schema or the rules of incidents reject, with the fields at fault. */
const BROKEN: [string, Record<string, unknown>, string[]][] = [
  ["an unknown page", { page: "nobody" }, ["#/page"]],
  ["no page", { page: undefined }, ["#/page"]],
  ["no name", { name: undefined }, ["#/name"]],
  ["an empty name", { name: "" }, ["#/name"]],
  ["a name of 256 characters", { name: "x".repeat(256) }, ["#/name"]],
  ["a name with a bidirectional override", { name: bidi }, ["#/name"]],
  ["a name with a control character", { name: "a\u0007b" }, ["#/name"]],
  ["a name on two lines", { name: "a\nb" }, ["#/name"]],
  ["an empty body", { body: "" }, ["#/body"]],
  ["a body of 10,001 characters", { body: "🚒".repeat(10_001) }, ["#/body"]],
  ["100 KB of Markdown", { body: "*x* ".repeat(25_000) }, ["#/body"]],
  ["a body with NUL", { body: "a\0b" }, ["#/body"]],
  ["an unknown status", { status: "broken" }, ["#/status"]],
  ["an unknown impact", { impact_override: "huge" }, ["#/impact_override"]],
  ["components as a list", { components: [] }, ["#/components"]],
  [
    "an unknown component",
    { components: { cmp_00000000000000000000000000: "major_outage" } },
    ["#/components/cmp_00000000000000000000000000"],
  ],
  ["a component named oddly", { components: { "a/b": "major_outage" } }, ["#/components/a~1b"]],
  ["a reference with a control character", { external_ref: "a\u0000" }, ["#/external_ref"]],
  ["an empty reference", { external_ref: "" }, ["#/external_ref"]],
  ["a draft that is neither", { draft: "yes" }, ["#/draft"]],
  ["an unknown field", { severity: 1 }, ["#/severity"]],
  ["a year 10000", { started_at: "10000-01-01T00:00:00Z" }, ["#/started_at"]],
  ["a year 10000 in its long form", { started_at: "+010000-01-01T00:00:00Z" }, ["#/started_at"]],
  ["a year 10000 by its zone", { started_at: "9999-12-31T23:59:00-14:00" }, ["#/started_at"]],
  ["a time before 1970", { started_at: "1969-12-31T23:59:59Z" }, ["#/started_at"]],
  ["a time without a zone", { started_at: "2026-03-10T10:00:00" }, ["#/started_at"]],
  ["a leap second", { started_at: "2016-12-31T23:59:60Z" }, ["#/started_at"]],
  ["a day that is none", { started_at: "2026-02-30T10:00:00Z" }, ["#/started_at"]],
  ["a day alone", { started_at: "2026-03-10" }, ["#/started_at"]],
  ["a number as a time", { started_at: 1_773_000_000_000 }, ["#/started_at"]],
  ["a start in the future", { started_at: later }, ["#/started_at"]],
  ["an end in the future", { resolved_at: later }, ["#/resolved_at"]],
  [
    "an end before the start",
    { started_at: "2026-03-10T10:00:00Z", resolved_at: "2026-03-10T09:59:59Z" },
    ["#/resolved_at"],
  ],
  [
    "an end of what is not resolved",
    { status: "monitoring", resolved_at: "2026-03-10T12:00:00Z" },
    ["#/resolved_at"],
  ],
  [
    "several things at once",
    { page: "nobody", components: { x: "major_outage" }, started_at: later },
    ["#/components/x", "#/page", "#/started_at"],
  ],
];

describe("invalid input for an incident", () => {
  const shared = shareSite(createIncidentSite);

  test.each(BROKEN)(
    "an incident with %s is rejected with the fields at fault, and nothing is written",
    async (_what, json, pointers) => {
      const site = await shared();
      const before = await site.state();
      const problem = expectProblem(await site.post(json), "validation_failed");
      expect(pointersOf(problem)).toEqual(pointers);
      expect(await site.state()).toEqual(before);
    },
  );

  test("an incident with a component of another page is rejected, and nothing is written", async () => {
    await using site = await createIncidentSite();
    const { components } = await site.app.page({ slug: "other", name: "Other" }, ["Theirs"]);
    const before = await site.state();
    const problem = expectProblem(
      await site.post({ components: { [components["Theirs"] ?? ""]: "major_outage" } }),
      "validation_failed",
    );
    expect(problem.errors).toEqual([
      {
        pointer: `#/components/${components["Theirs"]}`,
        detail: "is a component of another page",
      },
    ]);
    expect(await site.state()).toEqual(before);
  });

  test("an incident whose body is not a JSON object is rejected, and nothing is written", async () => {
    await using site = await createIncidentSite();
    const before = await site.state();
    for (const json of [null, [], "text", 5]) {
      const problem = expectProblem(await site.post({}, { json }), "validation_failed");
      expect(pointersOf(problem)).toEqual(["#"]);
    }
    const sent = { raw: "{", json: undefined, headers: { "content-type": "application/json" } };
    expectProblem(await site.post({}, sent), "invalid_request");
    expect(await site.state()).toEqual(before);
  });
});

describe("valid input for an incident", () => {
  test.each([
    ["a name of 255 emoji", { name: "🚒".repeat(255) }],
    ["a body of 10,000 emoji", { body: "🚒".repeat(10_000) }],
    ["markup in its texts, kept as it is", { name: "<script>", body: "[x](javascript:alert(1))" }],
    ["a start a minute ahead of the server's clock", { started_at: "2026-03-10T12:01:00Z" }],
    ["a start at the beginning of 1970", { started_at: "1970-01-01T00:00:00Z" }],
  ])("an incident with %s is accepted", async (_what, json: Record<string, unknown>) => {
    await using site = await createIncidentSite();
    const body = await site.open(json);
    expect(body.name).toBe(json["name"] ?? "Errors");
    expect(body.updates[0].body).toBe(json["body"] ?? "We look into it.");
    expect(site.newEventTypes()).toEqual(["incident.created"]);
  });

  test("an update follows an incident whose started_at is ahead of the server's clock", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: "2026-03-10T12:00:59Z" });
    await site.update(id, { status: "resolved" });
    expect((await site.read(id)).status).toBe("resolved");
  });
});

describe("invalid input for an update of an incident", () => {
  const shared = shareSite(createIncidentSite);
  const openEarlier = (site: IncidentSite) => site.open({ started_at: "2026-03-10T11:00:00Z" });

  test.each([
    ["no body", { body: undefined }, "#/body"],
    ["an empty body", { body: "" }, "#/body"],
    ["a body of 10,001 characters", { body: "x".repeat(10_001) }, "#/body"],
    ["an unknown status", { status: "postmortem" }, "#/status"],
    ["an unknown component", { components: { x: "operational" } }, "#/components/x"],
    ["an unknown component status", { components: { x: "down" } }, "#/components/x"],
    ["a moment before the incident", { display_at: "2026-03-10T10:59:59Z" }, "#/display_at"],
    ["a moment in the future", { display_at: later }, "#/display_at"],
    ["a moment without a zone", { display_at: "2026-03-10T11:30:00" }, "#/display_at"],
    ["a time that only an incident has", { resolved_at: "2026-03-10T11:30:00Z" }, "#/resolved_at"],
    ["notify that is neither", { notify: 1 }, "#/notify"],
  ])(
    "an update with %s is rejected with the field at fault, and nothing is written",
    async (_what, json, pointer) => {
      const site = await shared();
      const { id } = await openEarlier(site);
      const before = await site.state();
      const problem = expectProblem(await site.update(id, json), "validation_failed");
      expect(pointersOf(problem)).toEqual([pointer]);
      expect(await site.state()).toEqual(before);
      expect((await site.update(id, { display_at: "2026-03-10T11:00:00Z" })).status).toBe(201);
    },
  );
});

describe("invalid queries of the list of incidents", () => {
  const shared = shareSite(createIncidentSite);

  test.each([
    "page=nobody",
    "component=cmp_00000000000000000000000000",
    "status=open",
    "open=yes",
    "since=yesterday",
    "since=2026-03-10T10:00:00",
    "until=10000-01-01T00:00:00Z",
    "limit=0",
    "cursor=tampered",
    "cursor=NQ",
    "colour=red",
  ])("GET /api/v1/incidents?%s is rejected with a pointer to the parameter", async (query) => {
    const site = await shared();
    const answer = await site.app.call(`${INCIDENTS}?${query}`, { key: site.key });
    const problem = expectProblem(answer, "invalid_request");
    expect(problem.errors[0].pointer).toBe(`#/${query.split("=")[0]}`);
  });
});
