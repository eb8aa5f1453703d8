import { describe, expect, test } from "bun:test";
import { applyTransition } from "../../../../src/features/monitors/engine/transitions";
import { newEvaluation } from "../../../../src/features/monitors/rules";
import { deletePage } from "../../../../src/features/pages/deletion";
import { findPageBySlugOrId } from "../../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, toIso } from "../../../../src/base/time";
import { answers, fails, openEngineSite, type EngineSite } from "../../../support/engine-site";
import { createMonitor, updateMonitor } from "../../../support/examined";

interface Site extends EngineSite {
  api: string;
  key: string;
  incidents(): Promise<IncidentShown[]>;
  goDown(): Promise<void>;
  goUp(): Promise<void>;
}

interface IncidentShown {
  id: string;
  name: string;
  status: string;
  impact: string;
  source: string;
  draft: boolean;
  started_at: string;
  resolved_at: string | null;
  components: { name: string; status: string }[];
  updates: { id: string; body: string; status: string }[];
}

async function openSite(openIncident: "automatic" | "draft" | "never"): Promise<Site> {
  const engineSite = await openEngineSite();
  const { components } = await engineSite.app.page({}, ["API"]);
  const api = components["API"] ?? "";
  const key = await engineSite.app.keyWith("read:status", "write:incidents");
  await engineSite.monitor({
    name: "Public API",
    config: { url: "https://api.test/" },
    component_ids: [api],
    failure_threshold: 2,
    open_incident: openIncident,
  });
  await engineSite.clock.advance(MINUTE_MS);
  return Object.assign(engineSite, {
    api,
    key,
    async incidents() {
      const { body } = await engineSite.app.call("/api/v1/incidents", { key });
      return body.data;
    },
    async goDown() {
      engineSite.let("api.test", fails("The connection was *refused*."));
      await engineSite.clock.advance(2 * MINUTE_MS);
    },
    async goUp() {
      engineSite.let("api.test", answers());
      await engineSite.clock.advance(2 * MINUTE_MS);
    },
  });
}

const kinds = (engineSite: EngineSite) =>
  engineSite.app
    .events()
    .map(({ type }) => type)
    .filter((type) => type.startsWith("incident."));

const downSince = (engineSite: EngineSite) =>
  toIso(engineSite.checks(idOf(engineSite)).find(({ outcome }) => outcome === "failed")?.at ?? 0);

const idOf = (engineSite: EngineSite) =>
  engineSite.app.audit().find(({ action }) => action === "monitor.create")?.targetId ?? "";

describe("automatic incidents", () => {
  test("an outage opens an automatic incident with its reason, dated from the first failed check", async () => {
    await using site = await openSite("automatic");
    await site.goDown();
    const [incident, ...others] = await site.incidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({
      name: "API is unavailable",
      status: "investigating",
      impact: "critical",
      source: "monitor",
      draft: false,
      started_at: downSince(site),
      components: [{ name: "API", status: "major_outage" }],
    });
    expect(incident?.updates[0]?.body).toBe(
      "Automatic checks are failing. The connection was \\*refused\\*.",
    );
  });

  test("an untouched automatic incident is resolved at the time of recovery", async () => {
    await using site = await openSite("automatic");
    await site.goDown();
    await site.goUp();
    const [incident] = await site.incidents();
    const recovered = site
      .checks(idOf(site))
      .find(({ at, outcome }) => outcome === "ok" && toIso(at) > downSince(site));
    expect(incident).toMatchObject({
      status: "resolved",
      resolved_at: toIso(recovered?.at ?? 0),
    });
    expect(site.status(site.api)).toBe("operational");
    expect(kinds(site)).toEqual(["incident.created", "incident.resolved"]);
  });

  test("an automatic incident is reopened if the monitor fails again soon", async () => {
    await using site = await openSite("automatic");
    for (let round = 0; round < 3; round++) {
      await site.goDown();
      await site.goUp();
    }
    const incidents = await site.incidents();
    expect(incidents).toHaveLength(1);
    expect(incidents[0]?.status).toBe("resolved");
    expect(kinds(site)).toEqual([
      "incident.created",
      "incident.resolved",
      "incident.reopened",
      "incident.resolved",
      "incident.reopened",
      "incident.resolved",
    ]);
  });

  test("a monitor opens a new incident when its last one has 250 updates", async () => {
    await using site = await openSite("automatic");
    for (let round = 0; round < 126; round++) {
      await site.goDown();
      await site.goUp();
    }
    const incidents = await site.incidents();
    expect(incidents.map(({ status }) => status)).toEqual(["resolved", "resolved"]);
    expect(kinds(site).slice(0, 250).slice(-2)).toEqual(["incident.reopened", "incident.resolved"]);
    expect(kinds(site).slice(250)).toEqual(["incident.created", "incident.resolved"]);
  });

  test("an outage opens a new incident more than half an hour after the last recovery", async () => {
    await using site = await openSite("automatic");
    await site.goDown();
    await site.goUp();
    await site.clock.advance(31 * MINUTE_MS);
    await site.goDown();
    expect((await site.incidents()).map(({ status }) => status)).toEqual([
      "investigating",
      "resolved",
    ]);
  });

  test("an automatic incident with an update by a person is not changed by the monitor", async () => {
    await using site = await openSite("automatic");
    await site.goDown();
    const [incident] = await site.incidents();
    await site.app.call(`/api/v1/incidents/${incident?.id}/updates`, {
      key: site.key,
      method: "POST",
      json: { status: "identified", body: "A bad deployment." },
    });
    await site.goUp();
    expect((await site.incidents())[0]?.status).toBe("identified");
    // It is still theirs when the monitor goes down once more.
    await site.goDown();
    const after = await site.incidents();
    expect(after).toHaveLength(1);
    expect(after[0]?.updates).toHaveLength(2);
  });

  test("an automatic incident resolved by a person stays resolved, and the next outage opens another", async () => {
    await using site = await openSite("automatic");
    await site.goDown();
    const [incident] = await site.incidents();
    await site.app.call(`/api/v1/incidents/${incident?.id}/updates`, {
      key: site.key,
      method: "POST",
      json: { status: "resolved", body: "Done." },
    });
    await site.goUp();
    await site.goDown();
    expect((await site.incidents()).map(({ status }) => status)).toEqual([
      "investigating",
      "resolved",
    ]);
  });

  test("deleting a page deletes its automatic incident, and the one on another page still follows the monitor", async () => {
    await using site = await openSite("automatic");
    const { app } = site;
    const other = await app.page({ slug: "other" }, ["Other"]);
    await app.ctx.db.write((tx) => {
      const component_ids = [site.api, other.components["Other"] ?? ""];
      updateMonitor(app.ctx, tx, idOf(site), { component_ids }, CLI_ACTOR);
    });
    await site.goDown();
    const page = findPageBySlugOrId(app.ctx.db, "acme");
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, page?.id ?? "", CLI_ACTOR));
    await site.goUp();
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
    const created = ["incident.created", "incident.created"];
    expect(kinds(site)).toEqual([...created, "incident.deleted", "incident.resolved"]);
    expect(app.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    await site.goDown();
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up", "monitor.down"]);
    expect(kinds(site).at(-1)).toBe("incident.reopened");
    expect((await site.incidents()).map(({ status }) => status)).toEqual(["investigating"]);
  });

  test.each([
    ["dns", { name: "db.acme.test", expected: ["10.0.0.5"] }],
    ["push", {}],
  ] as const)("an automatic incident contains no private details: %s", async (type, config) => {
    for (const openIncident of ["automatic", "draft"] as const) {
      await using engineSite = await openEngineSite();
      const { components } = await engineSite.app.page({}, ["API"]);
      const { row } = await engineSite.app.ctx.db.write(
        (tx) =>
          createMonitor(
            engineSite.app.ctx,
            tx,
            {
              type,
              name: "Inside",
              config,
              component_ids: Object.values(components),
              open_incident: openIncident,
            },
            CLI_ACTOR,
          ).record,
      );
      await engineSite.app.ctx.db.write((tx) => {
        const at = engineSite.clock.now();
        const evaluation = { ...newEvaluation("down", at), failures: 1 };
        applyTransition(engineSite.app.ctx, tx, row, {
          from: "up",
          evaluation,
          message: "There is: 10.0.0.6",
        });
      });
      const key = await engineSite.app.keyWith("read:status", "write:incidents");
      const { body } = await engineSite.app.call("/api/v1/incidents", { key });
      expect(body.data[0].draft).toBe(openIncident === "draft");
      expect(body.data[0].updates[0].body).toBe("Automatic checks are failing.");
    }
  });

  test("an outage opens one automatic incident on every page of the monitor's components", async () => {
    await using engineSite = await openEngineSite();
    const acme = await engineSite.app.page({}, ["API", "Web"]);
    const other = await engineSite.app.page({ slug: "other", name: "Other" }, ["Checkout"]);
    await engineSite.monitor({
      component_ids: [...Object.values(acme.components), ...Object.values(other.components)],
      failure_threshold: 1,
      open_incident: "automatic",
    });
    engineSite.let("api.test", fails());
    await engineSite.clock.advance(2 * MINUTE_MS);
    const key = await engineSite.app.keyWith("read:status");
    const { body } = await engineSite.app.call("/api/v1/incidents", { key });
    expect(
      body.data.map(({ page, components }: { page: string; components: unknown[] }) => [
        page,
        components.length,
      ]),
    ).toEqual([
      ["other", 1],
      ["acme", 2],
    ]);
  });
});

describe("draft incidents of monitors", () => {
  test("a monitor with open_incident: draft creates a draft and no event of an incident", async () => {
    await using site = await openSite("draft");
    await site.goDown();
    const [draft] = await site.incidents();
    expect(draft).toMatchObject({
      draft: true,
      status: "investigating",
      started_at: downSince(site),
    });
    expect(kinds(site)).toEqual([]);
  });

  test("an untouched draft moves to the next outage", async () => {
    await using site = await openSite("draft");
    await site.goDown();
    await site.goUp();
    const [before] = await site.incidents();
    expect(before?.status).toBe("investigating");
    await site.clock.advance(90 * MINUTE_MS);
    await site.goDown();
    const drafts = await site.incidents();
    expect(drafts).toHaveLength(1);
    expect(drafts[0]?.id).toBe(before?.id ?? "");
    const { since } = { since: Date.parse(drafts[0]?.started_at ?? "") };
    expect(since).toBeGreaterThan(Date.parse(before?.started_at ?? "") + 90 * MINUTE_MS);
    expect(drafts[0]?.updates).toHaveLength(1);
  });

  test("a published draft is resolved when its monitor recovers", async () => {
    await using site = await openSite("draft");
    await site.goDown();
    const [draft] = await site.incidents();
    await site.app.call(`/api/v1/incidents/${draft?.id}`, {
      key: site.key,
      method: "PATCH",
      json: { draft: false },
    });
    await site.goUp();
    expect((await site.incidents())[0]).toMatchObject({ draft: false, status: "resolved" });
  });
});

test("a monitor with open_incident: never opens no incident", async () => {
  await using site = await openSite("never");
  await site.goDown();
  expect(site.status(site.api)).toBe("major_outage");
  expect(await site.incidents()).toEqual([]);
});
