import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { impactOf, timelineOf, type UpdateFacts } from "../../../src/features/incidents/rules";
import {
  COMPONENT_STATUSES,
  type ComponentStatus,
  INCIDENT_STATUSES,
} from "../../../src/base/status";

const COMPONENTS = ["cmp_a", "cmp_b"];

const named = fc
  .dictionary(fc.constantFrom(...COMPONENTS), fc.constantFrom(...COMPONENT_STATUSES))
  .map((statuses) =>
    Object.entries(statuses).map(([componentId, newStatus]) => ({ componentId, newStatus })),
  );

/** Updates that took effect from 100 on, the first at 100; their ids are in the order of writing. */
const updates: fc.Arbitrary<UpdateFacts[]> = fc
  .array(
    fc.record({
      status: fc.constantFrom(...INCIDENT_STATUSES),
      displayAt: fc.integer({ min: 100, max: 130 }),
      components: named,
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((all) =>
    all.map((each, i) => ({ ...each, id: `upd_${i}`, ...(i === 0 ? { displayAt: 100 } : {}) })),
  );

const incident = { startedAt: 100, draft: false };

/** Computes the status that the incident gives a component at a time, in the simplest way. */
function setAt(all: readonly UpdateFacts[], component: string, at: number): ComponentStatus {
  const inEffect = all
    .filter((each) => each.displayAt <= at)
    .toSorted((a, b) => a.displayAt - b.displayAt || (a.id < b.id ? -1 : 1));
  let causes: Record<string, ComponentStatus> = {};
  let held: Record<string, ComponentStatus> = {};
  let isResolved = false;
  for (const { componentId, newStatus } of all[0]?.components ?? [])
    causes[componentId] = newStatus;
  for (const update of inEffect) {
    const says = update === all[0] ? [] : update.components;
    const resolves = update.status === "resolved";
    if (resolves && !isResolved) [held, causes] = [causes, {}];
    if (!resolves && isResolved) causes = says.length > 0 ? {} : held;
    isResolved = resolves;
    if (isResolved) continue;
    for (const { componentId, newStatus } of says) causes[componentId] = newStatus;
  }
  return causes[component] ?? "operational";
}

describe("the causes of an incident", () => {
  test("the causes of an incident match its updates at every time", () => {
    fc.assert(
      fc.property(updates, (all) => {
        const { causes } = timelineOf(incident, all, undefined);
        for (const component of COMPONENTS) {
          for (let at = 100; at <= 131; at++) {
            const open = causes.filter(
              (cause) =>
                cause.componentId === component &&
                cause.from <= at &&
                (cause.to === null || cause.to > at),
            );
            expect(open.length).toBeLessThan(2);
            expect(open[0]?.status ?? "operational").toBe(setAt(all, component, at));
          }
        }
      }),
    );
  });

  test("the causes of an incident do not depend on the order of the updates passed in", () => {
    fc.assert(
      fc.property(updates, (all) => {
        expect(timelineOf(incident, all.toReversed(), undefined)).toEqual(
          timelineOf(incident, all, undefined),
        );
      }),
    );
  });

  test("the causes of an incident end at an explicit resolved_at", () => {
    fc.assert(
      fc.property(updates, fc.integer({ min: 100, max: 140 }), (all, resolvedAt) => {
        const facts = [
          ...all,
          { id: "upd_z", status: "resolved" as const, displayAt: 135, components: [] },
        ];
        const { causes } = timelineOf({ ...incident, resolvedAt }, facts, undefined);
        for (const cause of causes) expect(cause.to).toBeLessThanOrEqual(resolvedAt);
        const open = timelineOf(incident, facts, undefined).causes.filter(
          (cause) => cause.to === 135,
        );
        for (const { componentId, status, from } of open) {
          if (from >= resolvedAt) continue;
          const moved = causes.filter((cause) => cause.componentId === componentId);
          expect(moved).toContainEqual({ componentId, status, from, to: resolvedAt });
        }
      }),
    );
  });

  test("a draft has no causes", () => {
    fc.assert(
      fc.property(updates, (all) => {
        expect(timelineOf({ ...incident, draft: true }, all, undefined).causes).toEqual([]);
      }),
    );
  });
});

describe("an incident's times", () => {
  test("an incident's times come from the first update with each status and from the last resolution", () => {
    const at = (displayAt: number, status: UpdateFacts["status"]): UpdateFacts => ({
      id: `upd_${displayAt}`,
      status,
      displayAt,
      components: [],
    });
    const all = [at(100, "investigating"), at(110, "identified"), at(120, "identified")];
    expect(timelineOf(incident, all, undefined)).toMatchObject({
      status: "identified",
      identifiedAt: 110,
      monitoringAt: null,
      resolvedAt: null,
    });
    const over = [
      ...all,
      at(130, "resolved"),
      at(140, "monitoring"),
      at(150, "resolved"),
      at(160, "resolved"),
    ];
    expect(timelineOf(incident, over, undefined)).toMatchObject({
      status: "resolved",
      monitoringAt: 140,
      resolvedAt: 150,
    });
  });
});

describe("an incident's impact", () => {
  test("an incident's impact is that of the worst status it ever named, unless it is overridden", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...COMPONENT_STATUSES)), (statuses) => {
        const expected = statuses.includes("major_outage")
          ? "critical"
          : statuses.includes("partial_outage")
            ? "major"
            : statuses.includes("degraded_performance")
              ? "minor"
              : "none";
        expect(impactOf(statuses, null)).toBe(expected);
        expect(impactOf(statuses.toReversed(), null)).toBe(expected);
        expect(impactOf(statuses, "minor")).toBe("minor");
      }),
    );
  });
});
