import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { capitalised, plural } from "../../base/text";
import { toIso } from "../../base/time";
import {
  ACCOUNT_PATH,
  ACTIVITY_PATH,
  ANALYTICS_PATH,
  COMPONENTS_PATH,
  FLEET_PATH,
  GENERAL_PATH,
  HOME_PATH,
  IMPORTS_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  MAILINGS_PATH,
  MAINTENANCE_PATH,
  MONITORS_PATH,
  PAGES_PATH,
  REPORT_PATH,
  SEARCH_PATH,
  SHORTCUTS_PATH,
  SIGN_OUT_PATH,
  SUBSCRIBERS_PATH,
  USERS_PATH,
  WEBHOOKS_PATH,
} from "./paths";
import type { Theme } from "../../http/cookies";
import { VERSION } from "../../version";
import { Flash, Notice, Shape } from "../blocks";
import { PostButton, safeHref } from "../buttons";
import {
  type HtmlDocument,
  type LinkedAssets,
  PlainPage,
  renderLinkedDocument,
} from "../documents";
import { Icon, type IconName } from "../icons";
import { StatusRing, WordMark } from "../pictures";
import { longDay } from "../times";
import type { FlashMessage } from "./flashes";
import type { ProblemCount, SideState } from "./side-state";

interface ScreenProps {
  title: string;
  /** Theme of this browser; that of the system by default. */
  theme?: Theme | undefined;
  user: { name: string; email: string; role: Role };
  nav: readonly NavGroup[];
  side: SideState;
  /** Unix ms. */
  now: number;
  /** Path of the screen, with which a script refreshes it; undefined for a screen that is shown once. */
  livePath?: string | undefined;
  /** Confirmation of the last action, shown once. */
  flash?: FlashMessage | undefined;
  /** Problems of the installation, on every screen until they are solved. */
  warnings?: readonly string[];
  assets: LinkedAssets;
  /** Content, starting with a `PageHead` or `DialogForm`, which has the only `h1`. */
  children: ComponentChildren;
}

/** Renders a screen for a signed-in user, with navigation. */
export function renderScreen(props: ScreenProps): HtmlDocument {
  return renderLinkedDocument({
    title: `${props.title} · Allclear`,
    theme: props.theme,
    assets: props.assets,
    children: (
      <>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <div class="shell">
          <Side user={props.user} nav={props.nav} side={props.side} />
          <div class="sheet">
            <Bar now={props.now} livePath={props.livePath} />
            <main class="main" id="main" tabIndex={-1}>
              {(props.warnings ?? []).map((warning) => (
                <Notice key={warning} tone="degraded">
                  {warning}
                </Notice>
              ))}
              {props.flash ? <Flash message={props.flash} /> : null}
              {props.flash?.details ? <div class="flash">{props.flash.details}</div> : null}
              {props.children}
            </main>
          </div>
        </div>
        <TabBar nav={props.nav} />
      </>
    ),
  });
}

/**
 * Line above the content with the server's time, and the sign of the live refresh. A screen below another
 * one shows its breadcrumbs there.
 */
function Bar({ now, livePath }: Pick<ScreenProps, "now" | "livePath">) {
  const at = toIso(now);
  return (
    <div class="bar" role="region" aria-label="Time of this screen">
      <p class="bar-time">
        <time dateTime={at}>
          <b>{at.slice(11, 16)} UTC</b>
          <span class="rest"> · {longDay(at)}</span>
        </time>
      </p>
      {livePath === undefined ? null : (
        <p class="live is-still" data-live-path={livePath}>
          As of {at.slice(11, 16)} UTC · <a href={safeHref(livePath)}>Reload</a>
        </p>
      )}
    </div>
  );
}

interface PlainScreenProps {
  /** Title, also used as heading. */
  title: string;
  /** Theme of this browser; that of the system by default. */
  theme?: Theme | undefined;
  assets: LinkedAssets;
  children: ComponentChildren;
}

/** Renders a screen without a user: one card, without navigation. */
export function renderPlainScreen({
  title,
  theme,
  assets,
  children,
}: PlainScreenProps): HtmlDocument {
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    theme,
    assets,
    children: <PlainPage title={title}>{children}</PlainPage>,
  });
}

interface SideProps {
  user: { name: string; email: string; role: Role };
  nav: readonly NavGroup[];
  side: SideState;
}

/** Sidebar. On small screens its menu is a popover, which needs no script. */
function Side({ user, nav, side }: SideProps) {
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
function TabBar({ nav }: Pick<SideProps, "nav">) {
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

interface Destination {
  href: string;
  label: string;
  icon: IconName;
  /** Role required by its routes. */
  role: Role;
  /** Key that opens the screen after the key `g`. */
  letter: string;
}

const DESTINATIONS: readonly { label?: string; items: readonly Destination[] }[] = [
  {
    items: [
      { href: HOME_PATH, label: "Overview", icon: "layout-dashboard", role: "viewer", letter: "o" },
      { href: INCIDENTS_PATH, label: "Incidents", icon: "siren", role: "viewer", letter: "i" },
      { href: MAINTENANCE_PATH, label: "Maintenance", icon: "wrench", role: "viewer", letter: "t" },
      { href: COMPONENTS_PATH, label: "Components", icon: "blocks", role: "viewer", letter: "c" },
      { href: MONITORS_PATH, label: "Monitors", icon: "activity", role: "viewer", letter: "m" },
      {
        href: ANALYTICS_PATH,
        label: "Analytics",
        icon: "chart-no-axes-column",
        role: "viewer",
        letter: "a",
      },
      { href: MAILINGS_PATH, label: "Mailings", icon: "megaphone", role: "admin", letter: "e" },
      { href: PAGES_PATH, label: "Pages", icon: "globe", role: "viewer", letter: "p" },
      {
        href: SUBSCRIBERS_PATH,
        label: "Subscribers",
        icon: "mail",
        role: "editor",
        letter: "b",
      },
    ],
  },
  {
    label: "Settings",
    items: [
      { href: KEYS_PATH, label: "API Keys", icon: "key-round", role: "admin", letter: "k" },
      { href: WEBHOOKS_PATH, label: "Webhooks", icon: "webhook", role: "admin", letter: "w" },
      { href: USERS_PATH, label: "Users", icon: "users", role: "owner", letter: "u" },
      { href: ACTIVITY_PATH, label: "Activity", icon: "scroll-text", role: "admin", letter: "l" },
      { href: IMPORTS_PATH, label: "Import", icon: "download", role: "owner", letter: "r" },
      { href: FLEET_PATH, label: "Fleet", icon: "server", role: "admin", letter: "f" },
      { href: GENERAL_PATH, label: "General", icon: "settings", role: "owner", letter: "s" },
    ],
  },
];

/** Link of the sidebar. */
interface NavLink extends Omit<Destination, "role"> {
  /** True for the open screen and those above it. */
  isCurrent: boolean;
  /** Open problems on the screens of the link; undefined if there are none. */
  attention?: ProblemCount | undefined;
}

interface NavGroup {
  label?: string;
  links: readonly NavLink[];
}

/** Returns the navigation links that a role may open, with the open screen marked. */
export function navigationFor(
  role: Role,
  path: string,
  attention: Readonly<Partial<Record<string, ProblemCount>>>,
): NavGroup[] {
  return DESTINATIONS.map(({ label, items }) => ({
    ...(label === undefined ? {} : { label }),
    links: items
      .filter((item) => roleAllows(role, item.role))
      .map(({ href, label: name, icon, letter }) => ({
        href,
        label: name,
        icon,
        letter,
        isCurrent: isAt(href, path),
        attention: attention[href],
      })),
  })).filter(({ links }) => links.length > 0);
}

function isAt(href: string, path: string): boolean {
  return path === href || (href !== HOME_PATH && path.startsWith(`${href}/`));
}
