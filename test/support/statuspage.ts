import type { HttpAnswer, HttpRequest } from "../../src/egress/model";
import type { readStatuspage } from "../../src/imports/statuspage/read";
import { createTestClock } from "./clock";

/*
 * Documents with the fields that Statuspage documents for its public API v2 and its REST API v1, and a server that
 * answers them.
 */

type Fields = Record<string, unknown>;

export const PAGE_ID = "kctbh9vrtdwd";
export const API_KEY = "89a229ce-1a8d-bcf9-30ff-d6ebd15593dc";

/** The page, as the public documents have it. */
export function pageOf(fields: Fields = {}): Fields {
  return {
    id: PAGE_ID,
    name: "Acme",
    url: "https://status.acme.test",
    time_zone: "America/Los_Angeles",
    updated_at: "2026-03-09T10:00:00.000-08:00",
    ...fields,
  };
}

/** The page, as the REST API has it. */
export function restPageOf(fields: Fields = {}): Fields {
  return {
    id: PAGE_ID,
    created_at: "2020-01-01T00:00:00.000Z",
    updated_at: "2026-03-09T10:00:00.000Z",
    name: "Acme",
    page_description: "Status of all that Acme runs",
    headline: null,
    branding: "premium",
    subdomain: "acme",
    domain: "status.acme.test",
    url: "https://www.acme.test",
    support_url: null,
    hidden_from_search: false,
    allow_page_subscribers: true,
    allow_incident_subscribers: true,
    allow_email_subscribers: true,
    allow_sms_subscribers: false,
    allow_rss_atom_feeds: true,
    allow_webhook_subscribers: false,
    notifications_from_email: null,
    notifications_email_footer: "",
    activity_score: 12,
    twitter_username: null,
    viewers_must_be_team_members: false,
    ip_restrictions: null,
    city: null,
    state: null,
    country: null,
    time_zone: "Pacific Time (US & Canada)",
    css_body_background_color: "ffffff",
    css_greens: "2fcc66",
    email_logo: "",
    favicon_logo: "",
    hero_cover: "",
    transactional_logo: { url: "https://cdn.test/logo.png" },
    twitter_logo: "",
    ...fields,
  };
}

export function componentOf(id: string, fields: Fields = {}): Fields {
  return {
    id,
    name: `Component ${id}`,
    status: "operational",
    created_at: "2024-05-06T23:30:00.000-08:00",
    updated_at: "2026-03-09T10:00:00.000-08:00",
    position: 1,
    description: null,
    showcase: true,
    start_date: "2024-05-01",
    group_id: null,
    page_id: PAGE_ID,
    group: false,
    only_show_if_degraded: false,
    ...fields,
  };
}

/** An update; `affected` has the new statuses of components by their ids. */
export function updateOf(
  status: string,
  displayAt: string,
  affected: Record<string, string> | null = null,
  fields: Fields = {},
): Fields {
  return {
    id: `upd-${status}-${displayAt}`,
    status,
    body: `It is ${status}.`,
    incident_id: "inc1",
    created_at: displayAt,
    updated_at: displayAt,
    display_at: displayAt,
    affected_components:
      affected &&
      Object.entries(affected).map(([code, new_status]) => ({
        code,
        name: `Component ${code}`,
        old_status: "operational",
        new_status,
      })),
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
    ...fields,
  };
}

/** A resolved incident. Updates are newest first, as in the documents. */
export function incidentOf(id: string, fields: Fields = {}): Fields {
  return {
    id,
    name: `Incident ${id}`,
    status: "resolved",
    created_at: "2026-03-01T10:00:00.000Z",
    updated_at: "2026-03-01T12:00:00.000Z",
    monitoring_at: null,
    resolved_at: "2026-03-01T12:00:00.000Z",
    impact: "major",
    shortlink: `https://stspg.test/${id}`,
    started_at: "2026-03-01T10:00:00.000Z",
    page_id: PAGE_ID,
    reminder_intervals: null,
    incident_updates: [
      updateOf("resolved", "2026-03-01T12:00:00.000Z", { api: "operational" }),
      updateOf("identified", "2026-03-01T11:00:00.000Z", { api: "partial_outage" }),
      updateOf("investigating", "2026-03-01T10:00:00.000Z", { api: "degraded_performance" }),
    ],
    components: [componentOf("api")],
    ...fields,
  };
}

/** A maintenance to come. */
export function maintenanceOf(id: string, fields: Fields = {}): Fields {
  return {
    ...incidentOf(id),
    name: `Maintenance ${id}`,
    status: "scheduled",
    impact: "maintenance",
    created_at: "2026-03-02T10:00:00.000Z",
    updated_at: "2026-03-02T10:00:00.000Z",
    started_at: "2026-03-20T02:00:00.000Z",
    resolved_at: null,
    scheduled_for: "2026-03-20T02:00:00.000Z",
    scheduled_until: "2026-03-20T04:00:00.000Z",
    incident_updates: [updateOf("scheduled", "2026-03-02T10:00:00.000Z", { api: "operational" })],
    components: [componentOf("api")],
    ...fields,
  };
}

/** Parts of a page. */
export interface Parts {
  page?: Fields;
  components?: readonly unknown[];
  incidents?: readonly unknown[];
  maintenance?: readonly unknown[];
}

/** Returns the object of all four public documents. */
export function documentsOf({ page = pageOf(), ...parts }: Parts = {}): Fields {
  const { components = [componentOf("api")], incidents = [], maintenance = [] } = parts;
  const status = { indicator: "none", description: "All Systems Operational" };
  return {
    summary: { page, components, incidents: [], scheduled_maintenances: [], status },
    components: { page, components },
    incidents: { page, incidents },
    scheduled_maintenances: { page, scheduled_maintenances: maintenance },
  };
}

/** Answer of the stand-in: a document, or a status with headers and a text. */
interface Reply {
  status?: number;
  headers?: Record<string, string>;
  document?: unknown;
  text?: string;
}

/**
 * Creates dependencies whose requests `answer` answers, with a clock of the test. Waits move the clock. `requests` are
 * the addresses in order, with the time at which they were asked for.
 */
export function statuspageServer(answer: (url: URL, nth: number) => Reply) {
  const clock = createTestClock();
  const begin = clock.monotonic();
  const requests: { url: URL; at: number; headers: Readonly<Record<string, string>> }[] = [];
  const waits: number[] = [];
  const lines: string[] = [];
  const deps: Parameters<typeof readStatuspage>[2] = {
    clock,
    progress: (line) => void lines.push(line),
    async wait(ms) {
      waits.push(ms);
      await clock.advance(ms);
    },
    egress: {
      async request({ url, headers = {} }: HttpRequest): Promise<HttpAnswer> {
        requests.push({ url, at: clock.monotonic() - begin, headers });
        const { status = 200, headers: own = {}, document, text } = answer(url, requests.length);
        return {
          status,
          headers: new Map(Object.entries(own)),
          sentBody: Buffer.from(text ?? JSON.stringify(document ?? null)),
          isTruncated: false,
          certificate: null,
          address: "203.0.113.9",
        };
      },
    },
  };
  return { deps, clock, requests, waits, lines };
}

/** Answers the public documents of a page at a base path. */
export function publicAnswers(documents: Fields, base = "/"): (url: URL) => Reply {
  return ({ pathname }) => {
    const name = pathname.startsWith(`${base}api/v2/`)
      ? pathname.slice(`${base}api/v2/`.length).replace(".json", "").replaceAll("-", "_")
      : "";
    return documents[name] === undefined ? { status: 404 } : { document: documents[name] };
  };
}

/** Answers the REST API, in pages of the size that is asked for. */
export function restAnswers(
  lists: Record<string, readonly unknown[]>,
  page: Fields = restPageOf(),
): (url: URL) => Reply {
  return ({ pathname, searchParams }) => {
    const [, name] = /^\/v1\/pages\/[^/]+(?:\/(.*))?$/.exec(pathname) ?? [];
    if (name === undefined) return { document: page };
    const size = Number(searchParams.get("per_page") ?? searchParams.get("limit"));
    const first = searchParams.has("limit") ? 0 : 1;
    const from = (Number(searchParams.get("page")) - first) * size;
    return { document: (lists[name] ?? []).slice(from, from + size) };
  };
}
