import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { localTime } from "../../base/zones";
import {
  ACCOUNT_PATH,
  COMPONENTS_PATH,
  HOME_PATH,
  INCIDENTS_PATH,
  MONITORS_PATH,
  REPORT_PATH,
  SEARCH_PATH,
  SHORTCUTS_PATH,
  SIGN_OUT_PATH,
} from "./paths";
import { type NavLink, navigationFor, type Place } from "./places";
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
import { Icon } from "../icons";
import { StatusRing, WordMark } from "../pictures";
import { clockAt, exactTimes, InZone, longDay, useZone, zoneAt } from "../times";
import type { FlashMessage } from "./flashes";
import type { ProblemCount, SideState } from "./side-state";

interface ScreenProps {
  title: string;
  /** Theme of this browser; that of the system by default. */
  theme?: Theme | undefined;
  user: { name: string; email: string; role: Role; timeZone: string };
  /** Places that the user may open. */
  places: readonly Place[];
  /** Path of the screen's route. */
  path: string;
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
  const { user, places, path, side } = props;
  const nav = navigationFor(places, path, side.attention);
  return renderLinkedDocument({
    title: `${props.title} · Allclear`,
    theme: props.theme,
    assets: props.assets,
    isInstallable: true,
    children: (
      <InZone value={props.user.timeZone}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <div class="shell">
          <Side user={user} nav={nav} places={places} path={path} side={side} />
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
        <TabBar nav={nav} />
      </InZone>
    ),
  });
}

/**
 * Line above the content with the server's time, and the sign of the live refresh. A screen below another
 * one shows its breadcrumbs there.
 */
function Bar({ now, livePath }: Pick<ScreenProps, "now" | "livePath">) {
  const zone = useZone();
  const at = toIso(now);
  const clock = `${clockAt(now, zone)} ${zoneAt(now, zone)}`;
  return (
    <div class="bar" role="region" aria-label="Time of this screen">
      <p class="bar-time">
        <time dateTime={at} title={exactTimes(at, zone)} data-time-zone={zone}>
          <b>{clock}</b>
          <span class="rest"> · {longDay(localTime(now, zone))}</span>
        </time>
      </p>
      {livePath === undefined ? null : (
        <p class="live is-still" data-live-path={livePath}>
          As of {clock} · <a href={safeHref(livePath)}>Reload</a>
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
    isInstallable: true,
    children: <PlainPage title={title}>{children}</PlainPage>,
  });
}

interface SideProps extends Pick<ScreenProps, "user" | "places" | "path" | "side"> {
  nav: readonly NavLink[];
}

/** Sidebar, of which only the menu scrolls. On small screens its menu is a popover, which needs no script. */
function Side({ user, nav, places, path, side }: SideProps) {
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
      <ShortcutLinks role={user.role} places={places} />
      <div class="menu-box" id="menu" popover="auto">
        <nav class="menu" id="menu-links" data-live aria-label="Dashboard">
          <ul>
            {nav.map(({ href, label, icon, letter, isCurrent, attention }) => (
              <li key={href}>
                <a
                  href={safeHref(href)}
                  aria-current={isCurrent ? "page" : undefined}
                  data-go={letter}
                >
                  <Icon name={icon} />
                  <span>{label}</span>
                  {attention ? <Count attention={attention} /> : null}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <a href="/docs">
            <Icon name="book-open" />
            <span>Documentation</span>
          </a>
          <div class="me">
            <a
              class="who"
              href={ACCOUNT_PATH}
              title={user.email}
              aria-current={path.startsWith(ACCOUNT_PATH) ? "page" : undefined}
            >
              <span class="avatar" aria-hidden="true">
                {initialsOf(user.name)}
              </span>
              <span>
                {user.name}
                <small>Account</small>
              </span>
            </a>
            <PostButton action={SIGN_OUT_PATH} title="Sign out">
              <Icon name="log-out" />
              <span class="visually-hidden">Sign out</span>
            </PostButton>
          </div>
          <p class="version">Allclear {VERSION}</p>
        </div>
      </div>
    </header>
  );
}

/** Hidden links for keyboard shortcuts, and for the places that the sidebar does not name. */
function ShortcutLinks({ role, places }: { role: Role; places: readonly Place[] }) {
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
      {places.map(({ href, label, letter, above }) =>
        letter === undefined || above === undefined ? null : (
          <a key={href} hidden href={safeHref(href)} data-go={letter}>
            {label}
          </a>
        ),
      )}
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

/** Tabs of small screens. “More” stands for the entries without a tab. */
function TabBar({ nav }: Pick<SideProps, "nav">) {
  const links = TABS.flatMap((path) => nav.find(({ href }) => href === path) ?? []);
  const isMore = nav.some(({ href, isCurrent }) => isCurrent && !TABS.includes(href));
  return (
    <nav class="tabbar" id="tabbar" data-live aria-label="Shortcuts">
      {links.map(({ href, label, icon, isCurrent, attention }) => (
        <a key={href} href={safeHref(href)} aria-current={isCurrent ? "page" : undefined}>
          <Icon name={icon} />
          {label}
          {attention ? <Count attention={attention} /> : null}
        </a>
      ))}
      <button type="button" popovertarget="menu" aria-current={isMore ? "page" : undefined}>
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
