import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { insertAllInto, mutate } from "../../../../src/db/statements";
import { components } from "../../../../src/db/tables/components";
import { incidents } from "../../../../src/db/tables/incidents";
import { incidentOutages } from "../../../../src/db/tables/monitors";
import { getComponentRow } from "../../../../src/features/components/components";
import { deleteIncident } from "../../../../src/features/incidents/incidents";
import {
  findAutomatic,
  listFailingWithoutIncident,
} from "../../../../src/features/incidents/outage-store";
import { readOutages } from "../../../../src/features/incidents/outage-store";
import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
} from "../../../../src/features/monitors/monitors";
import { insertNamings } from "../../../../src/features/incidents/store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { fails } from "../../../support/engine-site";
import {
  isOpenCause,
  openOutageSite,
  type OutageSite,
  type ShownIncident,
} from "../../../support/outage-site";
import { splitOff, updateMonitor } from "../../../support/examined";

const insertOutages = insertAllInto(incidentOutages);
const insertComponents = insertAllInto(components);
const reopenOutages = mutate((orm, _$: Record<string, never>) =>
  orm.update(incidentOutages).set({ endedAt: null }),
);
const deleteOutages = mutate((orm, _$: Record<string, never>) => orm.delete(incidentOutages));
const renameComponent = mutate((orm, $: { id: string; name: string }) =>
  orm.update(components).set({ name: $.name }).where(eq(components.id, $.id)),
);
const deleteIncidents = mutate((orm, _$: Record<string, never>) =>
  orm.update(incidents).set({ deletedAt: 1 }),
);

const incidentEvents = (site: OutageSite) =>
  site.app
    .events()
    .filter(({ type }) => type.startsWith("incident."))
    .map(({ type, data }) => `${type}${data["notify"] === false ? " silently" : ""}`);

const AUTOMATIC = {};
const DRAFT = { open_incident: "draft" };
const PARTIAL = { on_down: "partial_outage" };

describe("outages of several monitors", () => {
  test("outages within ten minutes join one incident, whose title names its components", async () => {
    await using site = await openOutageSite({
      a: AUTOMATIC,
      b: AUTOMATIC,
      c: AUTOMATIC,
      d: AUTOMATIC,
    });
    await site.down("a");
    expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
    await site.down("b");
    expect(await site.titles()).toEqual(["Problems with A and B: investigating"]);
    await site.down("c");
    expect(await site.titles()).toEqual(["Problems with A, B and C: investigating"]);
    await site.clock.advance(8 * MINUTE_MS);
    await site.down("d");
    expect(await site.titles()).toEqual(["Problems with A, B and 2 more: investigating"]);
    await site.up("a", "b", "c", "d");
    expect(await site.titles()).toEqual(["Problems with A, B and 2 more: resolved"]);
  });

  test.each([
    [{}, "A is unavailable"],
    [PARTIAL, "A is partly unavailable"],
    [{ on_down: "degraded_performance" }, "A is slow or fails at times"],
  ])("the title of one component says its status: %j", async (input, name) => {
    await using site = await openOutageSite({ a: input });
    await site.down("a");
    expect((await site.incidents()).map((incident) => incident.name)).toEqual([name]);
  });

  test("an outage more than ten minutes after the opening opens another incident", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    await site.clock.advance(10 * MINUTE_MS);
    await site.down("b");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "A is unavailable: investigating",
    ]);
  });

  test("with 0 minutes each outage opens an incident, and one that fails again reopens its own", async () => {
    await using site = await openOutageSite(
      { a: AUTOMATIC, b: AUTOMATIC, a2: AUTOMATIC },
      { joinMinutes: 0 },
    );
    await site.down("a");
    await site.down("b", "a2");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "A is unavailable: investigating",
    ]);
    await site.up("a", "a2");
    await site.down("a2");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "A is unavailable: investigating",
    ]);
  });

  test("outages of two pages open an incident on each, which end separately", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    const component_ids = [site.component("A"), other.components["Shop"] ?? ""];
    await site.write((tx) =>
      updateMonitor(site.app.ctx, tx, site.id("a"), { component_ids }, CLI_ACTOR),
    );
    await site.down("a", "b");
    expect((await site.titles()).toSorted()).toEqual([
      "Problems with A and B: investigating",
      "Shop is unavailable: investigating",
    ]);
    await site.up("a");
    expect((await site.titles()).toSorted()).toEqual([
      "Problems with A and B: investigating",
      "Shop is unavailable: resolved",
    ]);
  });

  test("an outage of a component that an incident already reports is only linked to it", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, a2: PARTIAL });
    await site.down("a");
    await site.clock.advance(MINUTE_MS);
    const before = site.app.events().length;
    await site.down("a2");
    await site.clock.advance(2 * MINUTE_MS);
    expect(
      site.app
        .events()
        .slice(before)
        .map(({ type }) => type),
    ).toEqual(["monitor.down"]);
    await site.up("a");
    // The other one fails still, with a lesser status.
    expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
    expect((await site.incidents())[0]?.components).toEqual([
      expect.objectContaining({ name: "A", status: "partial_outage" }),
    ]);
    await site.up("a2");
    expect(await site.titles()).toEqual(["A is unavailable: resolved"]);
  });

  test("an incident of a person takes an outage only if it gives all components as bad a status", async () => {
    for (const [components, count] of [
      [{ A: "major_outage", B: "major_outage" }, 1],
      [{ A: "major_outage" }, 2],
      [{ A: "major_outage", B: "partial_outage" }, 2],
    ] as const) {
      await using site = await openOutageSite({ ab: AUTOMATIC });
      const json = {
        page: "acme",
        name: "By hand",
        body: "We look.",
        components: Object.fromEntries(
          Object.entries(components).map(([name, status]) => [site.component(name), status]),
        ),
      };
      expect((await site.post("", json)).status).toBe(201);
      await site.down("ab");
      expect(await site.incidents()).toHaveLength(count);
      const [, byHand = (await site.incidents())[0]] = await site.incidents();
      const outages = readOutages(site.app.ctx.db, {
        id: byHand?.id ?? "",
        status: "investigating",
      });
      expect(outages.failingMonitorIds).toEqual(count === 1 ? [site.id("ab")] : []);
      await site.up("ab");
      expect((await site.incidents()).find(({ name }) => name === "By hand")?.status).toBe(
        "investigating",
      );
      const after = readOutages(site.app.ctx.db, { id: byHand?.id ?? "", status: "investigating" });
      expect(after.isOver).toBe(count === 1);
    }
  });

  test("an incident that was not updated for a day, or that says operational, hides no outage", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    const json = {
      page: "acme",
      name: "By hand",
      body: "We look.",
      components: { [site.component("A")]: "major_outage", [site.component("B")]: "operational" },
    };
    await site.post("", json);
    await site.down("b");
    expect(await site.incidents()).toHaveLength(2);
    await site.clock.advance(24 * 60 * MINUTE_MS);
    await site.down("a");
    expect((await site.titles())[0]).toBe("A is unavailable: investigating");
  });

  test("an automatic outage joins no draft, and the outage of a draft no published incident", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: DRAFT, c: DRAFT, d: AUTOMATIC });
    await site.down("a");
    await site.down("b");
    await site.down("c", "d");
    expect((await site.incidents()).map(({ name, draft }) => `${name} ${draft}`)).toEqual([
      "Problems with B and C true",
      "Problems with A and D false",
    ]);
    await site.up("a", "b", "c", "d");
    expect((await site.incidents()).map(({ status }) => status)).toEqual([
      "investigating",
      "resolved",
    ]);
  });

  test("a monitor without components opens none", async () => {
    await using site = await openOutageSite({});
    await site.monitor({ name: "x", open_incident: "automatic", failure_threshold: 1 });
    site.let("x.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    expect(await site.incidents()).toEqual([]);
  });
});

describe("the updates of an automatic incident", () => {
  test("components that join are named 60 seconds after the first, and recoveries at most every five minutes", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, c: AUTOMATIC });
    await site.down("a");
    await site.down("b");
    const joinedAt = site.clock.now();
    await site.down("c");
    await site.restart();
    await site.clock.advance(30 * SECOND_MS);
    expect((await site.incidents())[0]?.updates).toHaveLength(1);
    await site.clock.advance(joinedAt + 62 * SECOND_MS - site.clock.now());
    const [words] = (await site.incidents())[0]?.updates ?? [];
    expect(words?.body).toBe("Automatic checks of B and C are failing too.");
    expect(words?.components.map((named) => `${named.name} ${named.new_status}`)).toEqual([
      "B major_outage",
      "C major_outage",
    ]);
    await site.up("b");
    // The cause ends at once, dated by the monitor; only the words wait.
    expect(site.incidentCauses().filter(isOpenCause)).toHaveLength(2);
    expect((await site.incidents())[0]?.components.map(({ status }) => status)).toEqual([
      "major_outage",
      "operational",
      "major_outage",
    ]);
    await site.clock.advance(3 * MINUTE_MS);
    expect((await site.incidents())[0]?.updates).toHaveLength(2);
    await site.restart();
    await site.clock.advance(2 * MINUTE_MS);
    expect((await site.incidents())[0]?.updates[0]?.body).toBe(
      "Automatic checks of B succeed again.",
    );
    expect(incidentEvents(site)).toEqual([
      "incident.created",
      "incident.updated",
      "incident.updated",
    ]);
  });

  test("a component that recovers before it was named is named silently before the resolution", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    await site.down("b");
    await site.up("a", "b");
    const [incident] = await site.incidents();
    expect(incident?.updates.map(({ body }) => body)).toEqual([
      "Automatic checks succeed again.",
      "Automatic checks of B failed too.",
      expect.stringContaining("Automatic checks are failing."),
    ]);
    expect(incident?.updates[0]?.components).toEqual([]);
    expect(incidentEvents(site)).toEqual([
      "incident.created",
      "incident.updated silently",
      "incident.resolved",
    ]);
    expect(site.status(site.component("B"))).toBe("operational");
  });

  test("events about joined components and the resolution name their monitors, those of people do not", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    const other = await site.app.page({ slug: "other", name: "Other" }, ["Shop"]);
    const component_ids = [site.component("A"), other.components["Shop"] ?? ""];
    await site.write((tx) =>
      updateMonitor(site.app.ctx, tx, site.id("a"), { component_ids }, CLI_ACTOR),
    );
    const seen: string[] = [];
    const names = new Map(["a", "b"].map((name) => [site.id(name), name]));
    site.app.ctx.outbox.subscribe((_, groups) => {
      for (const { type, monitors, pageId: page } of groups.flat()) {
        if (!type.startsWith("incident.") || page !== site.pageId) continue;
        const named = monitors?.map(
          ({ id, pageId }) => `${names.get(id)} ${pageId === site.pageId}`,
        );
        seen.push(`${type}: ${named?.toSorted().join() ?? "-"}`);
      }
    });
    await site.down("a");
    await site.down("b");
    await site.clock.advance(62 * SECOND_MS);
    await site.up("a", "b");
    const shown = (await site.incidents()).find(({ name }) => name === "Problems with A and B");
    await site.post(`/${shown?.id}/updates`, { body: "It was the network." });
    expect(seen).toEqual([
      "incident.created: -",
      "incident.updated: b true",
      "incident.resolved: a false,b true",
      "incident.updated: -",
    ]);
  });

  test("an incident with 5,000 outages takes no further component, and goes on with those it has", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, a2: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    const row = {
      incidentId: shown?.id ?? "",
      componentId: site.component("A"),
      monitorId: site.id("a2"),
      status: "major_outage" as const,
      kind: "joined" as const,
      hasLeft: false,
    };
    await site.write((tx) =>
      insertOutages(
        tx,
        Array.from({ length: 4_999 }, (_, at) => ({ ...row, startedAt: at, endedAt: at })),
      ),
    );
    await site.down("b");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "A is unavailable: investigating",
    ]);
    await site.down("a2");
    const { outages, failingMonitorIds } = readOutages(site.app.ctx.db, {
      id: shown?.id ?? "",
      status: "investigating",
    });
    expect(outages).toHaveLength(5_000);
    expect(failingMonitorIds.toSorted()).toEqual([site.id("a"), site.id("a2")].toSorted());
    await site.up("a", "a2");
    expect((await site.titles())[1]).toBe("A is unavailable: resolved");
  });

  test("updates that monitors cause leave people room to name components", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    const named = { updateId: shown?.updates[0]?.id ?? "", incidentId: shown?.id ?? "", name: "X" };
    const statuses = { oldStatus: "operational", newStatus: "operational" } as const;
    await site.write((tx) => {
      const { pageSlug: _, ...row } = getComponentRow(tx, site.component("F"));
      const further = Array.from({ length: 8_999 }, (_, n) => `x${n}`);
      insertComponents(
        tx,
        further.map((id) => ({ ...row, id, ref: id, deletedAt: 1 })),
      );
      insertNamings(
        tx,
        further.map((componentId) => ({ ...named, componentId, ...statuses })),
      );
    });
    await site.down("b");
    await site.clock.advance(2 * MINUTE_MS);
    expect(await site.titles()).toEqual(["Problems with A and B: investigating"]);
    expect((await site.incidents())[0]?.updates).toHaveLength(1);
    const components = { [site.component("B")]: "partial_outage" };
    const answer = await site.post(`/${shown?.id}/updates`, { body: "We look.", components });
    expect(answer.status).toBe(201);
    expect((await site.incidents())[0]?.updates).toHaveLength(2);
  });

  test("a component that fails and recovers between two updates is not mentioned", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a", "b");
    await site.clock.advance(2 * MINUTE_MS);
    const before = (await site.incidents())[0]?.updates.length;
    await site.up("b");
    await site.down("b");
    await site.clock.advance(7 * MINUTE_MS);
    expect((await site.incidents())[0]?.updates).toHaveLength(before ?? 0);
  });

  test("a worse status is an update after 60 seconds, a better one after five minutes", async () => {
    await using site = await openOutageSite({ a: PARTIAL, a2: AUTOMATIC });
    await site.down("a");
    await site.down("a2");
    await site.clock.advance(65 * SECOND_MS);
    expect((await site.incidents())[0]?.updates[0]?.body).toBe("A has become worse.");
    expect((await site.incidents())[0]?.name).toBe("A is unavailable");
    await site.up("a2");
    await site.clock.advance(MINUTE_MS);
    expect((await site.incidents())[0]?.updates).toHaveLength(2);
    await site.clock.advance(5 * MINUTE_MS);
    expect((await site.incidents())[0]?.updates[0]?.body).toBe(
      "A has improved, but automatic checks still fail.",
    );
  });

  test("a component that fails again for a short time does not bring its recovery forward", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a", "b");
    await site.clock.advance(2 * MINUTE_MS);
    const bodies = async () => (await site.incidents())[0]?.updates.map(({ body }) => body) ?? [];
    const before = await bodies();
    expect(before).toHaveLength(2);
    await site.up("b");
    await site.down("b");
    await site.up("b");
    await site.clock.advance(MINUTE_MS);
    await site.restart();
    expect(await bodies()).toEqual(before);
    await site.clock.advance(4 * MINUTE_MS);
    expect(await bodies()).toEqual(["Automatic checks of B succeed again.", ...before]);
  });

  test.each([
    ["that join", 60 * SECOND_MS],
    ["that recover", 5 * MINUTE_MS],
  ])("components %s are named in time although the clock is set back", async (which, dueMs) => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    await site.down("b");
    if (which === "that recover") {
      await site.clock.advance(2 * MINUTE_MS);
      await site.up("b");
    }
    const count = async () => (await site.incidents())[0]?.updates.length ?? 0;
    const before = await count();
    site.clock.setWallClock(site.clock.now() - 60 * MINUTE_MS);
    await site.clock.advance(dueMs + 2 * SECOND_MS);
    expect(await count()).toBe(before + 1);
  });

  test("names of components are escaped in texts and made safe in titles", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: PARTIAL, b2: AUTOMATIC });
    await site.write((tx) =>
      renameComponent(tx, { id: site.component("B"), name: "1. R&amp;D #\u200f" }),
    );
    await site.down("a");
    await site.down("b");
    await site.clock.advance(MINUTE_MS);
    await site.down("b2");
    await site.clock.advance(MINUTE_MS);
    const [shown] = await site.incidents();
    expect(shown?.name).toBe("Problems with A and 1. R&amp;D #");
    expect(shown?.updates.map(({ body }) => body).slice(0, 2)).toEqual([
      "1\\. R\\&amp;D # has become worse.",
      "Automatic checks of 1\\. R\\&amp;D # are failing too.",
    ]);
  });

  test("an outage of any component within half an hour reopens the incident and names only what fails", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, b2: AUTOMATIC });
    await site.down("a", "b");
    await site.up("a", "b");
    await site.clock.advance(20 * MINUTE_MS);
    await site.restart();
    await site.down("b2");
    const [incident, ...others] = await site.incidents();
    expect(others).toEqual([]);
    expect(incident?.status).toBe("investigating");
    expect(incident?.updates[0]?.components.map(({ name }) => name)).toEqual(["B"]);
    expect(incident?.components.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
      "A operational",
      "B major_outage",
    ]);
    expect(site.status(site.component("A"))).toBe("operational");
    await site.up("b2");
    await site.clock.advance(31 * MINUTE_MS);
    await site.down("b2");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "Problems with A and B: resolved",
    ]);
  });
});

describe("an automatic incident that a person changes", () => {
  const CHANGES: [
    string,
    (site: OutageSite, shown: ShownIncident) => Promise<{ status: number }>,
  ][] = [
    ["an update", (site, { id }) => site.post(`/${id}/updates`, { body: "We look." })],
    [
      "an edit of an update",
      (site, { id, updates }) =>
        site.post(`/${id}/updates/${updates[0]?.id}`, { body: "We know." }, "PATCH"),
    ],
    ["the impact", (site, { id }) => site.post(`/${id}`, { impact_override: "minor" }, "PATCH")],
    [
      "the start",
      (site, { id }) => site.post(`/${id}`, { started_at: "2026-03-10T11:00:00Z" }, "PATCH"),
    ],
  ];
  test.each(CHANGES)("is a person's after %s: nothing joins or resolves it", async (_, change) => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, a2: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    if (!shown) throw new Error("no incident");
    expect((await change(site, shown)).status).toBeWithin(200, 202);
    expect(findAutomatic(site.app.ctx.db, { incidentId: shown.id })?.takenOverAt).toBeNumber();
    await site.down("b");
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "A is unavailable: investigating",
    ]);
    // What it reports is linked to it still.
    await site.down("a2");
    expect(await site.incidents()).toHaveLength(2);
    await site.up("a", "a2");
    expect((await site.titles())[1]).toBe("A is unavailable: investigating");
    const outages = readOutages(site.app.ctx.db, { id: shown.id, status: "investigating" });
    expect(outages).toMatchObject({ isAutomatic: false, isOver: true, canSplitOff: false });
    expect(outages.outages.map(({ outage }) => outage.kind)).toEqual(["joined", "linked"]);
  });

  const HARMLESS: [string, object, string][] = [
    ["its name", { name: "Trouble" }, "Trouble"],
    ["its reference", { external_ref: "42" }, "Problems with A and B"],
  ];
  test.each(HARMLESS)("stays Allclear's after a change of %s", async (_, json, title) => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    expect((await site.post(`/${shown?.id}`, json, "PATCH")).status).toBe(200);
    await site.post(`/${shown?.id}/postmortem`, { body: "Later." }, "PUT");
    await site.down("b");
    expect(await site.titles()).toEqual([`${title}: investigating`]);
    await site.up("a", "b");
    expect(await site.titles()).toEqual([`${title}: resolved`]);
  });

  test("keeps the statuses that components had, dated by their outages, until an update says otherwise", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, c: AUTOMATIC });
    await site.down("a");
    await site.down("b", "c");
    await site.up("c");
    const [shown] = await site.incidents();
    const before = site.incidentCauses();
    const a = site.component("A");
    const update = { body: "A works.", components: { [a]: "operational" } };
    expect((await site.post(`/${shown?.id}/updates`, update)).status).toBe(201);
    const [incident] = await site.incidents();
    // The update that waited comes first, silently, so that the record names every component.
    expect(incident?.updates.map(({ body }) => body)).toEqual([
      "A works.",
      expect.stringContaining("Automatic checks of B are failing too."),
      expect.stringContaining("Automatic checks are failing."),
    ]);
    expect(incident?.components.map(({ name, status }) => `${name} ${status}`).toSorted()).toEqual([
      "A operational",
      "B major_outage",
      "C operational",
    ]);
    const ofB = (causes: string[]) => causes.filter((cause) => cause.startsWith("B"));
    const [cause = ""] = ofB(before);
    expect(ofB(site.incidentCauses())[0]).toStartWith(cause.replace(/→ .*/, "→ "));
    expect(site.incidentCauses().filter((each) => each.startsWith("C"))).toEqual(
      before.filter((each) => each.startsWith("C")),
    );
    await site.up("b");
    expect(site.status(site.component("B"))).toBe("major_outage");
    await site.post(`/${shown?.id}/updates`, { status: "resolved", body: "Done." });
    expect(site.status(site.component("B"))).toBe("operational");
  });

  test.each<[string, string | undefined, object, string[]]>([
    ["an update", "POST", { body: "We look." }, ["updated silently", "updated"]],
    ["an edited update", undefined, { body: "It was us." }, ["updated", "updated silently"]],
    ["a changed impact", "PATCH", { impact_override: "minor" }, ["updated", "updated silently"]],
  ])(
    "names the components that wait before %s, and people hear of them",
    async (_, method, json, events) => {
      await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
      await site.down("a");
      await site.down("b");
      const [shown] = await site.incidents();
      const path =
        method === "PATCH" ? "" : `/updates${method === "POST" ? "" : `/${shown?.updates[0]?.id}`}`;
      const before = incidentEvents(site).length;
      await site.post(`/${shown?.id}${path}`, json, method ?? "PATCH");
      expect(incidentEvents(site).slice(before)).toEqual(events.map((each) => `incident.${each}`));
      expect((await site.incidents())[0]?.updates.map(({ body }) => body)).toContain(
        "Automatic checks of B are failing too.",
      );
    },
  );

  test("keeps the end of an outage when its monitor fails again and is linked", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, a2: AUTOMATIC });
    await site.down("a");
    await site.down("a2");
    await site.up("a");
    const [shown] = await site.incidents();
    await site.post(`/${shown?.id}/updates`, { body: "We look." });
    const before = site.incidentCauses();
    const rows = () =>
      readOutages(site.app.ctx.db, { id: shown?.id ?? "", status: "investigating" }).outages.map(
        ({ outage }) => `${outage.kind} ${outage.endedAt === null ? "open" : "ended"}`,
      );
    expect(rows()).toEqual(["joined ended", "joined open"]);
    await site.down("a");
    expect(rows()).toEqual(["joined ended", "joined open", "linked open"]);
    await site.post(`/${shown?.id}/updates`, { body: "We still look." });
    expect(site.incidentCauses()).toEqual(before);
  });

  test("that is resolved by hand while a monitor fails stays resolved until it fails again", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    await site.post(`/${shown?.id}/updates`, { status: "resolved", body: "Done." });
    await site.clock.advance(5 * MINUTE_MS);
    await site.restart();
    await site.clock.advance(5 * MINUTE_MS);
    expect(await site.titles()).toEqual(["A is unavailable: resolved"]);
    expect(listFailingWithoutIncident(site.app.ctx.db, {})).toMatchObject([
      { monitorName: "a", incidentId: shown?.id, isDeleted: 0 },
    ]);
    await site.up("a");
    expect(listFailingWithoutIncident(site.app.ctx.db, {})).toEqual([]);
    await site.down("a");
    expect((await site.titles())[0]).toBe("A is unavailable: investigating");
    expect(await site.incidents()).toHaveLength(2);
  });

  test("that is deleted while a monitor fails is not opened again until it fails again", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC });
    await site.down("a");
    const [shown] = await site.incidents();
    await site.write((tx) => deleteIncident(site.app.ctx, tx, shown?.id ?? "", CLI_ACTOR));
    await site.clock.advance(3 * MINUTE_MS);
    expect(await site.incidents()).toEqual([]);
    expect(listFailingWithoutIncident(site.app.ctx.db, {})).toMatchObject([{ isDeleted: 1 }]);
    await site.up("a");
    await site.down("a");
    expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
  });

  test("an update that is dated back resolves it although components waited for theirs", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a");
    const displayAt = new Date(site.clock.now()).toISOString();
    await site.down("b");
    const [shown] = await site.incidents();
    const json = { status: "resolved", body: "Done.", display_at: displayAt };
    expect((await site.post(`/${shown?.id}/updates`, json)).status).toBe(201);
    expect((await site.incidents())[0]?.status).toBe("resolved");
  });

  test("a published draft whose outages have ended is resolved at once", async () => {
    await using site = await openOutageSite({ a: DRAFT });
    await site.down("a");
    await site.up("a");
    const [shown] = await site.incidents();
    const answer = await site.post(`/${shown?.id}`, { draft: false }, "PATCH");
    expect(answer.body).toMatchObject({ draft: false, status: "resolved" });
    expect(incidentEvents(site)).toEqual(["incident.created", "incident.resolved"]);
  });
});

describe("a monitor that leaves", () => {
  const LEAVING: [string, (site: OutageSite, id: string) => Promise<unknown>][] = [
    ["paused", (site, id) => site.write((tx) => pauseMonitor(site.app.ctx, tx, id, CLI_ACTOR))],
    ["deleted", (site, id) => site.write((tx) => deleteMonitor(site.app.ctx, tx, id, CLI_ACTOR))],
    [
      "detached",
      (site, id) =>
        site.write((tx) => updateMonitor(site.app.ctx, tx, id, { component_ids: [] }, CLI_ACTOR)),
    ],
    [
      "set to never",
      (site, id) =>
        site.write((tx) =>
          updateMonitor(site.app.ctx, tx, id, { open_incident: "never" }, CLI_ACTOR),
        ),
    ],
  ];

  test.each(LEAVING)("by being %s does not count for the end of the incident", async (_, leave) => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a", "b");
    await leave(site, site.id("b"));
    expect(await site.titles()).toEqual(["Problems with A and B: investigating"]);
    expect(site.incidentCauses().filter(isOpenCause)).toEqual([expect.stringContaining("A")]);
    await site.up("a");
    expect(await site.titles()).toEqual(["Problems with A and B: resolved"]);
  });

  test.each(LEAVING)("as the last by being %s does not resolve the incident", async (_, leave) => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
    await site.down("a", "b");
    await site.up("a");
    await leave(site, site.id("b"));
    await site.clock.advance(2 * MINUTE_MS);
    const [shown] = await site.incidents();
    expect(shown?.status).toBe("investigating");
    const outages = readOutages(site.app.ctx.db, { id: shown?.id ?? "", status: "investigating" });
    expect(outages).toMatchObject({ isAutomatic: true, isOver: true, failingMonitorIds: [] });
  });

  test("and is resumed while it fails continues its incident", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC });
    await site.down("a");
    await site.write((tx) => pauseMonitor(site.app.ctx, tx, site.id("a"), CLI_ACTOR));
    await site.clock.advance(15 * MINUTE_MS);
    await site.write((tx) => resumeMonitor(site.app.ctx, tx, site.id("a"), CLI_ACTOR));
    await site.clock.advance(15 * SECOND_MS);
    expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
    await site.up("a");
    expect(await site.titles()).toEqual(["A is unavailable: resolved"]);
  });

  test("a component leaves with its row, and one that is added joins", async () => {
    await using site = await openOutageSite({ ab: AUTOMATIC });
    await site.down("ab");
    const component_ids = [site.component("B"), site.component("C")];
    await site.write((tx) =>
      updateMonitor(site.app.ctx, tx, site.id("ab"), { component_ids }, CLI_ACTOR),
    );
    expect(await site.titles()).toEqual(["Problems with A, B and C: investigating"]);
    const left = site.incidentCauses().filter(isOpenCause);
    expect(left.map((cause) => cause[0])).toEqual(["B", "C"]);
    await site.up("ab");
    expect(await site.titles()).toEqual(["Problems with A, B and C: resolved"]);
  });

  test("a changed status applies from the change on", async () => {
    await using site = await openOutageSite({ a: PARTIAL });
    await site.down("a");
    await site.write((tx) =>
      updateMonitor(site.app.ctx, tx, site.id("a"), { on_down: "major_outage" }, CLI_ACTOR),
    );
    expect(site.incidentCauses().map((cause) => cause.split(" ")[1])).toEqual([
      "partial_outage",
      "major_outage",
    ]);
    expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
    await site.up("a");
    expect(await site.titles()).toEqual(["A is unavailable: resolved"]);
  });

  test("an outage that began before the incident ended reopens it only within half an hour", async () => {
    for (const [minutes, count] of [
      [20, 1],
      [40, 2],
    ] as const) {
      await using site = await openOutageSite({ a: AUTOMATIC, a2: { open_incident: "never" } });
      await site.down("a", "a2");
      await site.up("a");
      await site.clock.advance(minutes * MINUTE_MS);
      await site.write((tx) =>
        updateMonitor(site.app.ctx, tx, site.id("a2"), { open_incident: "automatic" }, CLI_ACTOR),
      );
      expect(await site.incidents()).toHaveLength(count);
      expect((await site.titles())[0]).toBe("A is unavailable: investigating");
    }
  });

  test("a monitor that is set to open incidents while it is down opens one from the start of its outage", async () => {
    await using site = await openOutageSite({ a: { open_incident: "never" } });
    await site.down("a");
    const downSince = site.causes(site.pageId)[0]?.split(" ")[1];
    await site.clock.advance(MINUTE_MS);
    await site.write((tx) =>
      updateMonitor(site.app.ctx, tx, site.id("a"), { open_incident: "automatic" }, CLI_ACTOR),
    );
    expect(site.incidentCauses()).toEqual([`A major_outage ${downSince} → `]);
  });
});

describe("split off", () => {
  const split = (site: OutageSite, id: string, monitors: string[], notify = true) =>
    site.write((tx) => splitOff(site.app.ctx, tx, id, { monitors, notify }, CLI_ACTOR));

  test("opens an incident for chosen outages, and causes keep their dates", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, c: AUTOMATIC });
    await site.down("a");
    await site.down("b");
    await site.clock.advance(62 * SECOND_MS);
    await site.down("c");
    const before = site.incidentCauses().toSorted();
    const [shown] = await site.incidents();
    const created = await split(site, shown?.id ?? "", [site.id("b")]);
    expect(created.row).toMatchObject({ name: "B is unavailable", status: "investigating" });
    expect(await site.titles()).toEqual([
      "B is unavailable: investigating",
      "Problems with A and C: investigating",
    ]);
    expect(site.incidentCauses().toSorted()).toEqual(before);
    expect(site.status(site.component("B"))).toBe("major_outage");
    await site.clock.advance(62 * SECOND_MS);
    expect((await site.incidents())[1]?.updates.map(({ body }) => body).slice(0, 2)).toEqual([
      "Automatic checks of C are failing too.",
      "B is reported separately from now on.",
    ]);
    expect(incidentEvents(site).slice(2)).toEqual([
      "incident.created",
      "incident.updated silently",
      // People still hear of the component that waited.
      "incident.updated",
    ]);
    expect(site.app.audit().filter(({ action }) => action === "incident.split_off")).toMatchObject([
      { targetId: shown?.id, actorKind: "cli" },
    ]);
    await site.up("b");
    expect(await site.titles()).toEqual([
      "B is unavailable: resolved",
      "Problems with A and C: investigating",
    ]);
    await site.up("a", "c");
    expect((await site.titles())[1]).toBe("Problems with A and C: resolved");
  });

  test("a draft is split into two drafts", async () => {
    await using site = await openOutageSite({ a: DRAFT, b: DRAFT });
    await site.down("a", "b");
    const [shown] = await site.incidents();
    await split(site, shown?.id ?? "", [site.id("b")]);
    expect((await site.incidents()).map(({ draft, name }) => `${name} ${draft}`)).toEqual([
      "B is unavailable true",
      "A is unavailable true",
    ]);
    expect(site.incidentCauses()).toEqual([]);
  });

  test("refuses all monitors, monitors without an open outage, and incidents that are resolved or a person's", async () => {
    await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC, c: AUTOMATIC });
    await site.down("a", "b");
    const [shown] = await site.incidents();
    const id = shown?.id ?? "";
    const [a, b, c] = [site.id("a"), site.id("b"), site.id("c")];
    await expect(split(site, id, [a, b])).rejects.toMatchObject({ code: "conflict" });
    await expect(split(site, id, [a, c])).rejects.toMatchObject({ code: "validation_failed" });
    await expect(split(site, id, [])).rejects.toMatchObject({ code: "validation_failed" });
    await expect(split(site, "inc_0", [a])).rejects.toMatchObject({ code: "not_found" });
    await site.post(`/${id}`, { impact_override: "minor" }, "PATCH");
    await expect(split(site, id, [a])).rejects.toMatchObject({ code: "conflict" });
    expect(await site.incidents()).toHaveLength(1);
    await site.down("c");
    const [other] = await site.incidents();
    await site.up("c");
    await expect(split(site, other?.id ?? "", [c])).rejects.toMatchObject({ code: "conflict" });
  });
});

test("outages that were recorded without their incidents get them at the next look", async () => {
  await using site = await openOutageSite({ a: AUTOMATIC, b: AUTOMATIC });
  await site.down("a");
  await site.write((tx) => {
    deleteOutages(tx, {});
    deleteIncidents(tx, {});
  });
  const since = site.causes(site.pageId)[0]?.split(" ")[1];
  await site.restart();
  await site.clock.advance(2 * SECOND_MS);
  expect(await site.titles()).toEqual(["A is unavailable: investigating"]);
  expect(site.incidentCauses().at(-1)).toBe(`A major_outage ${since} → `);
  await site.write((tx) => reopenOutages(tx, {}));
  await site.up("a");
  expect(await site.titles()).toEqual(["A is unavailable: resolved"]);
  await site.write((tx) => reopenOutages(tx, {}));
  const [shown] = await site.incidents();
  const failing = () =>
    readOutages(site.app.ctx.db, { id: shown?.id ?? "", status: "resolved" }).failingMonitorIds;
  expect(failing()).toEqual([site.id("a")]);
  await site.clock.advance(61 * SECOND_MS);
  expect(failing()).toEqual([]);
});
