import { Cell, CellNote, IndicatorShape, Row, Table } from "../../ui";
import type { Now } from "./now";

const COLUMNS = [{ label: "Page" }, { label: "Status" }, { label: "Components", isNumeric: true }];

/** Status pages with their headlines, linked to their public address. */
export function PageLines({ pages }: Pick<Now, "pages">) {
  return (
    <Table columns={COLUMNS} caption="Status pages">
      {pages.map(({ page, document: { status, components } }) => (
        <Row key={page.id}>
          <Cell>
            <a href={`/status/${page.slug}`}>{page.name}</a>
            <CellNote>{describePage(page)}</CellNote>
          </Cell>
          <Cell label="Status">
            <span class={`state is-${status.indicator}`}>
              <IndicatorShape indicator={status.indicator} />
              {status.description}
            </span>
          </Cell>
          <Cell label="Components" isNumeric>
            {components.length}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function describePage({ slug, visibility, isSample }: Now["pages"][number]["page"]): string {
  const path = `/status/${slug}`;
  if (isSample) return `${path} · sample page`;
  return visibility === "public" ? path : `${path} · private`;
}
