import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { renderToString } from "preact-render-to-string";
import { notFound } from "../../base/errors";
import { Instant, OneOf } from "../../base/schema";
import type { Impact, MonitorState } from "../../base/status";
import { DAY_MS, HOUR_MS, toIso } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import {
  BEAT,
  type CompatEntry,
  findCompatPage,
  keysOf,
  readBeats,
  readEntries,
  whenCompatReady,
} from "../../features/compat/entries";
import type { Span } from "../../features/components/rules";
import { findComponent } from "../../features/components/store";
import { listNewestSpans } from "../../features/monitors/spans-store";
import { latencyOfEach } from "../../features/monitors/latency";
import type { Snapshot, Snapshots } from "../../features/status/snapshots";
import { sendPlainText } from "../../http/answers";
import { RESULTS_CACHE } from "../../http/cdn";
import { declareRoutes } from "../../http/elysia";
import { type Operation, operation } from "../../http/operation";
import { NO_STORE, Representation } from "../../http/representation";
import { queryOf, type RequestContext } from "../../http/request-context";
import { holdDocument, jsonRepresentation, publicJson, represent } from "../site";
import { type BadgeContent, drawBadge } from "./kuma-badges";
import { uptimesOf } from "./kuma-documents";

/**
 * The public paths of Gatus, for clients that read its endpoints: below `/compat/gatus` for the default page,
 * below `/compat/gatus/{slug}` for each, and at the root of custom domains. Errors have its texts. Pages that
 * are not public or not marked do not exist here.
 */
export function gatusRoutes(ctx: Ctx, snapshots: Snapshots) {
  const routes = declareRoutes();
  for (const read of createReads(ctx, snapshots)) {
    routes.get(`/compat/gatus${read.path}`, read.answer, declare(read, ""));
    routes.get(`/compat/gatus/:slug${read.path}`, read.answer, declare(read, "OfPage"));
    routes.get(
      read.path,
      (call: Call) => {
        // The API of this server has the same place on other hosts.
        if (!call.requestContext.domain) throw notFound("path");
        return read.answer(call);
      },
      declare(read, undefined),
    );
  }
  return routes;
}

const PATH = {
  key: Type.String({
    description: "The key of the endpoint: its group and name as Gatus writes them.",
    examples: ["core_api"],
  }),
  duration: Type.String({
    description: "`30d`, `7d` or `24h`, and for single figures `1h`, which means two hours.",
    examples: ["24h"],
  }),
};

/** Declares a read; without `suffix` it is not in the OpenAPI document. */
function declare(
  { path, name, summary, schema, mediaType, more, query }: Read,
  suffix: string | undefined,
) {
  const text = { schema: Type.String(), mediaType: "text/plain" };
  const found = schema ? { schema } : { schema: Type.String(), mediaType: mediaType ?? "" };
  const rejected: Operation["answers"] = path.includes("/:duration")
    ? { 400: { description: "The duration is not supported.", ...text } }
    : {};
  return operation({
    id: suffix === undefined ? undefined : `getGatus${name}${suffix}`,
    summary,
    description: "In the form of Gatus.",
    tag: "Compatibility",
    access: { kind: "public" },
    path: PATH,
    ...(query ? { query } : {}),
    onCustomDomain: "page",
    conditional: "etag",
    isCrossOrigin: true,
    errors: suffix === undefined ? ["not_found"] : [],
    answers: {
      200: { description: `${summary}.`, ...found },
      ...more,
      ...rejected,
      404: { description: "There is no such page or component.", ...text },
    },
  });
}

const SVG = "image/svg+xml";
const RESULTS_MAX = 100;
const PAGES_MAX = 100;
const RESULTS = 50;

/** A request for one of Gatus' paths. */
interface Call {
  /** Undefined for a path without parameters. */
  params?: Record<string, string>;
  request: Request;
  requestContext: RequestContext;
}
/** Query parameters that select results. */
const ResultQuery = Type.Object({
  page: Type.Optional(
    Type.String({ description: `Number of the part, 1 to ${PAGES_MAX}. Default: 1.` }),
  ),
  pageSize: Type.Optional(
    Type.String({
      description: `Results of a component, 1 to ${RESULTS_MAX}. Default: ${RESULTS}.`,
    }),
  ),
});

/** Reads which results are asked for. Numbers that make no sense have their defaults, as in Gatus. */
function partOf({ request }: Call): ResultPage {
  const query = queryOf(request);
  const numberOf = (name: string, initial: number, most: number) => {
    const text = query.get(name) ?? "";
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    return value < 1 ? initial : Math.min(value, most);
  };
  return {
    page: numberOf("page", 1, PAGES_MAX),
    pageSize: numberOf("pageSize", RESULTS, RESULTS_MAX),
  };
}

function send({ request, requestContext }: Call, made: Representation): Response {
  return made.respond(request, requestContext);
}

function plain(text: string): Representation {
  return represent(text, "text/plain", { cacheControl: RESULTS_CACHE });
}

/** Returns a picture with a policy, because browsers open SVG as a document. */
function picture(svg: string): Representation {
  const headers = { "Content-Security-Policy": "default-src 'none'" };
  return represent(svg, SVG, { headers, cacheControl: RESULTS_CACHE });
}

/** Durations in the paths. The shortest means two hours, as in Gatus. */
const DURATIONS: ReadonlyMap<string, number> = new Map([
  ["30d", 30 * DAY_MS],
  ["7d", 7 * DAY_MS],
  ["24h", DAY_MS],
  ["1h", 2 * HOUR_MS],
]);

type Answer = Response | Promise<Response>;

/** One of Gatus' paths. */
interface Read {
  path: string;
  /** End of its operation id. */
  name: string;
  summary: string;
  /** Schema of JSON, or else the media type of another answer. */
  schema?: TSchema;
  mediaType?: string;
  more?: Operation["answers"];
  query?: TObject;
  answer(call: Call): Answer;
}

/** Returns the public paths of Gatus with their answers. */
function createReads(ctx: Ctx, snapshots: Snapshots): Read[] {
  const configOf = publicJson(announcements);
  const statusesOf = holdDocument(ctx, (snapshot, part: ResultPage) =>
    endpointStatuses(ctx.db, snapshot, part),
  );

  function slugOf({ params, requestContext }: Call): string | undefined {
    return params?.["slug"] ?? (requestContext.domain ?? snapshots.defaultPage())?.slug;
  }

  function find(call: Call): Snapshot | undefined {
    const { requestContext } = call;
    const slug = slugOf(call);
    const snapshot =
      slug === undefined ? undefined : findCompatPage(snapshots, "gatus", slug, requestContext);
    requestContext.noteShown(snapshot?.document.page.id);
    return snapshot;
  }

  const onPage =
    (make: (snapshot: Snapshot, call: Call) => Answer) =>
    (call: Call): Answer =>
      whenCompatReady(snapshots, slugOf(call), call.requestContext, (): Answer => {
        const snapshot = find(call);
        return snapshot ? make(snapshot, call) : sendPlainText(404, "page not found");
      });
  const onEntry = (make: (entry: KeyedEntry, snapshot: Snapshot, call: Call) => Answer) =>
    onPage((snapshot, call) => {
      const entry = findKeyed(ctx.db, snapshot, call.params?.["key"] ?? "");
      return entry ? make(entry, snapshot, call) : sendPlainText(404, "endpoint not found");
    });
  /** Checks the duration before the endpoint, as Gatus does. */
  const during =
    (make: (entry: KeyedEntry, span: Span, call: Call) => Answer, names = [...DURATIONS.keys()]) =>
    (call: Call): Answer => {
      const duration = call.params?.["duration"] ?? "";
      const ms = names.includes(duration) ? DURATIONS.get(duration) : undefined;
      if (ms === undefined) return sendPlainText(400, `Durations supported: ${names.join(", ")}`);
      const to = call.requestContext.now;
      return onEntry((entry) => make(entry, { from: to - ms, to }, call))(call);
    };
  const uptimeOf = (entry: KeyedEntry, span: Span): number => {
    const row = findComponent(ctx.db, { id: entry.component.id });
    return (row && uptimesOf(ctx.db, [row], span)[0]) ?? 0;
  };
  const healthOf = (entry: KeyedEntry): Health => {
    const status = readBeats(ctx.db, entry, 1).at(-1)?.status;
    return status === BEAT.up || status === BEAT.maintenance ? "up" : "down";
  };
  const ofHours = ["30d", "7d", "24h"];
  const key = "/api/v1/endpoints/:key";

  return [
    {
      path: "/api/v1/endpoints/statuses",
      name: "Endpoints",
      summary: "List the components of a page with their results",
      schema: GatusEndpoints,
      query: ResultQuery,
      answer: onPage((snapshot, call) => {
        const made = statusesOf(snapshot, partOf(call));
        if (made instanceof Representation) return send(call, made);
        // The page may have become private while they were read.
        return made.then((read) =>
          find(call) ? send(call, read) : sendPlainText(404, "page not found"),
        );
      }),
    },
    {
      path: `${key}/statuses`,
      name: "Endpoint",
      summary: "Read a component with its results and events",
      schema: GatusEndpointStatus,
      query: ResultQuery,
      answer: onEntry((entry, snapshot, call) => {
        const part = { ...partOf(call), now: call.requestContext.now };
        return send(call, results(endpointStatus(ctx.db, snapshot, entry, part)));
      }),
    },
    {
      path: `${key}/uptimes/:duration`,
      name: "Uptime",
      summary: "Read the uptime of a component, from 0 to 1",
      mediaType: "text/plain",
      answer: during((entry, span, call) => send(call, plain(uptimeOf(entry, span).toFixed(6)))),
    },
    {
      path: `${key}/response-times/:duration`,
      name: "ResponseTime",
      summary: "Read the mean response time of a component in milliseconds",
      mediaType: "text/plain",
      answer: during((entry, span, call) =>
        send(call, plain(String(averageOf(ctx.db, entry, span)))),
      ),
    },
    {
      path: `${key}/response-times/:duration/history`,
      name: "History",
      summary: "Read the mean response times of a component by hour",
      schema: GatusHistory,
      answer: during(
        (entry, span, call) => send(call, results(hourlyAverages(ctx.db, entry, span))),
        ofHours,
      ),
    },
    {
      path: `${key}/health/badge.svg`,
      name: "HealthBadge",
      summary: "Read the badge of a component",
      mediaType: SVG,
      answer: onEntry((entry, _, call) =>
        send(call, picture(drawBadge(healthBadge(healthOf(entry))))),
      ),
    },
    {
      path: `${key}/health/badge.shields`,
      name: "ShieldsBadge",
      summary: "Read the badge of a component for shields.io",
      schema: Type.Object({}, { additionalProperties: true }),
      answer: onEntry((entry, _, call) => send(call, results(shieldsBadge(healthOf(entry))))),
    },
    {
      path: `${key}/uptimes/:duration/badge.svg`,
      name: "UptimeBadge",
      summary: "Read the badge of a component's uptime",
      mediaType: SVG,
      answer: during((entry, span, call) => {
        const content = uptimeBadge(call.params?.["duration"] ?? "", uptimeOf(entry, span));
        return send(call, picture(drawBadge(content)));
      }),
    },
    {
      path: `${key}/response-times/:duration/badge.svg`,
      name: "ResponseTimeBadge",
      summary: "Read the badge of a component's response time",
      mediaType: SVG,
      answer: during((entry, span, call) => {
        const average = averageOf(ctx.db, entry, span);
        const content = responseTimeBadge(call.params?.["duration"] ?? "", average);
        return send(call, picture(drawBadge(content)));
      }),
    },
    {
      path: `${key}/response-times/:duration/chart.svg`,
      name: "Chart",
      summary: "Read the chart of a component's response times",
      mediaType: SVG,
      more: { 204: { description: "No response times are known." } },
      answer: during((entry, span, call) => {
        const history = hourlyAverages(ctx.db, entry, span);
        return history.values.length === 0
          ? new Response(null, { status: 204, headers: { "Cache-Control": RESULTS_CACHE } })
          : send(call, picture(drawChart(history)));
      }, ofHours),
    },
    {
      path: "/api/v1/suites/statuses",
      name: "Suites",
      summary: "List the suites of a page: none",
      schema: Type.Array(Type.Object({})),
      answer: onPage((_, call) => send(call, jsonRepresentation([]))),
    },
    {
      path: "/api/v1/config",
      name: "Config",
      summary: "List the open incidents of a page as announcements",
      schema: GatusConfig,
      answer: onPage((snapshot, call) => send(call, configOf(snapshot))),
    },
    {
      path: "/health",
      name: "Health",
      summary: "Read the health of the server",
      schema: Type.Object({ status: Type.Literal("UP") }),
      answer: onPage((_, call) => send(call, healthy())),
    },
  ];
}

function results(content: unknown): Representation {
  return jsonRepresentation(content, RESULTS_CACHE);
}

/** Returns the health of the server, which caches must not store. */
function healthy(): Representation {
  return new Representation(JSON.stringify({ status: "UP" }), {
    mediaType: "application/json",
    cacheControl: NO_STORE,
    isCrossOrigin: true,
  });
}

const EVENTS_MAX = 50;
const NANOSECONDS = 1_000_000;

/** Part of the results: pages count from 1, the newest. */
interface ResultPage {
  page: number;
  pageSize: number;
}

/** An entry with its key. */
interface KeyedEntry extends CompatEntry {
  key: string;
}

/** Lists the entries of a page by key. */
function keyedEntries(reader: Reader, snapshot: Snapshot): KeyedEntry[] {
  const keys = keysOf(reader, snapshot);
  return readEntries(reader, snapshot)
    .map((entry) => ({ ...entry, key: keys.get(entry.component.id) ?? "" }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Finds the entry with a key. */
function findKeyed(reader: Reader, snapshot: Snapshot, key: string): KeyedEntry | undefined {
  return keyedEntries(reader, snapshot).find((entry) => entry.key === key);
}

/** Results that are passed over in half a millisecond. */
const SKIPPED_PER_UNIT = 1_000;

/** Returns all entries of a page with their results, by key, in steps. */
export function* endpointStatuses(
  reader: Reader,
  snapshot: Snapshot,
  part: ResultPage,
): Generator<number, GatusEndpoint[]> {
  const endpoints: GatusEndpoint[] = [];
  for (const entry of keyedEntries(reader, snapshot)) {
    yield 1 + Math.floor(((part.page - 1) * part.pageSize) / SKIPPED_PER_UNIT);
    endpoints.push(endpointOf(reader, snapshot, entry, part));
  }
  return endpoints;
}

/** Returns one entry with its results and events, at `now` (unix ms). */
function endpointStatus(
  reader: Reader,
  snapshot: Snapshot,
  entry: KeyedEntry,
  { now, ...part }: ResultPage & { now: number },
): GatusEndpointStatus {
  return {
    ...endpointOf(reader, snapshot, entry, part),
    events: eventsOf(reader, entry, now),
  };
}

function endpointOf(
  reader: Reader,
  { records }: Snapshot,
  entry: KeyedEntry,
  { page, pageSize }: ResultPage,
): GatusEndpoint {
  const { component, key } = entry;
  const group = records.groups.find(({ id }) => id === component.group_id)?.name;
  const beats = readBeats(reader, entry, pageSize, (page - 1) * pageSize);
  return {
    name: component.name,
    ...(group === undefined ? {} : { group }),
    key,
    results: beats.map(({ status, at, latencyMs }) => ({
      duration: (latencyMs ?? 0) * NANOSECONDS,
      success: status === BEAT.up || status === BEAT.maintenance,
      timestamp: toIso(at),
    })),
  };
}

const EVENT_TYPES: Readonly<Partial<Record<MonitorState, "HEALTHY" | "UNHEALTHY">>> = {
  up: "HEALTHY",
  degraded: "HEALTHY",
  down: "UNHEALTHY",
};

function eventsOf(
  reader: Reader,
  { component, watcher }: CompatEntry,
  now: number,
): GatusEndpointStatus["events"] {
  const start = { type: "START" as const, timestamp: component.created_at };
  if (!watcher) return [start];
  const spans = listNewestSpans(reader, {
    monitorNum: watcher.num,
    from: 0,
    to: now,
    limit: EVENTS_MAX * 2,
  }).toReversed();
  const events = spans.flatMap(({ state, startedAt }) => {
    const type = EVENT_TYPES[state];
    return type === undefined ? [] : [{ type, timestamp: toIso(startedAt) }];
  });
  const changes = events.filter(({ type }, index) => type !== events[index - 1]?.type);
  return [start, ...changes].slice(-EVENTS_MAX);
}

/** Returns the mean response time of an entry in a span of unix ms; 0 without one, or if none is shown. */
function averageOf(reader: Reader, entry: CompatEntry, span: { from: number; to: number }): number {
  const num = measuredBy(entry);
  if (num === undefined) return 0;
  return Math.trunc(latencyOfEach(reader, [num], [span]).total.avgMs ?? 0);
}

/** Returns the mean response times of whole hours, oldest first; 0 for hours without one. */
function hourlyAverages(
  reader: Reader,
  entry: CompatEntry,
  { from, to }: { from: number; to: number },
): GatusHistory {
  const num = measuredBy(entry);
  if (num === undefined) return { timestamps: [], values: [] };
  const start = Math.floor(from / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: Math.ceil((to - start) / HOUR_MS) }, (_, index) => {
    const begin = start + index * HOUR_MS;
    return { from: begin, to: begin + HOUR_MS };
  });
  const { each, total } = latencyOfEach(reader, [num], hours);
  if (total.avgMs === null) return { timestamps: [], values: [] };
  return {
    timestamps: hours.map((hour) => hour.from),
    values: (each[0] ?? []).map(({ avgMs }) => Math.trunc(avgMs ?? 0)),
  };
}

/** Returns the number of the monitor whose response times the page shows. */
function measuredBy({ component, watcher }: CompatEntry): number | undefined {
  return component.show_latency && watcher?.type !== "push" ? watcher?.num : undefined;
}

const ANNOUNCED: Readonly<Record<Impact, string>> = {
  critical: "outage",
  major: "outage",
  minor: "warning",
  none: "information",
};

/** Returns the open incidents as announcements, newest first. */
function announcements({ records }: Snapshot): GatusConfig {
  return {
    oidc: false,
    authenticated: true,
    announcements: records.incidents.map(({ row, updates }) => ({
      timestamp: toIso(row.startedAt),
      type: ANNOUNCED[row.impact],
      message: [row.name, updates[0]?.body ?? ""].filter((text) => text !== "").join(": "),
    })),
  };
}

/* Schemas of Gatus' public JSON. Optional fields of results that tell about targets are never present. */

const GatusResult = Type.Object(
  {
    duration: Type.Integer({ description: "Nanoseconds; 0 unless the page shows response times." }),
    success: Type.Boolean(),
    timestamp: Instant,
  },
  { title: "GatusResult" },
);

const Endpoint = {
  name: Type.String(),
  group: Type.Optional(Type.String()),
  key: Type.String({ examples: ["core_api"] }),
  results: Type.Array(GatusResult, { description: "Oldest first." }),
};

const GatusEndpoint = Type.Object(Endpoint, { title: "GatusEndpoint" });
type GatusEndpoint = Static<typeof GatusEndpoint>;

const GatusEndpoints = Type.Array(GatusEndpoint);

const GatusEndpointStatus = Type.Object(
  {
    ...Endpoint,
    events: Type.Array(
      Type.Object({
        type: OneOf(["START", "HEALTHY", "UNHEALTHY"]),
        timestamp: Instant,
      }),
      { description: "The 50 newest, oldest first." },
    ),
  },
  { title: "GatusEndpointStatus" },
);
type GatusEndpointStatus = Static<typeof GatusEndpointStatus>;

const GatusHistory = Type.Object(
  { timestamps: Type.Array(Type.Integer()), values: Type.Array(Type.Integer()) },
  { title: "GatusHistory" },
);
type GatusHistory = Static<typeof GatusHistory>;

const GatusConfig = Type.Object(
  {
    oidc: Type.Literal(false),
    authenticated: Type.Literal(true),
    announcements: Type.Array(
      Type.Object({ timestamp: Instant, type: Type.String(), message: Type.String() }),
    ),
  },
  { title: "GatusConfig" },
);
type GatusConfig = Static<typeof GatusConfig>;

const AWESOME = "#40cc11";
const VERY_BAD = "#c7130a";
const PASSABLE = "#ccb311";

/** Colours from the best on, with the least uptime and the longest response time in ms of each. */
const LEVELS = [
  { color: AWESOME, uptime: 0.975, ms: 50 },
  { color: "#94cc11", uptime: 0.95, ms: 200 },
  { color: "#ccd311", uptime: 0.9, ms: 300 },
  { color: PASSABLE, uptime: 0.8, ms: 500 },
  { color: "#cc8111", uptime: 0.65, ms: 750 },
] as const;

/** Health of an endpoint; `?` if it is not known. */
type Health = "up" | "down" | "?";

function badge(label: string, message: string, color: string): BadgeContent {
  return { label, message, color, labelColor: "#555", style: "flat" };
}

function healthBadge(health: Health): BadgeContent {
  const colours = { up: AWESOME, down: VERY_BAD, "?": PASSABLE };
  return badge("health", health, colours[health]);
}

/** Returns the badge in the format of shields.io's endpoint badge. */
function shieldsBadge(health: Health) {
  const colours = { up: "brightgreen", down: "red", "?": "yellow" };
  return { schemaVersion: 1, label: "gatus", message: health, color: colours[health] };
}

function uptimeBadge(duration: string, uptime: number): BadgeContent {
  const color = LEVELS.find((level) => uptime >= level.uptime)?.color ?? VERY_BAD;
  return badge(`uptime ${duration}`, `${Number((uptime * 100).toFixed(2))}%`, color);
}

function responseTimeBadge(duration: string, ms: number): BadgeContent {
  const color = LEVELS.find((level) => ms <= level.ms)?.color ?? VERY_BAD;
  return badge(`response time ${duration}`, `${ms}ms`, color);
}

const WIDTH = 1_280;
const HEIGHT = 300;
const MARGIN = 40;

/** Draws the mean response times of hours as a line. */
function drawChart({ timestamps, values }: GatusHistory): string {
  const first = timestamps[0] ?? 0;
  const length = Math.max(1, (timestamps.at(-1) ?? 0) - first);
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => {
    const x = MARGIN + (((timestamps[index] ?? 0) - first) / length) * (WIDTH - 2 * MARGIN);
    const y = HEIGHT - MARGIN - (value / (most * 1.25)) * (HEIGHT - 2 * MARGIN);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const title = `Average response time per hour, at most ${most} ms`;
  const base = HEIGHT - MARGIN;
  return renderToString(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={title}
    >
      <title>{title}</title>
      <path d={`M${MARGIN} ${MARGIN}V${base}H${WIDTH - MARGIN}`} fill="none" stroke="#777" />
      <polyline points={points.join(" ")} fill="none" stroke="#0074d9" stroke-width="1.5" />
      <g fill="#777" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
        <text x={MARGIN} y={MARGIN - 10}>{`${most} ms`}</text>
        <text x={MARGIN} y={base + 20}>
          {new Date(first).toISOString().slice(0, 16)}
        </text>
        <text x={WIDTH - MARGIN} y={base + 20} text-anchor="end">
          {new Date(first + length).toISOString().slice(0, 16)}
        </text>
      </g>
    </svg>,
  );
}
