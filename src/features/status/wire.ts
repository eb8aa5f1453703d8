import { type Static, Type } from "@sinclair/typebox";
import { Instant, Nullable, OneOf } from "../../base/schema";
import { Component, ComponentGroup } from "../components/wire";
import { Incident } from "../incidents/wire";
import { Maintenance } from "../maintenance/wire";
import { Page } from "../pages/wire";
import { INDICATORS } from "../../base/status";

const HeadlineModel = Type.Object(
  {
    indicator: OneOf(INDICATORS, { description: "Best to worst, in this order." }),
    description: Type.String({ examples: ["All Systems Operational"] }),
  },
  { title: "Headline" },
);

/** A page with its headline: one entry of `GET /api/v1/status`. */
export const PageStatus = Type.Object(
  { page: Page, status: HeadlineModel },
  { title: "PageStatus" },
);

/** A component in the status document: with its uptime. */
const StatusComponent = Type.Composite(
  [
    Component,
    Type.Object({
      uptime_90d: Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            "Uptime of the last 90 UTC days, including today: 1 − (major + 0.3 × partial) ÷ (known − maintenance), by time. Time without data is not known. Null without known time.",
          examples: [0.999712],
        }),
      ),
      because: Nullable(
        Type.Object(
          {
            name: Type.String({ examples: ["Cloudflare: DNS"] }),
            url: Type.String({ description: "Status page of the provider." }),
          },
          { title: "Because" },
        ),
      ),
    }),
  ],
  { title: "StatusComponent" },
);
type StatusComponent = Static<typeof StatusComponent>;

/** Everything that a page shows: `GET /api/v1/status/{slug}`. */
export const StatusDocument = Type.Object(
  {
    page: Page,
    status: HeadlineModel,
    groups: Type.Array(ComponentGroup),
    components: Type.Array(StatusComponent, { description: "In the page's order." }),
    incidents: Type.Array(Incident, {
      description:
        "Published open incidents, newest first: at most 50, each with its 20 newest updates.",
    }),
    maintenance: Type.Array(Maintenance, {
      description:
        "Maintenance in progress, then that starting within 30 days, each by planned start: at most 100, each with its 20 newest updates.",
    }),
    updated_at: Instant,
  },
  { title: "StatusDocument" },
);
export type StatusDocument = Omit<
  Static<typeof StatusDocument>,
  "page" | "incidents" | "maintenance"
> & {
  page: Page;
  incidents: Incident[];
  maintenance: Maintenance[];
};
