import type { ComponentChildren } from "preact";
import { ButtonLink, safeHref } from "./buttons";
import { Icon } from "./icons";

interface PageHeadProps {
  title: string;
  /** Screens above this one. A crumb without `href` is shown as text. */
  crumbs?: readonly { href?: string; label: string }[];
  actions?: ComponentChildren;
  /** Purpose of the screen, in a sentence. */
  children?: ComponentChildren;
  /** True for a list, whose entries begin near the top of a phone: heading and actions share a line. */
  isList?: boolean;
}

/** Top of a screen: breadcrumbs, title and buttons. */
export function PageHead({ title, crumbs = [], actions, children, isList }: PageHeadProps) {
  return (
    <header class={isList ? "screen-head list-head" : "screen-head"}>
      {crumbs.length > 0 ? (
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            {crumbs.map(({ href, label }) => (
              <li key={label}>
                {href === undefined ? (
                  <span dir="auto">{label}</span>
                ) : (
                  <a dir="auto" href={safeHref(href)}>
                    {label}
                  </a>
                )}
              </li>
            ))}
          </ol>
        </nav>
      ) : null}
      <h1 dir="auto">{title}</h1>
      {children ? <div class="muted">{children}</div> : null}
      {actions ? <div class="actions">{actions}</div> : null}
    </header>
  );
}

interface PhoneSheetProps {
  /** Distinct in the screen. */
  id: string;
  /** Accessible name of the content. */
  label: string;
  /** Content of the button. */
  button: ComponentChildren;
  children: ComponentChildren;
}

/** Content that a phone shows in a sheet, which a button opens; elsewhere it stands in its place. Needs no script. */
export function PhoneSheet({ id, label, button, children }: PhoneSheetProps) {
  return (
    <>
      <button class="button quiet sheet-button" type="button" popovertarget={id}>
        {button}
      </button>
      <div class="phone-sheet" id={id} popover="auto" role="group" aria-label={label}>
        {children}
      </div>
    </>
  );
}

interface HeadLinksProps {
  /** `ButtonLink`s. */
  children: ComponentChildren;
}

/** Links of second rank in the head of a list. */
export function HeadLinks({ children }: HeadLinksProps) {
  const button = (
    <>
      <Icon name="ellipsis" />
      <span class="visually-hidden">More links</span>
    </>
  );
  return (
    <PhoneSheet id="head-links" label="More links" button={button}>
      {children}
    </PhoneSheet>
  );
}

interface TabsProps {
  /** Accessible name of the tab list. */
  label: string;
  items: readonly {
    href: string;
    label: string;
    /** `Shape` before the label. */
    shape?: ComponentChildren;
    count?: number;
    isCurrent: boolean;
  }[];
  /** True for many tabs, which are shown in several lines instead of one that scrolls. */
  isWrapped?: boolean;
}

/** Links between the parts of a screen, each with its own address. */
export function Tabs({ label, items, isWrapped = false }: TabsProps) {
  return (
    <nav class={isWrapped ? "tabs tabs-wrapped" : "tabs"} aria-label={label}>
      <ul>
        {items.map((item) => (
          <li key={item.href}>
            <a href={safeHref(item.href)} aria-current={item.isCurrent ? "page" : undefined}>
              {item.shape}
              {item.label}
              {item.count === undefined ? null : (
                <>
                  {" "}
                  <span class="tab-count">{item.count.toLocaleString("en")}</span>
                </>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface PaginationProps {
  newestHref?: string | undefined;
  olderHref?: string | undefined;
  /** True for a list that is not in the order of time. */
  isOrdered?: boolean;
  /** Labels of the links, if those of the order are not enough. */
  newest?: string;
  older?: string;
}

/** Links between the pages of a list, by default one that starts with its newest entry. Nothing without a link. */
export function Pagination(props: PaginationProps) {
  const { newestHref, olderHref, isOrdered = false } = props;
  const { newest = isOrdered ? "First" : "Newest", older = isOrdered ? "Next" : "Older" } = props;
  if (newestHref === undefined && olderHref === undefined) return null;
  return (
    <nav class="pagination" aria-label="Pages of the list">
      {newestHref === undefined ? <span /> : <ButtonLink href={newestHref}>{newest}</ButtonLink>}
      {olderHref === undefined ? null : <ButtonLink href={olderHref}>{older}</ButtonLink>}
    </nav>
  );
}
