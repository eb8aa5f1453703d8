import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import { BEAT, findCompatPage, readBeats, whenCompatReady } from "../../features/compat/entries";
import { findComponent } from "../../features/components/store";
import type { Span } from "../../features/components/history";
import type { Snapshot } from "../../features/status/snapshot";
import type { Snapshots } from "../../features/status/snapshots";
import { NO_STORE, Representation } from "../../http/representation";
import type { Operation } from "../../http/operation";
import { RESULTS_CACHE } from "../../http/cdn";
import { sendPlainText } from "../../http/answers";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { jsonRepresentation, publicJson } from "../answers";
import { holdDocument } from "../held-document";
import { drawBadge } from "../kuma/badge-picture";
import { uptimesOf } from "../kuma/heartbeats";
import { type Call, partOf, picture, plain, ResultQuery, send, SVG } from "./call";
import {
  announcements,
  averageOf,
  endpointStatus,
  endpointStatuses,
  findKeyed,
  hourlyAverages,
  type KeyedEntry,
  type ResultPage,
} from "./documents";
import { GatusConfig, GatusEndpoints, GatusEndpointStatus, GatusHistory } from "./model";
import {
  drawChart,
  type Health,
  healthBadge,
  responseTimeBadge,
  shieldsBadge,
  uptimeBadge,
} from "./pictures";

/** Durations in the paths. The shortest means two hours, as in Gatus. */
const DURATIONS: ReadonlyMap<string, number> = new Map([
  ["30d", 30 * DAY_MS],
  ["7d", 7 * DAY_MS],
  ["24h", DAY_MS],
  ["1h", 2 * HOUR_MS],
]);

type Answer = Response | Promise<Response>;

/** One of Gatus' paths. */
export interface Read {
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
export function createReads(ctx: Ctx, snapshots: Snapshots): Read[] {
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
    if (slug === undefined) return undefined;
    const snapshot = findCompatPage(snapshots, "gatus", slug, requestContext);
    requestContext.shownPageId = snapshot?.document.page.id;
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
