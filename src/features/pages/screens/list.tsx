import { type Role, roleAllows } from "../../../base/actor";
import type { FieldError } from "../../../base/errors";
import { toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { ButtonLink } from "../../../ui/buttons";
import { FirstPage } from "../../../ui/frame/page-choice";
import { pagePath, PAGES_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { Cell, CellNote, Row, RowLink, Table } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { hostNameOf, toDomain } from "../addresses";
import { validatePageInput } from "../pages";
import { findPageBySlug, type PageRow } from "../store";
import type { PageInput } from "../wire";
import { PageChips } from "./settings";

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

/** Returns every error of a new page, whose slug may be missing or taken. */
export function newPageErrors(reader: Reader, input: PageInput): FieldError[] {
  const errors = input.slug === "" ? missingSlugErrors(input) : validatePageInput(input);
  return errors.length > 0 ? errors : takenSlugErrors(reader, input.slug);
}

/** Returns the errors of a form without a slug whose name does not yield one. */
function missingSlugErrors(input: PageInput): FieldError[] {
  const others = validatePageInput(input).filter(({ pointer }) => pointer !== "#/slug");
  // Another name may make a slug.
  if (others.some(({ pointer }) => pointer === "#/name")) return others;
  const detail = "must be entered, such as status-page, because none can be made from this name";
  return [...others, { pointer: "#/slug", detail }];
}

/** Returns an error that names the page which holds a slug; none for a free slug. */
export function takenSlugErrors(reader: Reader, slug: string, pageId?: string): FieldError[] {
  const holder = findPageBySlug(reader, { slug });
  // The sample page gives its slug up to the first own page.
  if (!holder || holder.id === pageId || holder.isSample) return [];
  const detail =
    holder.slug === slug
      ? `is taken by the page “${holder.name}”`
      : `is an earlier slug of the page “${holder.name}”, which must release it first`;
  return [{ pointer: "#/slug", detail }];
}

/**
 * Rejects the host under which the dashboard is open. As a custom domain it would serve no
 * dashboard, so the user could not undo the change.
 */
export function ownHostErrors(domains: readonly string[], dashboardUrl: string): FieldError[] {
  const own = hostNameOf(dashboardUrl);
  return domains.flatMap((text, index) => {
    const detail = "is the host of this dashboard, which cannot be a custom domain";
    return toDomain(text) === own ? [{ pointer: `#/custom_domains/${index}`, detail }] : [];
  });
}
