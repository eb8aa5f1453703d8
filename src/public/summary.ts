import { type Static, Type } from "@sinclair/typebox";
import { uptimeOfDays } from "../features/components";
import { INDICATORS, type Snapshot } from "../features/status";
import type { ComponentStatus } from "../domain/component-status";
import { Nullable, OneOf } from "../kernel/schema";

const UPTIME_DAYS = 30;

/** A page in six figures, for widgets that can read no more than a flat object. */
export const Summary = Type.Object(
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
          "The share of the last 30 UTC days, today included, in which the components were up, all of them together. Null where nothing is known.",
        examples: [0.999712],
      }),
    ),
    open_incidents: Type.Integer(),
  },
  { title: "Summary", additionalProperties: false },
);
export type Summary = Static<typeof Summary>;

/**
 * Counts components by status. As in the uptime, those under maintenance are neither up nor down.
 */
export function summarize({ document, days, openIncidentCount }: Snapshot): Summary {
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
