import { COMPONENT_STATUSES, type ComponentStatus, STATUS_TONES, type Tone } from "../base/status";
import type { Snapshot } from "../features/status/snapshot";
import { plural } from "../base/text";
import { toIso } from "../base/time";
import { Icon } from "../ui/icons";
import { Shape, State } from "../ui/labels";
import { StatusRing } from "../ui/pictures";
import { isNew, shownComponents } from "./component-list";
import { ClockTime } from "./page-times";
import type { PageContext } from "./page-context";

/** Maximum number of components that the sentence names. */
const BANNER_NAMES_SHOWN = 2;

type Component = Snapshot["document"]["components"][number];

interface BannerProps {
  snapshot: Snapshot;
  context: PageContext;
  /** Time of the data, in unix ms. */
  now: number;
}

/** Headline of a page with its mark, a sentence about its components, and their number by status. */
export function Banner({ snapshot, context, now }: BannerProps) {
  const { headline, tone, times, copy } = context;
  const components = shownComponents(snapshot);
  const tally = tallyOf(components);
  return (
    <section class={`banner t-${tone}`} id="banner" aria-label="Status now">
      <div class="banner-now">
        <Mark tone={tone} />
        <div>
          <h1>{headline}</h1>
          <p>
            <Sentence snapshot={snapshot} />
          </p>
        </div>
      </div>
      <div class="banner-foot">
        {tally.length === 0 ? null : (
          <ul class="tally">
            {tally.map(({ status, count }) => (
              <li>
                <State tone={STATUS_TONES[status]}>
                  {count} {COUNTED[status](count)}
                </State>
              </li>
            ))}
          </ul>
        )}
        <span>
          As of <ClockTime at={toIso(copy?.madeAt ?? now)} times={times} /> <span data-live-note />
        </span>
      </div>
    </section>
  );
}

/** Ring with the shape of the tone in it, or with a tick if all is well. */
function Mark({ tone }: { tone: Tone }) {
  return (
    <span class={`mark t-${tone}`}>
      <StatusRing tone={tone} />
      {tone === "ok" ? <Icon name="check" /> : <Shape tone={tone} />}
    </span>
  );
}

/** Words after the number of components with a status. */
const COUNTED: Record<ComponentStatus, (count: number) => string> = {
  operational: () => "operational",
  under_maintenance: () => "under maintenance",
  degraded_performance: () => "degraded",
  partial_outage: (count) => (count === 1 ? "partial outage" : "partial outages"),
  major_outage: (count) => (count === 1 ? "major outage" : "major outages"),
};

/** Predicates of a sentence about components with a status. */
const PREDICATES: Record<ComponentStatus, { one: string; many: string }> = {
  operational: { one: "is operational", many: "are operational" },
  under_maintenance: { one: "is under maintenance", many: "are under maintenance" },
  degraded_performance: { one: "is degraded", many: "are degraded" },
  partial_outage: { one: "has a partial outage", many: "have a partial outage" },
  major_outage: { one: "has a major outage", many: "have a major outage" },
};

/** Returns the number of components by status, worst first. */
function tallyOf(components: readonly Component[]): { status: ComponentStatus; count: number }[] {
  return COMPONENT_STATUSES.toReversed()
    .map((status) => ({
      status,
      count: components.filter((component) => component.status === status).length,
    }))
    .filter(({ count }) => count > 0);
}

/** Sentence that names the components with the worst status and counts other affected ones. Includes hidden ones. */
function Sentence({ snapshot }: { snapshot: Snapshot }) {
  const { components } = snapshot.document;
  const [worst] = tallyOf(components);
  const open = snapshot.openIncidentCount;
  if (!worst)
    return <>{open > 0 ? `${plural(open, "open incident")}.` : "This page has no components."}</>;
  if (worst.status === "operational") {
    if (open > 0) return <>{plural(open, "open incident")}. All components are operational.</>;
    return (
      <>{isNew(components, snapshot) ? "Watched since today." : "Everything works as usual."}</>
    );
  }
  const named = components.filter(({ status }) => status === worst.status);
  const affected = components.filter(({ status }) => status !== "operational").length;
  const others = affected - named.length;
  const { one, many } = PREDICATES[worst.status];
  return (
    <>
      {named.length > BANNER_NAMES_SHOWN
        ? plural(named.length, "component")
        : named.map(({ name }, index) => (
            <>
              {index > 0 ? " and " : ""}
              <bdi>{name}</bdi>
            </>
          ))}{" "}
      {named.length === 1 ? one : many}.
      {others > 0
        ? ` ${others} more ${others === 1 ? "component is" : "components are"} affected.`
        : affected < components.length
          ? " Everything else works as usual."
          : ""}
    </>
  );
}
