import type { Maintenance } from "../features/maintenance/model";
import type { StatusDocument } from "../features/status/model";
import type { HtmlDocument } from "../ui/documents";
import { ClockTime } from "./page-times";
import { plainText } from "../base/markdown";
import { contextOf, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import { createTextBudget } from "./text-budget";
import { MaintenanceState } from "./state";
import { Names } from "./text";
import { ALL_UPDATES, Facts, PERMALINK_BYTES, type UpdatePart, Updates } from "./permalink-parts";

/** Renders a maintenance with a part of its updates. */
export function renderMaintenancePage(
  document: StatusDocument,
  maintenance: Maintenance,
  part: UpdatePart = ALL_UPDATES,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const pathOf = (before?: string) => context.paths.maintenance(maintenance.id, before);
  const budget = createTextBudget(PERMALINK_BYTES, context.renderText, 3);
  const { page, paths, times } = context;
  const { components, started_at: startedAt, completed_at: completedAt } = maintenance;
  const { scheduled_for: from, scheduled_until: until, updates } = maintenance;
  return renderPage({
    context,
    title: maintenance.name,
    path: pathOf(part.before),
    description: plainText(updates[0]?.body ?? "", 200),
    children: (
      <article>
        <header class="title">
          <h1>{maintenance.name}</h1>
          <MaintenanceState maintenance={maintenance} />
        </header>
        <Facts
          items={[
            { label: "Planned time", value: <ClockTime at={from} until={until} times={times} /> },
            {
              label: "Started",
              value: startedAt === null ? null : <ClockTime at={startedAt} times={times} />,
            },
            {
              label: "Ended",
              value: completedAt === null ? null : <ClockTime at={completedAt} times={times} />,
            },
            {
              label: "Affected components",
              value:
                components.length === 0 ? null : (
                  <Names
                    names={components.map(({ name }) => name)}
                    max={Number.POSITIVE_INFINITY}
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
        <Updates updates={updates} part={part} context={context} budget={budget} pathOf={pathOf} />
      </article>
    ),
  });
}
