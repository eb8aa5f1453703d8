import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Automation,
  causesOfOutages,
  type JoinedOutage,
  timelineOf,
  type UpdateFacts,
} from "../../../src/features/incidents/rules";
import { type ComponentStatus, type IncidentStatus, worstStatus } from "../../../src/base/status";

const outage = (
  componentId: string,
  startedAt: number,
  endedAt: number | null,
  status: ComponentStatus = "major_outage",
): JoinedOutage => ({ componentId, name: componentId, isDeleted: 0, status, startedAt, endedAt });

const automatic = (
  outages: JoinedOutage[],
  takenOverAt: number | null = null,
  startedAt = 100,
): Automation => ({ startedAt, takenOverAt, outages });

type Named = Record<string, ComponentStatus>;
let nextId = 0;

function update(
  status: IncidentStatus,
  displayAt: number,
  named: Named = {},
  isAutomatic = true,
): UpdateFacts {
  const components = Object.entries(named).map(([componentId, newStatus]) => {
    return { componentId, newStatus };
  });
  return {
    id: `upd_${String(nextId++).padStart(6, "0")}`,
    status,
    displayAt,
    components,
    isAutomatic,
  };
}

const byPerson = (status: IncidentStatus, displayAt: number, named: Named = {}) =>
  update(status, displayAt, named, false);

const FIRST = { a: "major_outage" } as const;
const incident = { startedAt: 100, draft: false };

/** Causes as `<component> <status> <from> → <to>`, without those that have no duration. */
function causes(
  updates: UpdateFacts[],
  automation: Automation,
  row: { startedAt: number; draft: boolean; resolvedAt?: number } = incident,
): string[] {
  return timelineOf(row, updates, automation)
    .causes.filter(({ from, to, status }) => status !== "operational" && (to === null || to > from))
    .map(({ componentId, status, from, to }) => `${componentId} ${status} ${from} → ${to ?? ""}`);
}

describe("the causes of outages", () => {
  const arbitrary = fc.array(
    fc
      .record({
        componentId: fc.constantFrom("a", "b"),
        startedAt: fc.integer({ min: 0, max: 20 }),
        length: fc.option(fc.nat(15)),
        status: fc.constantFrom<ComponentStatus[]>(
          "degraded_performance",
          "partial_outage",
          "major_outage",
        ),
      })
      .map(({ componentId, startedAt, length, status }) =>
        outage(componentId, startedAt, length === null ? null : startedAt + length, status),
      ),
    { maxLength: 8 },
  );

  test("are the worst status at every time, in periods that do not touch with the same status", () => {
    fc.assert(
      fc.property(arbitrary, (outages) => {
        const found = causesOfOutages(outages);
        const isAt = (from: number, to: number | null, at: number) =>
          from <= at && (to === null || at < to);
        for (const componentId of ["a", "b"]) {
          const own = found.filter((cause) => cause.componentId === componentId);
          for (let at = -1; at <= 40; at++) {
            const expected = worstStatus(
              outages
                .filter((each) => each.componentId === componentId)
                .filter(({ startedAt, endedAt }) => isAt(startedAt, endedAt, at))
                .map(({ status }) => status),
            );
            const given = own.filter(({ from, to }) => isAt(from, to, at));
            expect(given.map(({ status }) => status)).toEqual(
              expected === "operational" ? [] : [expected],
            );
          }
          for (const [index, { from, status }] of own.entries()) {
            const before = own[index - 1];
            if (before?.to === from) expect(before.status).not.toBe(status);
          }
        }
      }),
    );
  });
});

describe("an incident that Allclear opened", () => {
  test("has the causes of its outages and not those that its updates name", () => {
    const all = [
      update("investigating", 100, FIRST),
      update("investigating", 170, { b: "major_outage" }),
      update("investigating", 300, { a: "operational" }),
    ];
    const automation = automatic([outage("a", 100, 250), outage("b", 110, null)]);
    expect(causes(all, automation)).toEqual(["a major_outage 100 → 250", "b major_outage 110 → "]);
    expect([...timelineOf(incident, all, automation).components]).toEqual([
      ["a", "operational"],
      ["b", "major_outage"],
    ]);
    expect(timelineOf({ ...incident, draft: true }, all, automation).causes).toEqual([]);
  });

  test("keeps its outages when it is resolved and reopened", () => {
    const all = [
      update("investigating", 100, FIRST),
      update("resolved", 200),
      update("investigating", 300, FIRST),
    ];
    const automation = automatic([outage("a", 100, 190), outage("a", 290, null)]);
    expect(causes(all, automation)).toEqual(["a major_outage 100 → 190", "a major_outage 290 → "]);
  });

  test("shows the last status of each component once it is resolved", () => {
    const all = [update("investigating", 100, FIRST), update("resolved", 200)];
    const automation = automatic([outage("a", 100, 200), outage("b", 110, 150, "partial_outage")]);
    expect([...timelineOf(incident, all, automation).components]).toEqual([
      ["a", "major_outage"],
      ["b", "partial_outage"],
    ]);
  });
});

describe("an incident that a person has taken over", () => {
  const outages = [outage("a", 100, 250), outage("b", 110, 150)];

  test("keeps the status of what failed then, until the resolution", () => {
    const all = [update("investigating", 100, FIRST), byPerson("identified", 200)];
    expect(causes(all, automatic(outages, 200))).toEqual([
      "a major_outage 100 → 200",
      "b major_outage 110 → 150",
      "a major_outage 200 → ",
    ]);
    expect(causes([...all, byPerson("resolved", 400)], automatic(outages, 200)).at(-1)).toBe(
      "a major_outage 200 → 400",
    );
  });

  test("follows its updates afterwards, and does not move what outages have dated", () => {
    const all = [
      update("investigating", 100, FIRST),
      // Dated back before the outage of b.
      byPerson("identified", 105, {
        a: "operational",
        b: "degraded_performance",
        c: "major_outage",
      }),
    ];
    expect(causes(all, automatic(outages, 200))).toEqual([
      "a major_outage 100 → 200",
      "b major_outage 110 → 150",
      "b degraded_performance 200 → ",
      "c major_outage 105 → ",
    ]);
  });

  test("ends with a resolution that is dated back", () => {
    const all = [update("investigating", 100, FIRST), byPerson("resolved", 180)];
    expect(causes(all, automatic(outages, 200))).toEqual([
      "a major_outage 100 → 180",
      "b major_outage 110 → 150",
    ]);
  });

  test("gets the statuses back that it had at its resolution by Allclear when a person reopens it", () => {
    const all = [
      update("investigating", 100, FIRST),
      update("resolved", 250),
      byPerson("investigating", 300),
    ];
    expect(causes(all, automatic(outages, 300))).toEqual([
      "a major_outage 100 → 250",
      "b major_outage 110 → 150",
      "a major_outage 300 → ",
    ]);
  });

  test("has the first start and the last end that are set by hand", () => {
    const all = [update("investigating", 100, FIRST), update("resolved", 250)];
    const row = { startedAt: 90, draft: false, resolvedAt: 260 };
    expect(causes(all, automatic(outages, 300), row)).toEqual([
      "a major_outage 90 → 260",
      "b major_outage 110 → 150",
    ]);
    const shorter = { startedAt: 120, draft: false, resolvedAt: 140 };
    expect(causes(all, automatic(outages, 300), shorter)).toEqual([
      "a major_outage 120 → 140",
      "b major_outage 120 → 140",
    ]);
  });
});
