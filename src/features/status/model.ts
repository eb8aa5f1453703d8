import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Instant, Nullable, OneOf } from "../../kernel/schema";
import { Component, ComponentGroup } from "../components";
import { Page } from "../pages";
import { INDICATORS } from "./rules";

export const HeadlineModel = Type.Object(
  {
    indicator: OneOf(INDICATORS, { description: "Best to worst, in this order." }),
    description: Type.String({ examples: ["All Systems Operational"] }),
  },
  { title: "Headline" },
);

/** A page with its headline: one line of `GET /api/v1/status`. */
export const PageStatus = Type.Object(
  { page: Page, status: HeadlineModel },
  { title: "PageStatus" },
);

/** A component in the status document: with its uptime. */
export const StatusComponent = Type.Composite(
  [
    Component,
    Type.Object({
      uptime_90d: Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description:
            "The share of the last 90 UTC days, today included, in which it was up: 1 − (major + 0.3 × partial) ÷ (known − maintenance), in time. Null where nothing is known.",
          examples: [0.999712],
        }),
      ),
    }),
  ],
  { title: "StatusComponent" },
);
export type StatusComponent = Static<typeof StatusComponent>;

const NothingYet = (what: string): TSchema =>
  Type.Array(Type.Object({}), { maxItems: 0, description: what });

/** All that a page shows: `GET /api/v1/status/{slug}`. */
export const StatusDocument = Type.Object(
  {
    page: Page,
    status: HeadlineModel,
    groups: Type.Array(ComponentGroup),
    components: Type.Array(StatusComponent, { description: "In the page's order." }),
    incidents: NothingYet("Open incidents. This version records none, so the list is empty."),
    maintenance: NothingYet("Maintenance. This version plans none, so the list is empty."),
    updated_at: Instant,
  },
  { title: "StatusDocument" },
);

/** The status document, as it is built. */
export interface StatusDocument {
  page: Page;
  status: Static<typeof HeadlineModel>;
  groups: ComponentGroup[];
  components: StatusComponent[];
  incidents: [];
  maintenance: [];
  updated_at: string;
}
