import { type Static, Type } from "@sinclair/typebox";
import { makeInSlices } from "../base/in-slices";
import { Nullable, OneOf } from "../base/schema";
import type { ComponentStatus } from "../base/status";
import type { Ctx } from "../context";
import { uptimeOfDays } from "../features/components/rules";
import { INDICATORS } from "../base/status";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { originalOf } from "./chosen-language";
import { createDocumentSender, jsonRepresentation, PUBLIC_JSON } from "./site";
import type { Visitors } from "./visitors";

/** Six figures of a page. */
const Summary = Type.Object(
  {
    status: OneOf(INDICATORS, { description: "The headline's indicator." }),
    description: Type.String({ examples: ["All Systems Operational"] }),
    up: Type.Integer({ description: "Components that are operational or degraded." }),
    down: Type.Integer({ description: "Components in a partial or a major outage." }),
    uptime_30d: Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          "Uptime of all components together in the last 30 UTC days, including today. Null without known time.",
        examples: [0.999712],
      }),
    ),
    open_incidents: Type.Integer(),
  },
  { title: "Summary", additionalProperties: false },
);

/** Summary of a page, `/status/{slug}/summary.json`, for widgets that only read flat objects. */
export function summaryRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  const jsonOf = makeInSlices(function* (snapshot: Snapshot) {
    for (const { id } of snapshot.document.components) {
      snapshot.daysOf(id);
      yield 1;
    }
    // The page may have become private or public meanwhile.
    visitors.readAgain(snapshot);
    return jsonRepresentation(summarize(snapshot));
  });
  const send = createDocumentSender(ctx, snapshots, visitors);
  return declareRoutes().get(
    "/status/:slug/summary.json",
    // Programs read the same in every language.
    (call) => send(call.params.slug, call, (snapshot) => jsonOf(originalOf(snapshot))),
    operation({
      ...PUBLIC_JSON,
      id: "getSummary",
      summary: "Read the summary of a page",
      description: "Six figures, for widgets that can read only flat objects.",
      answers: { 200: { description: "The figures.", schema: Summary } },
    }),
  );
}

const UPTIME_DAYS = 30;

/** Returns the figures of a page. As in the uptime, components under maintenance are neither up nor down. */
export function summarize({ document, days, openIncidentCount }: Snapshot): Static<typeof Summary> {
  const count = (...statuses: ComponentStatus[]) =>
    document.components.filter(({ status }) => statuses.includes(status)).length;
  return {
    status: document.status.indicator,
    description: document.status.description,
    up: count("operational", "degraded_performance"),
    down: count("partial_outage", "major_outage"),
    uptime_30d: uptimeOfDays([...days.values()].flatMap((own) => own.slice(-UPTIME_DAYS))),
    open_incidents: openIncidentCount,
  };
}
