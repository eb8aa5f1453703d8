import type { ComponentChildren } from "preact";
import type { PageRow } from "../../features/pages";
import { ButtonLink, ErrorSummary, Notice, PageHead, FormNotice, Tabs } from "../../ui";
import type { Complaints, Wording } from "../field-errors";
import { componentsOfPagePath, pagePath, PAGES_PATH } from "../paths";
import type { PageValues } from "./values";

/** The screens about one page, each an address of its own. All but the first are for admins. */
const TABS = {
  overview: { label: "Overview", path: "" },
  general: { label: "General", path: "/general" },
  look: { label: "Look", path: "/look" },
  address: { label: "Address", path: "/address" },
  visibility: { label: "Visibility", path: "/visibility" },
} as const;

export type PageTab = keyof typeof TABS;

/** What a screen about a page is called. */
export function pageTabTitle(page: PageRow, tab: PageTab): string {
  return tab === "overview" ? page.name : `${TABS[tab].label} of ${page.name}`;
}

/** Where a screen about a page is. */
export function pageTabPath(id: string, tab: PageTab): string {
  return pagePath(id) + TABS[tab].path;
}

/** What a screen with a form about a page shows. */
export interface SectionProps {
  page: PageRow;
  /** The page's own, or what was typed and refused. */
  values: PageValues;
  complaints: Complaints;
  /** Why all of it was refused, where no field is to blame. */
  stale: string | undefined;
}

/** Why a form has come back, above its fields. */
export function WhyRefused({ stale, wrong }: { stale: string | undefined; wrong: Wording }) {
  return (
    <>
      {stale ? <FormNotice>{stale}</FormNotice> : null}
      <ErrorSummary errors={wrong.all} />
    </>
  );
}

interface FrameProps {
  page: PageRow;
  tab: PageTab;
  /** Whether the reader may change pages. */
  mayManage: boolean;
  children: ComponentChildren;
}

/** What all screens about one page have: its name, the ways out of them, and from one to the other. */
export function PageFrame({ page, tab, mayManage, children }: FrameProps) {
  return (
    <>
      <PageHead
        title={page.name}
        crumbs={[{ href: PAGES_PATH, label: "Pages" }]}
        actions={
          <>
            <ButtonLink href={`/status/${page.slug}`} opensTab>
              View page
            </ButtonLink>
            <ButtonLink href={componentsOfPagePath(page.slug)}>Components</ButtonLink>
            {mayManage ? (
              <ButtonLink href={`${pagePath(page.id)}/delete`} kind="danger" dialog>
                Delete
              </ButtonLink>
            ) : null}
          </>
        }
      />
      {mayManage ? (
        <Tabs
          label="This page"
          items={Object.entries(TABS).map(([name, { label, path }]) => ({
            href: pagePath(page.id) + path,
            label,
            isCurrent: name === tab,
          }))}
        />
      ) : null}
      <Origin page={page} isForm={tab !== "overview"} />
      {children}
    </>
  );
}

/** What to know before changing a page that is not kept here alone. */
function Origin({ page, isForm }: { page: PageRow; isForm: boolean }) {
  if (page.isSample) {
    return (
      <Notice tone="info" title="This is the sample page">
        It shows what a page looks like. Your first own page removes it for good.
      </Notice>
    );
  }
  if (page.managedBy === "apply" && isForm) {
    return (
      <Notice tone="info" title="This page comes from a file">
        <code>allclear apply</code> made it. What its file sets, the next run sets again.
      </Notice>
    );
  }
  return null;
}
