import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { eventData as incidentData } from "../../../src/features/incidents/wire";
import type { IncidentRecord, UpdateRecord } from "../../../src/features/incidents/records";
import {
  eventData as maintenanceData,
  type Maintenance,
} from "../../../src/features/maintenance/wire";

const AT = Date.UTC(2026, 0, 1, 12);
const BASE_URL = "https://status.example.com";
const ENGINE = "🚒";
/** A control character takes six bytes in JSON. */
const CONTROL = "\u0001";

interface Size {
  components: number;
  /** Name of each component and of the incident or maintenance. */
  name: string;
  text: string;
  postmortem?: string;
}

const SIZES: Record<string, Size> = {
  "a short text": { components: 2, name: "API", text: "Found." },
  "a text of 4,000 code points": { components: 0, name: "API", text: ENGINE.repeat(4_000) },
  "a text of 4,001 code points": { components: 0, name: "API", text: ENGINE.repeat(4_001) },
  "a text of 10,000 control characters": {
    components: 3,
    name: "API",
    text: CONTROL.repeat(10_000),
  },
  "101 components": { components: 101, name: "API", text: "Found." },
  "150 components with long names": {
    components: 150,
    name: ENGINE.repeat(255),
    text: CONTROL.repeat(10_000),
  },
  "1,000 components": { components: 1_000, name: "Checkout API", text: "é".repeat(5_000) },
  "a long post-mortem": {
    components: 3,
    name: "API",
    text: "Found.",
    postmortem: ENGINE.repeat(50_000),
  },
};

function incident({ components, name, text, postmortem }: Size) {
  const named = Array.from({ length: components }, (_, index) => ({
    updateId: "upd_1",
    incidentId: "inc_1",
    componentId: `cmp_${index}`,
    name,
    oldStatus: "operational" as const,
    newStatus: "major_outage" as const,
  }));
  const update: UpdateRecord = {
    id: "upd_1",
    incidentId: "inc_1",
    status: "identified",
    body: text,
    displayAt: AT,
    notify: true,
    createdAt: AT,
    updatedAt: AT,
    isAutomatic: false,
    lang: null,
    components: named,
  };
  const record: Omit<IncidentRecord, "updates"> = {
    row: {
      id: "inc_1",
      pageId: "page_1",
      name,
      nameLang: null,
      status: "identified",
      impact: "critical",
      impactOverride: null,
      source: "api",
      draft: false,
      externalRef: null,
      startedAt: AT,
      identifiedAt: AT,
      monitoringAt: null,
      resolvedAt: null,
      postmortemBody: postmortem ?? null,
      postmortemPublishedAt: postmortem === undefined ? null : AT,
      postmortemFirstPublishedAt: null,
      version: 2,
      createdAt: AT,
      updatedAt: AT,
      deletedAt: null,
    },
    page: {
      slug: "acme",
      visibility: "public",
      customDomains: [],
      passwordId: null,
      hasLinks: false,
    },
    components: named.map(({ componentId: id }) => ({ id, name, status: "major_outage" as const })),
  };
  return { record, update };
}

function maintenance({ components, name, text }: Size): Maintenance {
  const at = new Date(AT).toISOString();
  return {
    id: "mnt_1",
    page: "acme",
    page_id: "page_1",
    name,
    status: "in_progress",
    components: Array.from({ length: components }, (_, index) => ({ id: `cmp_${index}`, name })),
    scheduled_for: at,
    scheduled_until: at,
    started_at: at,
    completed_at: null,
    auto_start: true,
    auto_complete: true,
    remind_minutes_before: null,
    schedule_id: null,
    occurrence_at: null,
    url: `${BASE_URL}/status/acme/maintenance/mnt_1`,
    version: 2,
    created_at: at,
    updated_at: at,
    updates: [{ id: "upd_1", status: "in_progress", body: text, display_at: at, created_at: at }],
  };
}

/** Describes an event's data: what was kept, the size, and a hash of all bytes. */
function describeData(data: Record<string, unknown>): string {
  interface Part {
    body?: string;
    components?: unknown[];
    truncated?: true;
  }
  const bytes = JSON.stringify(data);
  const partOf = (part: Part | null | undefined) =>
    part
      ? `${part.components?.length ?? 0}/${part.body === undefined ? "-" : [...part.body].length}${part.truncated ? " cut" : ""}`
      : "none";
  const parts = [data, data["latest_update"], data["postmortem"]].map((part) =>
    partOf(part as Part | null),
  );
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  return `${parts.join(", ")}: ${Buffer.byteLength(bytes)} ${hash}`;
}

/** Components and code points of the resource, its latest update and its post-mortem, bytes, hash. */
const INCIDENTS: Record<string, string> = {
  "a short text": "2/-, 2/6, none: 933 387ff4f06939",
  "a text of 4,000 code points": "0/-, 0/4000, none: 16659 5d49092351a7",
  "a text of 4,001 code points": "0/-, 0/4000 cut, none: 16676 356e8facab97",
  "a text of 10,000 control characters": "3/-, 3/2000 cut, none: 13079 d54701d7f2f8",
  "101 components": "100/- cut, 100/6 cut, none: 14377 c5c4b6fff925",
  "150 components with long names": "6/- cut, 6/250 cut, none: 16222 0c2003a56397",
  "1,000 components": "50/- cut, 50/2000 cut, none: 12430 4d7668e2a1eb",
  "a long post-mortem": "3/-, 3/6, 0/4000 cut: 17134 e7b05478afbf",
};

const MAINTENANCE: Record<string, string> = {
  "a short text": "2/-, 0/6, none: 731 b90d6e7d25f4",
  "a text of 4,000 code points": "0/-, 0/4000, none: 16670 f37bdeb971dd",
  "a text of 4,001 code points": "0/-, 0/4000 cut, none: 16687 4409a1871c9d",
  "a text of 10,000 control characters": "0/- cut, 0/2000 cut, none: 12704 9130749ed997",
  "101 components": "101/-, 0/6, none: 3595 b79bf0958f6c",
  "150 components with long names": "0/- cut, 0/2000 cut, none: 13721 452a5a3e2a30",
  "1,000 components": "250/- cut, 0/4000 cut, none: 18352 335184d7bcfe",
  "a long post-mortem": "3/-, 0/6, none: 759 fdef0d3b535a",
};

describe("the size of an event", () => {
  for (const [name, size] of Object.entries(SIZES)) {
    test(`the event of an incident with ${name} has the recorded bytes`, () => {
      const { record, update } = incident(size);
      expect(describeData(incidentData(record, update, true, BASE_URL))).toBe(
        INCIDENTS[name] ?? "",
      );
    });

    test(`the event of a maintenance with ${name} has the recorded bytes`, () => {
      expect(describeData(maintenanceData(maintenance(size), true))).toBe(MAINTENANCE[name] ?? "");
    });
  }

  test("the event of an incident without an update, or with components left out, has the recorded bytes", () => {
    const { record } = incident({ components: 2, name: "API", text: "" });
    const data = incidentData({ ...record, isTruncated: true }, undefined, false, BASE_URL);
    expect(describeData(data)).toBe("2/- cut, none, none: 642 fede1a2432c7");
  });

  test("the event of a maintenance without an update has the recorded bytes", () => {
    const data = maintenance({ components: 2, name: "API", text: "" });
    expect(describeData(maintenanceData({ ...data, updates: [] }, false))).toBe(
      "2/-, none, none: 603 4cac8dfb5c86",
    );
  });
});
