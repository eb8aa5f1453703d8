import { type Role, roleAllows } from "../base/actor";
import { capitalised, plural } from "../base/text";
import { Icon } from "../ui/icons";
import { PostButton } from "../ui/buttons";
import { safeHref } from "../ui/safe-href";
import { Shape } from "../ui/labels";
import { StatusRing, WordMark } from "../ui/pictures";
import { VERSION } from "../version";
import { REPORT_PATH } from "../features/incidents/screens/paths";
import type { NavGroup } from "./navigation";
import {
  ACCOUNT_PATH,
  COMPONENTS_PATH,
  HOME_PATH,
  INCIDENTS_PATH,
  MONITORS_PATH,
  SEARCH_PATH,
  SHORTCUTS_PATH,
  SIGN_OUT_PATH,
} from "./paths";
import type { ProblemCount, SideState } from "./side-state";

interface SideProps {
  user: { name: string; email: string; role: Role };
  nav: readonly NavGroup[];
  side: SideState;
}

/** Sidebar. On small screens its menu is a popover, which needs no script. */
export function Side({ user, nav, side }: SideProps) {
  return (
    <header class="side">
      <a class="side-home" href={HOME_PATH}>
        <WordMark />
      </a>
      <PageLink side={side} />
      <a
        class="side-search"
        href={SEARCH_PATH}
        data-dialog
        data-key="/"
        aria-keyshortcuts="/ Control+K"
      >
        <Icon name="search" />
        <span>Search</span>
        <kbd aria-hidden="true">/</kbd>
      </a>
      <ShortcutLinks role={user.role} />
      <div class="menu-box" id="menu" popover="auto">
        <nav class="menu" id="menu-links" data-live aria-label="Dashboard">
          {nav.map((group) => (
            <NavLinks key={group.label ?? ""} group={group} />
          ))}
        </nav>
        <div class="side-foot">
          <a href="/docs">
            <Icon name="book-open" />
            <span>Documentation</span>
          </a>
          <a class="who" href={ACCOUNT_PATH} title={user.email}>
            <span class="avatar" aria-hidden="true">
              {initialsOf(user.name)}
            </span>
            <span>
              {user.name}
              <small>{capitalised(user.role)}</small>
            </span>
          </a>
          <PostButton action={SIGN_OUT_PATH}>Sign out</PostButton>
          <p class="version">Allclear {VERSION}</p>
        </div>
      </div>
    </header>
  );
}

/** Hidden links for keyboard shortcuts. */
function ShortcutLinks({ role }: { role: Role }) {
  return (
    <>
      <a hidden href={SHORTCUTS_PATH} data-dialog data-key="?">
        Keyboard shortcuts
      </a>
      {roleAllows(role, "editor") ? (
        <a hidden href={REPORT_PATH} data-key="c">
          Report incident
        </a>
      ) : null}
    </>
  );
}

/** Link to the public page with the worst headline. Renders nothing without a page. */
function PageLink({ side: { worst, otherPages } }: Pick<SideProps, "side">) {
  if (!worst) return null;
  return (
    <a class={`side-page t-${worst.tone}`} id="side-page" data-live href={worst.path}>
      <StatusRing tone={worst.tone} />
      <span>
        <b>{worst.name}</b>
        <small>{worst.headline}</small>
        {otherPages > 0 ? (
          <small class="muted">and {plural(otherPages, "other page")}</small>
        ) : null}
      </span>
      <Icon name="arrow-up-right" />
      <span class="visually-hidden"> View the public page</span>
    </a>
  );
}

function NavLinks({ group }: { group: NavGroup }) {
  return (
    <>
      {group.label ? <p class="menu-label">{group.label}</p> : null}
      <ul>
        {group.links.map(({ href, label, icon, letter, isCurrent, attention }) => (
          <li key={href}>
            <a href={safeHref(href)} aria-current={isCurrent ? "page" : undefined} data-go={letter}>
              <Icon name={icon} />
              <span>{label}</span>
              {attention ? <Count attention={attention} /> : null}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Count({ attention: { count, what, tone } }: { attention: ProblemCount }) {
  return (
    <span class={tone ? `n t-${tone}` : "n"}>
      {tone ? <Shape tone={tone} /> : null}
      {count.toLocaleString("en")}
      <span class="visually-hidden"> {what}</span>
    </span>
  );
}

/** Paths with a tab on small screens; the last tab opens the whole menu. */
const TABS: readonly string[] = [HOME_PATH, INCIDENTS_PATH, MONITORS_PATH, COMPONENTS_PATH];

/** Tabs of small screens. */
export function TabBar({ nav }: Pick<SideProps, "nav">) {
  const links = nav.flatMap((group) => group.links).filter(({ href }) => TABS.includes(href));
  links.sort((a, b) => TABS.indexOf(a.href) - TABS.indexOf(b.href));
  return (
    <nav class="tabbar" id="tabbar" data-live aria-label="Shortcuts">
      {links.map(({ href, label, icon, isCurrent, attention }) => (
        <a key={href} href={safeHref(href)} aria-current={isCurrent ? "page" : undefined}>
          <Icon name={icon} />
          {label}
          {attention ? <Count attention={attention} /> : null}
        </a>
      ))}
      <button type="button" popovertarget="menu">
        <Icon name="menu" />
        More
      </button>
    </nav>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const [first = "", last = ""] = [words[0], words.length > 1 ? words.at(-1) : ""];
  return (first.slice(0, 1) + last.slice(0, 1)).toUpperCase();
}
