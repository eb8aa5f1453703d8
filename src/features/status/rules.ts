import {
  type ComponentStatus,
  type Impact,
  IMPACT_TONES,
  type Indicator,
  INDICATOR_TONES,
  INDICATORS,
  STATUS_TONES,
  type Tone,
  worstTone,
} from "../../base/status";
import { type MessageKey, wordsOf } from "../../languages/words";

/** Indicator and sentence that summarise a page. */
export interface Headline {
  indicator: Indicator;
  description: string;
}

const ALL_CLEAR: Headline = { indicator: "none", description: "All Systems Operational" };

const HEADLINE_OF: Record<Impact, Headline> = {
  none: ALL_CLEAR,
  minor: { indicator: "minor", description: "Minor Service Outage" },
  major: { indicator: "major", description: "Partial System Outage" },
  critical: { indicator: "critical", description: "Major System Outage" },
};

/**
 * Returns the headline of a page: the worse of that of its component statuses and that of the
 * impacts of its published open incidents. If both are equally bad, that of the components, which
 * is more specific.
 */
export function headlineOf(
  statuses: readonly ComponentStatus[],
  openImpacts: Iterable<Impact> = [],
): Headline {
  let worst = headlineOfComponents(statuses);
  for (const impact of openImpacts) {
    const headline = HEADLINE_OF[impact];
    if (severityOf(headline) > severityOf(worst)) worst = headline;
  }
  return worst;
}

function severityOf({ indicator }: Headline): number {
  return INDICATORS.indexOf(indicator);
}

/** Returns the headline of component statuses, with Atlassian Statuspage's sentences. */
function headlineOfComponents(statuses: readonly ComponentStatus[]): Headline {
  const count = (status: ComponentStatus) => statuses.filter((s) => s === status).length;
  const total = statuses.length;
  if (total === 0) return ALL_CLEAR;
  const major = count("major_outage");
  const partial = count("partial_outage");
  const degraded = count("degraded_performance");
  if (major === total) return { indicator: "critical", description: "Major System Outage" };
  if (major > 0 || partial === total) {
    return { indicator: "major", description: "Partial System Outage" };
  }
  if (partial > 0) return { indicator: "minor", description: "Minor Service Outage" };
  if (degraded === total) return { indicator: "minor", description: "Degraded System Service" };
  if (degraded > 0) return { indicator: "minor", description: "Partially Degraded Service" };
  if (count("under_maintenance") > 0) {
    return { indicator: "maintenance", description: "Service Under Maintenance" };
  }
  return ALL_CLEAR;
}

/** A headline with the statuses and impacts that it is made from, such as a status document. */
export interface HeadlineFacts {
  status: Headline;
  components: readonly { status: ComponentStatus }[];
  incidents: readonly { impact: Impact }[];
}

/**
 * Returns the tone of a page's headline: the worst of its components and of the impacts of its open
 * incidents. A page with neither has none. The indicator counts for incidents that are not listed.
 */
export function toneOf({ status, components, incidents }: HeadlineFacts): Tone {
  if (components.length + incidents.length === 0) return "none";
  return worstTone([
    INDICATOR_TONES[status.indicator],
    ...components.map((component) => STATUS_TONES[component.status]),
    ...incidents.map(({ impact }) => IMPACT_TONES[impact]),
  ]);
}

/** A headline, and the components of its page. */
interface ShownHeadline {
  status: Headline;
  components: readonly unknown[];
}

/** Messages for the headlines of pages, by the sentences of the API. */
const HEADLINES: Readonly<Record<string, MessageKey>> = {
  "All Systems Operational": "headline.operational",
  "Service Under Maintenance": "headline.maintenance",
  "Partially Degraded Service": "headline.partly_degraded",
  "Degraded System Service": "headline.degraded",
  "Minor Service Outage": "headline.minor",
  "Partial System Outage": "headline.partial",
  "Major System Outage": "headline.major",
};

/** Returns the message for the headline of a page. */
export function headlineKey({
  status: { description, indicator },
  components,
}: ShownHeadline): MessageKey {
  if (components.length === 0 && indicator === "none") return "headline.empty";
  const key = HEADLINES[description];
  if (key === undefined) throw new Error(`there is no message for ${description}`);
  return key;
}

/** Returns the headline of a page in English, for the dashboard: "All systems operational". */
export function headlineText(document: ShownHeadline): string {
  return wordsOf("en").t(headlineKey(document));
}
