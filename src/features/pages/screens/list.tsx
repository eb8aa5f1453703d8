import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import type { FieldError } from "../../../base/errors";
import { toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { Chip, Chips, Notice } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { MoreMenu } from "../../../ui/detail";
import { FirstPage } from "../../../ui/frame/page-choice";
import { componentsOfPagePath, pagePath, PAGES_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { Cell, CellNote, Row, RowLink, Table } from "../../../ui/list";
import { PageHead, Tabs } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import { ReportLink } from "../../incidents/screens/list";
import { validatePageInput } from "../pages";
import { hostNameOf, toDomain } from "../addresses";
import { findPageBySlug, type PageRow } from "../store";
import type { PageInput } from "../wire";

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

/** Screens of one page, each with its own path. */
const TABS = {
  overview: { label: "Overview", path: "" },
  general: { label: "General", path: "/general" },
  look: { label: "Appearance", path: "/look" },
  address: { label: "Address", path: "/address" },
  mail: { label: "E-mail", path: "/mail" },
  visibility: { label: "Visibility", path: "/visibility" },
  share: { label: "Share", path: "/share" },
} as const;

/** Screens for every role. The others require the role admin. */
const READABLE: readonly string[] = ["overview", "share"];

export type PageTab = keyof typeof TABS;

/** Returns the title of a page's screen. */
export function pageTabTitle(page: PageRow, tab: PageTab): string {
  return tab === "overview" ? page.name : `${TABS[tab].label} of ${page.name}`;
}

/** Returns the path of a page's screen. */
export function pageTabPath(id: string, tab: PageTab): string {
  return pagePath(id) + TABS[tab].path;
}

interface FrameProps {
  page: PageRow;
  tab: PageTab;
  role: Role;
  children: ComponentChildren;
}

/** Heading, actions and tabs shared by the screens of one page. */
export function PageFrame({ page, tab, role, children }: FrameProps) {
  const canManage = roleAllows(role, "admin");
  return (
    <>
      <PageHead
        title={page.name}
        crumbs={[{ href: PAGES_PATH, label: "Pages" }]}
        actions={
          <>
            <ButtonLink href={`/status/${page.slug}`} opensTab>
              <Icon name="external-link" />
              View page
            </ButtonLink>
            <ButtonLink href={componentsOfPagePath(page.slug)}>
              <Icon name="blocks" />
              Components
            </ButtonLink>
            {roleAllows(role, "editor") ? <ReportLink page={page.slug} /> : null}
            {canManage ? (
              <MoreMenu label="More actions">
                <ButtonLink href={`${pagePath(page.id)}/delete`} kind="danger" dialog>
                  Delete
                </ButtonLink>
              </MoreMenu>
            ) : null}
          </>
        }
      />
      <Tabs
        label="This page"
        items={Object.entries(TABS)
          .filter(([name]) => canManage || READABLE.includes(name))
          .map(([name, { label, path }]) => ({
            href: pagePath(page.id) + path,
            label,
            isCurrent: name === tab,
          }))}
      />
      <Origin page={page} isForm={!READABLE.includes(tab)} />
      {children}
    </>
  );
}

/** Notice on the sample page, and on forms of pages that a configuration file manages. */
function Origin({ page, isForm }: { page: PageRow; isForm: boolean }) {
  if (page.isSample) {
    return (
      <Notice tone="maint" title="This is the sample page">
        An example of a status page. When you create your first page, the sample page is deleted.
      </Notice>
    );
  }
  if (page.managedBy === "apply" && isForm) {
    return (
      <Notice tone="maint" title="Managed by a configuration file">
        The next <code>allclear apply</code> resets the settings that the file contains. To keep a
        change, make it in the file.
      </Notice>
    );
  }
  return null;
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
