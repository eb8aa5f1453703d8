import type { Headline } from "../../features/status";
import { Cell, CellNote, EmptyState, IndicatorShape, PageHead, Row, Table } from "../../ui";

/** A status page as the overview lists it. */
export interface PageLine {
  slug: string;
  name: string;
  isPublic: boolean;
  isSample: boolean;
  status: Headline;
  componentCount: number;
}

const COLUMNS = [{ label: "Page" }, { label: "Status" }, { label: "Components", isNumeric: true }];

/** The first screen: every status page and how it is. */
export function Overview({ pages }: { pages: readonly PageLine[] }) {
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
                <a href={`/status/${page.slug}`}>{page.name}</a>
                <CellNote>{describePage(page)}</CellNote>
              </Cell>
              <Cell label="Status">
                <span class={`state is-${page.status.indicator}`}>
                  <IndicatorShape indicator={page.status.indicator} />
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
  if (isSample) return `${path} · sample page`;
  return isPublic ? path : `${path} · private`;
}
