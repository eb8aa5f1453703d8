import type { Maintenance } from "../features/maintenance";
import type { StatusDocument } from "../features/status";
import type { HtmlDocument } from "../ui";
import { ClockTime } from "./clock-time";
import { Facts } from "./facts";
import { plainText } from "./markdown";
import { contextOf, renderPage } from "./page-document";
import { MaintenanceState } from "./state";
import { Names } from "./text";
import { UpdateList } from "./update-list";

/** One maintenance with all that was told of it. */
export function renderMaintenancePage(
  document: StatusDocument,
  maintenance: Maintenance,
): HtmlDocument {
  const context = contextOf(document);
  const { page, paths, times } = context;
  const { components, started_at: startedAt, completed_at: completedAt } = maintenance;
  const { scheduled_for: from, scheduled_until: until, updates } = maintenance;
  return renderPage({
    context,
    title: maintenance.name,
    path: paths.maintenance(maintenance.id),
    description: plainText(updates[0]?.body ?? "", 200),
    children: (
      <article>
        <header class="title">
          <h1>{maintenance.name}</h1>
          <MaintenanceState maintenance={maintenance} />
        </header>
        <Facts
          items={[
            { label: "Planned", value: <ClockTime at={from} until={until} times={times} /> },
            {
              label: "Began",
              value: startedAt === null ? null : <ClockTime at={startedAt} times={times} />,
            },
            {
              label: "Ended",
              value: completedAt === null ? null : <ClockTime at={completedAt} times={times} />,
            },
            {
              label: "Affects",
              value:
                components.length === 0 ? null : (
                  <Names
                    names={components.map(({ name }) => name)}
                    most={Number.POSITIVE_INFINITY}
                  />
                ),
            },
          ]}
        />
        {page.visibility === "public" ? (
          <p class="more">
            <a href={paths.calendar}>Add this page's maintenance to a calendar</a>
          </p>
        ) : null}
        <section aria-labelledby="updates">
          <h2 class="section-title" id="updates">
            Updates
          </h2>
          <div class="card story">
            <UpdateList updates={updates} times={times} topHeading={3} />
          </div>
        </section>
      </article>
    ),
  });
}
