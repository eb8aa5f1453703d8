import { DAY_MS, parseDay, SECOND_MS, toIso } from "../../../base/time";
import type { FoundIncident, LeftOut } from "../source";
import { byId, idOf, type KumaData } from "./data";
import { pageKey } from "./pages";
import { flag, text } from "./values";

const IMPACTS: Readonly<Record<string, "major" | "minor">> = { danger: "major", warning: "minor" };

/** Returns the incidents of status pages. Uptime Kuma's name no components. */
export function findIncidents(data: KumaData): { incidents: FoundIncident[]; leftOut: LeftOut[] } {
  const pages = byId(data.status_page);
  const incidents: FoundIncident[] = [];
  const leftOut: LeftOut[] = [];
  for (const row of data.incident) {
    const title = text(row["title"]);
    const foreign = { type: "incident", id: String(idOf(row)), name: title };
    const startedAt = parseUtc(text(row["created_date"]));
    const changedAt = parseUtc(text(row["last_updated_date"])) ?? startedAt;
    if (!pages.has(idOf(row, "status_page_id"))) {
      leftOut.push({ foreign, reason: "It is on no status page." });
      continue;
    }
    if (startedAt === undefined || changedAt === undefined) {
      leftOut.push({ foreign, reason: "Its dates cannot be read." });
      continue;
    }
    // An incident that is no longer pinned is on no page of Uptime Kuma.
    const isOpen = flag(row["active"]) && flag(row["pin"]);
    incidents.push({
      foreign,
      number: idOf(row),
      page: pageKey(row, "status_page_id"),
      externalId: `incident:${idOf(row)}`,
      body: {
        name: title,
        impact_override: IMPACTS[text(row["style"])] ?? "none",
        started_at: toIso(startedAt),
        updates: [
          {
            status: isOpen ? "investigating" : "resolved",
            body: text(row["content"]),
            display_at: toIso(Math.max(changedAt, startedAt)),
            components: {},
          },
        ],
        postmortem: null,
      },
      changes: [],
    });
  }
  return { incidents, leftOut };
}

/** Returns the time (unix ms) of a text such as `2026-01-10 02:00:00`, in UTC; undefined for other texts. */
export function parseUtc(text: string): number | undefined {
  const [, day = "", hours, minutes, seconds = "0"] =
    /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,3})?))?$/.exec(text) ?? [];
  const start = parseDay(day);
  if (start === undefined) return undefined;
  const ofDay = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS;
  return ofDay < DAY_MS ? start + Math.round(ofDay) : undefined;
}
