import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

interface PageHeadProps {
  title: string;
  /** The way here, without the page itself. The last without `href` is shown as text. */
  crumbs?: readonly { href?: string; label: string }[];
  actions?: ComponentChildren;
  /** Purpose of the page, in a sentence. */
  children?: ComponentChildren;
}

/** The top of a screen: where one is, what it is called, what can be done. */
export function PageHead({ title, crumbs = [], actions, children }: PageHeadProps) {
  return (
    <header class="screen-head">
      {crumbs.length > 0 ? (
        <nav class="crumbs" aria-label="Breadcrumb">
          <ol>
            {crumbs.map(({ href, label }) => (
              <li key={label}>
                {href === undefined ? <span>{label}</span> : <a href={safeHref(href)}>{label}</a>}
              </li>
            ))}
          </ol>
        </nav>
      ) : null}
      <h1>{title}</h1>
      {children ? <div class="muted">{children}</div> : null}
      {actions ? <div class="actions">{actions}</div> : null}
    </header>
  );
}
