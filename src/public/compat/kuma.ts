import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import {
  findCompatPage,
  findEntry,
  readEntries,
  whenCompatReady,
  whenEntryReady,
} from "../../features/compat/entries";
import type { ReadRecords } from "../../features/incidents/records";
import type { Snapshot, Snapshots } from "../../features/status/snapshots";
import { RESULTS_CACHE } from "../../http/cdn";
import { declareRoutes } from "../../http/elysia";
import { type Operation, operation } from "../../http/operation";
import { NO_STORE, Representation } from "../../http/representation";
import { queryOf, type RequestContext } from "../../http/request-context";
import { holdDocument, jsonRepresentation, MOVED, moved, publicJson, represent } from "../site";
import {
  BADGE_STYLES,
  type BadgeContent,
  BadgeError,
  type BadgeQuery,
  drawBadge,
  emptyBadge,
  ENTRY_BADGES,
  overallBadge,
  readBadgeQuery,
} from "./kuma-badges";
import {
  createIncidentHistory,
  heartbeatsDocument,
  KumaEntryPage,
  KumaError,
  KumaHeartbeats,
  KumaIncidentHistory,
  KumaManifest,
  kumaMetrics,
  KumaPage,
  manifest,
  noHeartbeats,
  pageDocument,
} from "./kuma-documents";

const SVG = "image/svg+xml";

/** A request for one of Uptime Kuma's paths. */
interface Call {
  params: Record<string, string>;
  request: Request;
  requestContext: RequestContext;
}
type Answer = Response | Promise<Response>;

/**
 * The public paths of Uptime Kuma, for clients that read its pages: at their own place and below
 * `/compat/kuma`. Errors have its bodies. Pages that are not public or not marked do not exist here.
 */
export function kumaRoutes(ctx: Ctx, snapshots: Snapshots, readIncidents: ReadRecords) {
  const slugOf = ({ params }: Call) => params["slug"]?.toLowerCase() ?? "";
  const find = (call: Call): Snapshot | undefined => {
    const { requestContext: at } = call;
    const snapshot = findCompatPage(snapshots, "uptime-kuma", slugOf(call), at);
    at.noteShown(snapshot?.document.page.id);
    return snapshot;
  };
  const pageOf = publicJson((snapshot) => pageDocument(ctx.db, snapshot, ctx.clock.now()));
  const manifestOf = publicJson(manifest);
  const historyOf = createIncidentHistory(ctx.db, readIncidents);
  const heartbeatsOf = holdDocument(ctx, (snapshot, _query: null) =>
    heartbeatsDocument(ctx.db, snapshot, ctx.clock.now()),
  );

  /** Returns the answer to a request for a page, made by `make` if the page exists. */
  const onPage =
    (make: (snapshot: Snapshot, call: Call) => Answer, missing = "Status Page Not Found") =>
    (call: Call): Answer => {
      const snapshot = find(call);
      return snapshot ? make(snapshot, call) : failed(404, missing);
    };
  const badge = (call: Call, make: (query: BadgeQuery) => BadgeContent): Answer =>
    sendBadge(call, make(readBadgeQuery(queryOf(call.request))));

  const reads: Read[] = [
    {
      path: "/api/status-page/:slug",
      id: "getKumaPage",
      summary: "Read a page",
      schema: KumaPage,
      error: 404,
      answer: onPage((snapshot, call) => send(call, pageOf(snapshot))),
    },
    {
      path: "/api/status-page/heartbeat/:slug",
      id: "getKumaHeartbeats",
      summary: "Read the results of a page's components",
      description: "Without such a page, both lists are empty.",
      schema: KumaHeartbeats,
      answer: (call) => {
        const snapshot = find(call);
        const made = snapshot ? heartbeatsOf(snapshot, null) : noHeartbeats();
        if (made instanceof Representation) return send(call, made);
        // The page may have become private while they were read.
        return made.then((read) => send(call, find(call) ? read : noHeartbeats()));
      },
    },
    {
      path: "/api/status-page/:slug/incident-history",
      id: "getKumaIncidentHistory",
      summary: "List the incidents of a page, ten at a time",
      query: Type.Object({
        cursor: Type.Optional(Type.String({ description: "The `nextCursor` of the part before." })),
      }),
      schema: KumaIncidentHistory,
      error: 404,
      answer: onPage((snapshot, call) => {
        const cursor = queryOf(call.request).get("cursor") || null;
        return send(call, jsonRepresentation(historyOf(snapshot, cursor)));
      }),
    },
    {
      path: "/api/status-page/:slug/manifest.json",
      id: "getKumaManifest",
      summary: "Read the description of a page as an app",
      schema: KumaManifest,
      error: 404,
      answer: onPage((snapshot, call) => send(call, manifestOf(snapshot)), "Not Found"),
    },
    {
      path: "/api/status-page/:slug/badge",
      id: "getKumaPageBadge",
      summary: "Read the badge of a page",
      query: queryOfBadge(["maintenanceColor", "partialColor", "upColor", "downColor"]),
      answer: (call) =>
        badge(call, (query) => {
          const snapshot = find(call);
          return snapshot
            ? overallBadge(ctx.db, readEntries(ctx.db, snapshot), query)
            : emptyBadge(query);
        }),
    },
    {
      path: "/status/:slug/rss",
      id: "getKumaFeed",
      summary: "Read the RSS feed of a page",
      answers: { 308: MOVED },
      error: 404,
      answer: onPage((snapshot) => moved(snapshot.document.page.slug, "feed.rss")),
    },
    {
      path: "/api/entry-page",
      id: "getKumaEntryPage",
      summary: "Read the slug of the page at the root",
      schema: KumaEntryPage,
      answer(call) {
        const { requestContext: at } = call;
        const { slug } = at.domain ?? snapshots.defaultPage() ?? {};
        return whenCompatReady(snapshots, slug, at, () =>
          send(call, jsonRepresentation(entryPage(snapshots, at))),
        );
      },
    },
    ...["", "/:duration"].flatMap((end) =>
      Object.entries(ENTRY_BADGES)
        .filter(([name]) => end === "" || LASTING.has(name))
        .map(([name, make]) => ({
          path: `/api/badge/:number/${name}${end}`,
          id: `getKumaBadge${operationName(name)}${end === "" ? "" : "Of"}`,
          summary: `Read the badge of a component: ${name}`,
          query: queryOfBadge(BADGE_PARAMETERS[name] ?? TIME_PARAMETERS),
          error: 403 as const,
          answer: (call: Call) => {
            const number = Number.parseInt(call.params["number"] ?? "", 10);
            if (Number.isNaN(number)) return failed(403, "Invalid monitor ID");
            const { requestContext: at } = call;
            return whenEntryReady(ctx.db, snapshots, number, at, (): Answer => {
              const found = findEntry(ctx.db, snapshots, number, at);
              at.noteShown(found?.snapshot.document.page.id);
              const { duration } = call.params;
              try {
                return badge(call, (query) =>
                  found
                    ? make({ reader: ctx.db, entry: found.entry, query, duration, now: at.now })
                    : emptyBadge(query),
                );
              } catch (error) {
                if (error instanceof BadgeError) return failed(403, error.message);
                throw error;
              }
            });
          },
        })),
    ),
  ];

  const routes = declareRoutes();
  for (const read of reads) {
    const answer = (call: Call): Answer =>
      read.path.includes(":slug")
        ? whenCompatReady(snapshots, slugOf(call), call.requestContext, () => read.answer(call))
        : read.answer(call);
    routes.get(read.path, answer, declare(read));
    routes.get(`/compat/kuma${read.path}`, answer, declare(read, { id: undefined }));
  }
  return routes;
}

/** Badges with a duration in their path. */
const LASTING: ReadonlySet<string> = new Set(["uptime", "ping", "avg-response"]);

interface Read {
  path: string;
  id: string;
  summary: string;
  description?: string;
  /** Schema of JSON; without it the answer is a picture. */
  schema?: TSchema;
  answers?: Operation["answers"];
  query?: TObject;
  /** Status of its errors in the form of Uptime Kuma; undefined if it has none. */
  error?: 403 | 404;
  answer(call: Call): Answer;
}

/** Parameters of the badge of a component. */
const BADGE_PATH = {
  number: Type.String({
    description: "The number of the component, by which Uptime Kuma calls monitors.",
    examples: ["1"],
  }),
  duration: Type.String({
    description: "Hours, or a number with the unit m, h, d, w, M or y.",
    examples: ["24h"],
  }),
};

const TIME_PARAMETERS = ["labelPrefix", "labelSuffix", "prefix", "suffix", "color", "labelColor"];

/** Query parameters by the name of the badge, besides `label` and `style`. */
const BADGE_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  status: ["up", "down", "pending", "maintenance"].flatMap((status) => [
    `${status}Label`,
    `${status}Color`,
  ]),
  "cert-exp": [
    ...TIME_PARAMETERS.filter((name) => name !== "color"),
    "date",
    "warnDays",
    "downDays",
    "upColor",
    "warnColor",
    "downColor",
  ],
};

/** Returns the schema of a badge's query. What makes no sense has its default. */
function queryOfBadge(names: readonly string[]): TObject {
  const text = (name: string) => [name, Type.Optional(Type.String())] as const;
  return Type.Object({
    label: Type.Optional(Type.String({ description: "Text on the left." })),
    style: Type.Optional(
      Type.String({ description: `${BADGE_STYLES.join(", ")}. Any other text is flat.` }),
    ),
    ...Object.fromEntries(names.map(text)),
  });
}

const ERROR_DESCRIPTIONS = {
  403: "The number or the duration makes no sense.",
  404: "There is no such page.",
};

function declare({ id, summary, description, schema, answers, query, error }: Read, more = {}) {
  const picture = { description: "The badge.", schema: Type.String(), mediaType: SVG };
  const found = schema ? { description: `${summary}.`, schema } : picture;
  return operation({
    id,
    summary,
    description:
      `In the form of Uptime Kuma. Also below \`/compat/kuma\`. ${description ?? ""}`.trim(),
    tag: "Compatibility",
    access: { kind: "public" },
    path: BADGE_PATH,
    ...(query ? { query } : {}),
    onCustomDomain: "page",
    conditional: "etag",
    isCrossOrigin: true,
    answers: {
      ...(answers ?? { 200: found }),
      ...(error === undefined
        ? {}
        : { [error]: { description: ERROR_DESCRIPTIONS[error], schema: KumaError } }),
    },
    ...more,
  });
}

function entryPage(snapshots: Snapshots, at: RequestContext) {
  const { domain } = at;
  const { slug } = domain ?? snapshots.defaultPage() ?? {};
  const page = slug && findCompatPage(snapshots, "uptime-kuma", slug, at);
  at.isSealed = !page;
  if (!page) return { type: "entryPage", entryPage: "dashboard" };
  const current = page.document.page.slug;
  return domain
    ? { type: "statusPageMatchedDomain", statusPageSlug: current }
    : { type: "entryPage", entryPage: `statusPage-${current}` };
}

function operationName(name: string): string {
  return name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function send({ request, requestContext }: Call, made: Representation): Response {
  return made.respond(request, requestContext);
}

/** Sends a badge, with a policy because browsers open SVG as a document. */
function sendBadge(call: Call, content: BadgeContent): Response {
  const headers = { "Content-Security-Policy": "default-src 'none'" };
  return send(call, represent(drawBadge(content), SVG, { headers, cacheControl: RESULTS_CACHE }));
}

/** Returns an error in the form of Uptime Kuma. */
function failed(status: 403 | 404, msg: string): Response {
  const headers = { "Cache-Control": NO_STORE };
  return Response.json({ status: "fail", msg }, { status, headers });
}

/** `GET /compat/kuma/metrics`, for programs that read monitors from the metrics of Uptime Kuma. */
export function kumaMetricsRoutes(ctx: Ctx) {
  return declareRoutes().get(
    "/compat/kuma/metrics",
    async () => {
      const text = await kumaMetrics(ctx.db, ctx.clock.now());
      const type = "text/plain; version=0.0.4; charset=utf-8";
      return new Response(text, { headers: { "Content-Type": type, "Cache-Control": NO_STORE } });
    },
    operation({
      id: "getKumaMetrics",
      summary: "Read the monitors as metrics of Uptime Kuma",
      description:
        "All monitors that are not paused, in the text format of Prometheus. The key is sent as bearer token, or as the password of Basic authentication with any user name.",
      tag: "Metrics",
      access: { kind: "key", scopes: ["read:analytics"], takesBasic: true },
      answers: {
        200: {
          description: "The current metrics.",
          schema: Type.String(),
          mediaType: "text/plain",
        },
      },
    }),
  );
}
