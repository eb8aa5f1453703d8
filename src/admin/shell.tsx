import type { ComponentChildren } from "preact";
import type { Role } from "../base/actor";
import type { Theme } from "../http/theme-cookie";
import { toIso } from "../base/time";
import { Flash, Notice } from "../ui/notices";
import {
  type HtmlDocument,
  type LinkedAssets,
  PlainPage,
  renderLinkedDocument,
} from "../ui/documents";
import { longDay } from "../ui/times";
import { safeHref } from "../ui/safe-href";
import type { FlashMessage } from "./flashes";
import type { NavGroup } from "./navigation";
import type { SideState } from "./side-state";
import { Side, TabBar } from "./sidebar";

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
