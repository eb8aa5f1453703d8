import type { ComponentChildren } from "preact";
import type { Role } from "../domain/role";
import type { Tone } from "../domain/tone";
import { capitalised, plural } from "../kernel/text";
import { toIso } from "../kernel/time";
import {
  Flash,
  type HtmlDocument,
  Icon,
  type LinkedAssets,
  longDay,
  Notice,
  PlainPage,
  PostButton,
  renderLinkedDocument,
  safeHref,
  Shape,
  StatusRing,
  WordMark,
} from "../ui";
import { VERSION } from "../version";
import type { NavGroup } from "./navigation";
import {
  ACCOUNT_PATH,
  COMPONENTS_PATH,
  HOME_PATH,
  INCIDENTS_PATH,
  MONITORS_PATH,
  SIGN_OUT_PATH,
} from "./paths";
import type { Attention, SideState } from "./side-state";

interface ScreenProps {
  title: string;
  user: { name: string; email: string; role: Role };
  nav: readonly NavGroup[];
  side: SideState;
  /** Unix ms. */
  now: number;
  /** Path of the screen, with which a script refreshes it; undefined for a screen that is shown once. */
  livePath?: string | undefined;
  /** Confirmation of the last action, shown once. */
  flash?: { tone: Tone; text: string } | undefined;
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
              {props.children}
            </main>
          </div>
        </div>
        <TabBar nav={props.nav} />
      </>
    ),
  });
}

/** Sidebar. On small screens its menu is a popover, which needs no script. */
function Side({ user, nav, side }: Pick<ScreenProps, "user" | "nav" | "side">) {
  return (
    <header class="side">
      <a class="side-home" href={HOME_PATH}>
        <WordMark />
      </a>
      <PageLink side={side} />
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

/** Link to the public page with the worst headline. Renders nothing without a page. */
function PageLink({ side: { worst, otherPages } }: Pick<ScreenProps, "side">) {
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
        {group.links.map(({ href, label, icon, isCurrent, attention }) => (
          <li key={href}>
            <a href={safeHref(href)} aria-current={isCurrent ? "page" : undefined}>
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

function Count({ attention: { count, what, tone } }: { attention: Attention }) {
  return (
    <span class={tone ? `n t-${tone}` : "n"}>
      {tone ? <Shape tone={tone} /> : null}
      {count.toLocaleString("en")}
      <span class="visually-hidden"> {what}</span>
    </span>
  );
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

/** Paths with a tab on small screens; the last tab opens the whole menu. */
const TABS: readonly string[] = [HOME_PATH, INCIDENTS_PATH, MONITORS_PATH, COMPONENTS_PATH];

function TabBar({ nav }: Pick<ScreenProps, "nav">) {
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

interface PlainScreenProps {
  /** Title, also used as heading. */
  title: string;
  assets: LinkedAssets;
  children: ComponentChildren;
}

/** Renders a screen without a user: one card, without navigation. */
export function renderPlainScreen({ title, assets, children }: PlainScreenProps): HtmlDocument {
  return renderLinkedDocument({
    title: `${title} · Allclear`,
    assets,
    children: <PlainPage title={title}>{children}</PlainPage>,
  });
}
