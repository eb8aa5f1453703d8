import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type Cell, toCsv } from "../../base/csv";
import { Instant, Nullable, OneOf } from "../../base/schema";
import { type IntervalName, INTERVALS } from "./period";

/** Methods of the figures, as readers see them. */
export const METHODS = {
  uptimeOfComponents:
    "1 − (major outage + 0.3 × partial outage) ÷ (known time − maintenance), by time, from the component's causes. Degraded performance counts as up. A component is known from its start date or creation, except for time without data. The total covers all components. Rounded down to six decimals.",
  uptimeOfMonitors:
    "1 − down ÷ (up + degraded + down), by time, from the monitor's states. An outage starts at its first failed check. Time in which the monitor was pending, paused, unreachable through another one, in maintenance or without data is not counted. Rounded down to six decimals.",
  latency:
    "Response times of all checks with a response, good or bad, from minutes, hours and days that are rolled up, and from single results where none are. Quantiles are accurate to 2 %. They leave out imported sums of which there are no single results; mean, minimum and maximum count them.",
  incidents:
    "Published incidents by their start. Times to identify and to resolve are means, from the start, of the identified and of the resolved incidents. The longest includes an open incident with its duration so far.",
  requests:
    "Requests that were accepted with the key or rejected by its limit, by clock hour; by default after 35 days by whole day, in its first hour. Responses of 500 and more are faults of the server and not counted. The last five seconds may be missing.",
} as const;

const Milliseconds = (description: string) => Type.Integer({ minimum: 0, description });

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const NullableNumber = (description: string) => Nullable(Type.Number({ minimum: 0, description }));

const LINE = { from: Instant, to: Instant };

/** Returns the schema of an answer: period, method, total and lines. */
function AnswerOf<Figures extends TProperties, Line extends TProperties>(
  title: string,
  figures: Figures,
  line: Line,
) {
  return Type.Object(
    {
      from: Instant,
      to: Type.Unsafe<string>({ ...Instant, description: "Exclusive; never in the future." }),
      interval: Nullable(OneOf(INTERVALS)),
      method: Type.String({ description: "Calculation method, in a sentence." }),
      total: Type.Object(figures, { description: "Figures of the whole period." }),
      data: Type.Array(Type.Object(line), {
        description: "A line for each subject and interval, subject by subject, oldest first.",
      }),
    },
    { title },
  );
}

const uptimeFigures = {
  uptime: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "1 − down_ms ÷ counted_ms, rounded down; null without known time.",
      examples: [0.999712],
    }),
  ),
  counted_ms: Milliseconds("Known time without maintenance."),
  down_ms: Type.Number({
    minimum: 0,
    description:
      "Time that counts as down: for components major outages, and partial ones times 0.3.",
  }),
  degraded_ms: Milliseconds("Degraded time, which counts as up."),
  partial_outage_ms: Nullable(Milliseconds("Null for a monitor.")),
  major_outage_ms: Nullable(Milliseconds("Null for a monitor.")),
  maintenance_ms: Milliseconds("Under maintenance."),
  no_data_ms: Milliseconds("Time without data."),
};

export const UptimeLine = Type.Object({
  kind: OneOf(["component", "monitor"]),
  id: Type.String({ examples: ["cmp_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  name: Type.String({ examples: ["Checkout API"] }),
  page: Nullable(Type.String({ description: "The page's slug; null for a monitor." })),
  ...LINE,
  ...uptimeFigures,
});

export type UptimeLine = Static<typeof UptimeLine>;

export const UptimeAnswer = AnswerOf("UptimeAnalytics", uptimeFigures, UptimeLine.properties);

export type UptimeAnswer = Static<typeof UptimeAnswer>;

export type UptimeFigures = UptimeAnswer["total"];

const latencyFigures = {
  checks: Count("Checks with a known outcome."),
  failures: Count("Failed checks."),
  count: Count("Checks with a response, from which the response times are calculated."),
  avg_ms: NullableNumber("Mean. Null without a response, like the following figures."),
  min_ms: NullableNumber("Shortest."),
  max_ms: NullableNumber("Longest."),
  p50_ms: NullableNumber("The median."),
  p90_ms: NullableNumber("The 90th percentile."),
  p95_ms: NullableNumber("The 95th percentile."),
  p99_ms: NullableNumber("The 99th percentile."),
};

export const LatencyLine = Type.Object({
  id: Type.String({ examples: ["mon_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  name: Type.String({ examples: ["Shop"] }),
  ...LINE,
  ...latencyFigures,
});

export const LatencyAnswer = AnswerOf("LatencyAnalytics", latencyFigures, LatencyLine.properties);

export type LatencyAnswer = Static<typeof LatencyAnswer>;

const incidentFigures = {
  count: Count("Incidents that started."),
  none: Count("With the impact none."),
  minor: Count("With the impact minor."),
  major: Count("With the impact major."),
  critical: Count("With the impact critical."),
  identified: Count("Identified incidents."),
  time_to_identify_ms: NullableNumber("Mean; null without identified incidents."),
  resolved: Count("Resolved incidents."),
  time_to_resolve_ms: NullableNumber("Mean; null without resolved incidents."),
  longest_ms: NullableNumber("Duration of the longest incident, until now if it is open."),
  longest_id: Nullable(Type.String({ description: "Id of the longest incident." })),
};

export const IncidentsLine = Type.Object({ ...LINE, ...incidentFigures });

export const IncidentsAnswer = AnswerOf(
  "IncidentAnalytics",
  incidentFigures,
  IncidentsLine.properties,
);

export type IncidentsAnswer = Static<typeof IncidentsAnswer>;

export type IncidentFigures = IncidentsAnswer["total"];

const requestFigures = {
  total: Count("Counted responses."),
  ok: Count("2xx and 3xx."),
  client_error: Count("4xx except 429."),
  limited: Count("429: rejected by the key's rate limit."),
};

export const RequestsLine = Type.Object({
  id: Type.String({ examples: ["key_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  name: Type.String({ examples: ["Deploys"] }),
  ...LINE,
  ...requestFigures,
  last_used_at: Nullable(Instant),
});

export const RequestsAnswer = AnswerOf("RequestAnalytics", requestFigures, RequestsLine.properties);

export type RequestsAnswer = Static<typeof RequestsAnswer>;

export type RequestFigures = RequestsAnswer["total"];

/** Figures with their period and method. */
export interface Answer<Row> {
  from: string;
  to: string;
  interval: IntervalName | null;
  /** Method of counting, in words. */
  method: string;
  data: Row[];
}

/**
 * Returns an answer as CSV, with the fields of the line's schema as columns and the method as the
 * last one.
 */
export function answerToCsv<Row extends object>(line: TObject, answer: Answer<Row>): string {
  const columns = Object.keys(line.properties);
  const rows = answer.data.map((row) => {
    const cells = row as Record<string, Cell>;
    return [...columns.map((column) => cells[column] ?? null), answer.method];
  });
  return toCsv([...columns, "method"], rows);
}
