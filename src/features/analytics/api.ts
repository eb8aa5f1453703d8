import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { InstantText, OneOf, Text } from "../../base/schema";
import type { Ctx } from "../../context";
import { declareRoutes } from "../../http/elysia";
import { operation, scope } from "../../http/operation";
import { NO_STORE, Representation } from "../../http/representation";
import type { RequestContext } from "../../http/request-context";
import { ComponentFilter, REFERENCE_MAX } from "../components/references";
import { LocationReference } from "../locations/wire";
import { readLocationFilter } from "../monitors/monitor-locations";
import { incidentsAnswer, latencyAnswer, requestsAnswer, uptimeAnswer } from "./analytics";
import { DEFAULT_DAYS, INTERVALS, LINES_MAX, readPeriod } from "./period";
import { findSubject } from "./subject";
import {
  type Answer,
  answerToCsv,
  IncidentsAnswer,
  IncidentsLine,
  LatencyAnswer,
  LatencyLine,
  RequestsAnswer,
  RequestsLine,
  UptimeAnswer,
  UptimeLine,
} from "./wire";

const PERIOD = {
  from: Type.Optional(
    InstantText({
      description: `Start of the period; by default ${DEFAULT_DAYS} UTC days before its end, including the last day.`,
    }),
  ),
  to: Type.Optional(InstantText({ description: "End of the period, exclusive; at most now." })),
  interval: Type.Optional(
    OneOf(INTERVALS, {
      description: "Hours, days or months in UTC; by default the whole period is one interval.",
    }),
  ),
};

const named = (description: string) =>
  Type.Optional(Text({ maxLength: REFERENCE_MAX, description }));

const SubjectQuery = Type.Object(
  {
    page: named("Only this page: slug or id. At most one of page, component and monitor."),
    ...ComponentFilter,
    monitor: named("Only this monitor: its id or `ref`."),
    ...PERIOD,
  },
  { additionalProperties: false },
);

const LatencyQuery = Type.Object(
  { ...SubjectQuery.properties, location: Type.Optional(LocationReference) },
  { additionalProperties: false },
);

const KeyQuery = Type.Object(
  { key: named("Only the key of this id."), ...PERIOD },
  { additionalProperties: false },
);

const DESCRIPTION = `With \`Accept: text/csv\` the lines are sent as CSV with the method as the last column; cells that a spreadsheet would run as formulas start with an apostrophe. An answer has at most ${LINES_MAX} lines.`;

/** Declares one of the four routes, which answer in JSON and CSV. */
function declare(id: string, summary: string, more: string, schema: TSchema) {
  return operation({
    id,
    summary,
    description: `${more} ${DESCRIPTION}`,
    tag: "Analytics",
    access: scope("read:analytics"),
    answers: { 200: { description: "The figures.", schema, alsoAs: ["text/csv"] } },
    conditional: "etag",
  });
}

/** `/api/v1/analytics/…`: figures, as JSON or as CSV. */
export function analyticsRoutes(ctx: Ctx) {
  return declareRoutes("/api/v1/analytics")
    .get(
      "/uptime",
      ({ query, request, requestContext }) => {
        const period = readPeriod(query, requestContext.now);
        const answer = uptimeAnswer(ctx.db, findSubject(ctx.db, query), period);
        return send(request, requestContext, "uptime", UptimeLine, answer);
      },
      {
        query: SubjectQuery,
        ...declare(
          "getUptimeAnalytics",
          "Read uptime",
          "Uptime of all components, or of one monitor, by interval.",
          UptimeAnswer,
        ),
      },
    )
    .get(
      "/latency",
      ({ query, request, requestContext }) => {
        const period = readPeriod(query, requestContext.now);
        const location = readLocationFilter(ctx.db, query)?.id;
        const answer = latencyAnswer(ctx.db, findSubject(ctx.db, query), period, location);
        return send(request, requestContext, "latency", LatencyLine, answer);
      },
      {
        query: LatencyQuery,
        ...declare(
          "getLatencyAnalytics",
          "Read response times",
          "Response times of each monitor by interval, for at most 20 monitors, from all locations together or from one.",
          LatencyAnswer,
        ),
      },
    )
    .get(
      "/incidents",
      ({ query, request, requestContext }) => {
        const period = readPeriod(query, requestContext.now);
        const subject = findSubject(ctx.db, query);
        const answer = incidentsAnswer(ctx.db, subject, period, requestContext.now);
        return send(request, requestContext, "incidents", IncidentsLine, answer);
      },
      {
        query: SubjectQuery,
        ...declare(
          "getIncidentAnalytics",
          "Read figures of incidents",
          "Figures of published incidents: of a page, of all that ever named a component, or of all that a monitor opened.",
          IncidentsAnswer,
        ),
      },
    )
    .get(
      "/requests",
      ({ query, request, requestContext }) => {
        const answer = requestsAnswer(ctx.db, query, requestContext.now);
        return send(request, requestContext, "requests", RequestsLine, answer);
      },
      {
        query: KeyQuery,
        ...declare(
          "getRequestAnalytics",
          "Read the use of API keys",
          "Responses to all keys, including revoked ones, by interval, newest key first.",
          RequestsAnswer,
        ),
      },
    );
}

/** Sends CSV if the caller prefers it, else JSON. */
function send<Row extends object>(
  request: Request,
  requestContext: RequestContext,
  name: string,
  line: TObject,
  answer: Answer<Row>,
): Response {
  const isCsv = prefersCsv(request.headers.get("accept"));
  const content = isCsv ? answerToCsv(line, answer) : JSON.stringify(answer);
  return new Representation(content, {
    mediaType: isCsv ? "text/csv; charset=utf-8; header=present" : "application/json",
    cacheControl: NO_STORE,
    headers: {
      Vary: "Accept, Accept-Encoding",
      ...(isCsv ? { "Content-Disposition": `attachment; filename="${name}.csv"` } : {}),
    },
  }).respond(request, requestContext);
}

/** Returns true if an Accept header (RFC 9110) prefers text/csv to JSON. JSON wins a tie. */
function prefersCsv(accept: string | null): boolean {
  if (accept === null) return false;
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((part) => {
      const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  // The most specific matching range decides.
  const weightOf = (type: string) => {
    const [family] = type.split("/");
    for (const desired of [type, `${family}/*`, "*/*"]) {
      const entry = ranges.find(({ range }) => range === desired);
      if (entry) return entry.weight;
    }
    return 0;
  };
  return weightOf("text/csv") > weightOf("application/json");
}
