import type { ComponentChildren } from "preact";
import type { Role } from "../domain/role";
import {
  Flash,
  type HtmlDocument,
  type LinkedAssets,
  Notice,
  PlainPage,
  PostButton,
  renderLinkedDocument,
  safeHref,
  type Tone,
  WordMark,
} from "../ui";
import { ACCOUNT_PATH, HOME_PATH, SIGN_OUT_PATH } from "./paths";

interface NavGroup {
  label?: string;
  items: readonly { href: string; label: string; isCurrent: boolean }[];
}

interface ScreenProps {
  title: string;
  user: { name: string; email: string; role: Role };
  nav: readonly NavGroup[];
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
      <div class="shell">
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Side user={props.user} nav={props.nav} />
        <main class="main" id="main" tabIndex={-1}>
          {(props.warnings ?? []).map((warning) => (
            <Notice key={warning} tone="warning">
              {warning}
            </Notice>
          ))}
          {props.flash ? <Flash message={props.flash} /> : null}
          {props.children}
        </main>
      </div>
    ),
  });
}

/** Sidebar; on small screens a menu in a popover, which needs no script. */
function Side({ user, nav }: Pick<ScreenProps, "user" | "nav">) {
  return (
    <header class="side">
      <a class="side-home" href={HOME_PATH}>
        <WordMark />
      </a>
      <button class="button quiet side-button" type="button" popovertarget="menu">
        Menu
      </button>
      <div class="menu" id="menu" popover="auto">
        <nav aria-label="Dashboard">
          {nav.map((group) => (
            <NavLinks key={group.label ?? ""} group={group} />
          ))}
        </nav>
        <div class="menu-user">
          <a href={ACCOUNT_PATH} title={user.email}>
            <span class="strong">{user.name}</span>
            <span class="menu-role">{user.role}</span>
          </a>
          <PostButton action={SIGN_OUT_PATH}>Sign out</PostButton>
        </div>
      </div>
    </header>
  );
}

function NavLinks({ group }: { group: NavGroup }) {
  return (
    <div class="menu-group">
      {group.label ? <p class="menu-label">{group.label}</p> : null}
      <ul>
        {group.items.map(({ href, label, isCurrent }) => (
          <li key={href}>
            <a href={safeHref(href)} aria-current={isCurrent ? "page" : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
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
