import { Elysia } from "elysia";
import { listAllPages } from "../../features/pages";
import { type Headline, type Indicator, type Snapshots } from "../../features/status";
import { operation, session } from "../../http";
import type { ComponentStatus } from "../../kernel/component-status";
import { Cell, CellNote, EmptyState, PageHead, Row, StatusShape, Table } from "../../ui";
import { type AdminParts, screen } from "../parts";

interface PageLine {
  slug: string;
  name: string;
  isPublic: boolean;
  isSample: boolean;
  status: Headline;
  componentCount: number;
}

/** The first screen: every status page and how it is. */
export function overviewScreens({ ctx, admissions, screens }: AdminParts, snapshots: Snapshots) {
  function readPages(now: number): PageLine[] {
    return listAllPages(ctx.db, {}).flatMap((page) => {
      const document = snapshots.read(page.slug, now)?.document;
      if (!document) return [];
      const { status, components } = document;
      const { slug, name, isSample } = page;
      const isPublic = page.visibility === "public";
      return [{ slug, name, isPublic, isSample, status, componentCount: components.length }];
    });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/admin",
      async ({ request, admission }) =>
        screens.show(
          { request, admission },
          { title: "Overview", children: <Overview pages={readPages(admission.now)} /> },
        ),
      operation(screen("Every status page and how it is", session("viewer"))),
    );
}

const SHAPES: Record<Indicator, ComponentStatus> = {
  none: "operational",
  maintenance: "under_maintenance",
  minor: "partial_outage",
  major: "major_outage",
  critical: "major_outage",
};

const COLUMNS = [{ label: "Page" }, { label: "Status" }, { label: "Components", isNumeric: true }];

function Overview({ pages }: { pages: readonly PageLine[] }) {
  return (
    <>
      <PageHead title="Overview" />
      {pages.length === 0 ? (
        <EmptyState title="No status page yet">
          Describe one in a file and run <code>allclear apply status.yaml</code>.
        </EmptyState>
      ) : (
        <Table columns={COLUMNS} caption="Status pages">
          {pages.map((page) => (
            <Row key={page.slug}>
              <Cell>
                {page.isPublic ? <a href={`/status/${page.slug}`}>{page.name}</a> : page.name}
                <CellNote>{describePage(page)}</CellNote>
              </Cell>
              <Cell label="Status">
                <span class={`state is-${page.status.indicator}`}>
                  <StatusShape status={SHAPES[page.status.indicator]} />
                  {page.status.description}
                </span>
              </Cell>
              <Cell label="Components" isNumeric>
                {page.componentCount}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </>
  );
}

function describePage({ slug, isPublic, isSample }: PageLine): string {
  const path = `/status/${slug}`;
  if (isSample) return `${path} · the sample of a first run`;
  return isPublic ? path : `${path} · private`;
}
