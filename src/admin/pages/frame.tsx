import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import type { PageRow } from "../../features/pages/store";
import { ButtonLink } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { MoreMenu } from "../../ui/detail";
import { Notice } from "../../ui/blocks";
import { PageHead, Tabs } from "../../ui/navigation";
import { ReportLink } from "../../features/incidents/screens/list";
import { componentsOfPagePath, pagePath, PAGES_PATH } from "../../ui/frame/paths";

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
