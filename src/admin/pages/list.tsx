import type { PageRow } from "../../features/pages/store";
import { type Role, roleAllows } from "../../base/actor";
import { toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { Cell, CellNote, Row, RowLink, Table } from "../../ui/list";
import { Chip, Chips } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import { FirstPage } from "../../ui/frame/page-choice";
import { pagePath, PAGES_PATH } from "../../ui/frame/paths";

const COLUMNS = [{ label: "Page" }, { label: "Kind" }, { label: "Domains" }, { label: "Changed" }];

interface PageListProps {
  pages: readonly PageRow[];
  role: Role;
  /** Unix ms. */
  now: number;
}

/** `/admin/pages`: all status pages. */
export function PageList({ pages, role, now }: PageListProps) {
  const create = roleAllows(role, "admin") ? (
    <ButtonLink href={`${PAGES_PATH}/new`} kind="primary">
      <Icon name="plus" />
      Create page
    </ButtonLink>
  ) : undefined;
  if (pages.length === 0) {
    return (
      <>
        <PageHead title="Pages" />
        <FirstPage role={role} />
      </>
    );
  }
  return (
    <>
      <PageHead title="Pages" actions={create} />
      <Table columns={COLUMNS} caption="Status pages">
        {pages.map((page) => (
          <Row key={page.id}>
            <Cell>
              <RowLink href={pagePath(page.id)}>{page.name}</RowLink>
              <CellNote>/status/{page.slug}</CellNote>
            </Cell>
            <Cell label="Kind">
              <PageChips page={page} />
            </Cell>
            <Cell label="Domains">
              {page.customDomains.length > 0 ? (
                page.customDomains.join(", ")
              ) : (
                <span class="quiet-text">None</span>
              )}
            </Cell>
            <Cell label="Changed">
              <RelativeTime at={toIso(page.contentChangedAt)} now={now} />
            </Cell>
          </Row>
        ))}
      </Table>
    </>
  );
}

/** Labels of a page: its visibility, and "Default" or "Sample". */
export function PageChips({ page }: { page: PageRow }) {
  return (
    <Chips>
      <Chip>{page.visibility === "public" ? "Public" : "Private"}</Chip>
      {page.isDefault ? <Chip>Default</Chip> : null}
      {page.isSample ? <Chip tone="maint">Sample</Chip> : null}
    </Chips>
  );
}
