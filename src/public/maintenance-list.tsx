import { isUnderWay, type Maintenance } from "../features/maintenance";
import { ClockTime } from "./clock-time";
import type { PageContext } from "./page-document";
import { MaintenanceState } from "./state";
import { MarkdownText, Names } from "./text";
import { UpdateList } from "./update-list";

const UPDATES_SHOWN = 5;
const NAMES_SHOWN = 8;

/** What is being worked on, and what is planned. */
export function MaintenanceList(props: {
  maintenance: readonly Maintenance[];
  context: PageContext;
}) {
  const { maintenance, context } = props;
  if (maintenance.length === 0) return null;
  return (
    <section aria-labelledby="maintenance">
      <div class="section-head">
        <h2 class="section-title" id="maintenance">
          Maintenance
        </h2>
        {context.page.visibility === "public" ? (
          <a class="top-link" href={context.paths.calendar}>
            Add to calendar
          </a>
        ) : null}
      </div>
      {maintenance.map((one) => (
        <MaintenanceCard key={one.id} maintenance={one} context={context} />
      ))}
    </section>
  );
}

function MaintenanceCard(props: { maintenance: Maintenance; context: PageContext }) {
  const { maintenance, context } = props;
  const { id, name, components, updates, scheduled_for: at, scheduled_until: until } = maintenance;
  const { paths, times } = context;
  return (
    <article class="card story">
      <div class="story-head">
        <h3>
          <a href={paths.maintenance(id)}>{name}</a>
        </h3>
        <MaintenanceState maintenance={maintenance} />
      </div>
      <p class="muted">
        <ClockTime at={at} until={until} times={times} />
        {components.length > 0 ? (
          <>
            {" · affects "}
            <Names names={components.map((component) => component.name)} most={NAMES_SHOWN} />
          </>
        ) : null}
      </p>
      {isUnderWay(maintenance.status) ? (
        <UpdateList updates={updates.slice(0, UPDATES_SHOWN)} times={times} topHeading={4} />
      ) : (
        <MarkdownText source={updates[0]?.body ?? ""} topHeading={4} />
      )}
    </article>
  );
}
