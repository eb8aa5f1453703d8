import type { ComponentChildren } from "preact";
import { logoPath } from "../features/pages/address";
import type { PageRow } from "../features/pages/store";
import { lazy } from "../base/lazy";
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import { ringIconUrl } from "../ui/pictures";
import forms from "./css/forms.css" with { type: "text" };
import style from "./css/mail.css" with { type: "text" };
import { renderFramed } from "./document-frame";
import { Logo } from "./page-document";
import { pathsOf } from "./page-paths";
import { directionOf } from "./subscription-parts";

const mailCss = lazy(() => minifyCss(`${forms}\n${style}`));

interface MailDocumentProps {
  /** The page that the link is about; undefined if it is not known any more. */
  page: PageRow | undefined;
  title: string;
  children: ComponentChildren;
}

const NO_PAGE = { locale: "en", theme: "system", accent: null } as const;

/**
 * Renders a page to which a link in a mail leads, in the look of the status page. It shows nothing of the
 * status, since the status page may be private or deleted, and has no script, link or form with the token.
 */
export function renderMailDocument({ page, title, children }: MailDocumentProps): HtmlDocument {
  const look = page ?? NO_PAGE;
  return renderFramed({
    page: look,
    css: mailCss(),
    dir: directionOf(look.locale),
    head: (
      <>
        <title>{page ? `${title} · ${page.name}` : title}</title>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={ringIconUrl("none")} />
      </>
    ),
    body: (
      <div class="column mail-page">
        {page ? (
          <header class="top">
            <Brand page={page} />
          </header>
        ) : null}
        <main id="main">{children}</main>
      </div>
    ),
  });
}

/** Name or logo of the page, with a link to it if everyone can see it. */
function Brand({ page }: { page: PageRow }) {
  if (!isOpen(page)) return <span class="brand">{page.name}</span>;
  const logo = logoPath(page);
  return (
    <a class="brand" href={pathsOf(page.slug).home}>
      {logo === null ? page.name : <Logo page={page} path={logo} />}
    </a>
  );
}

/** Returns true for a page that everyone can see. */
export function isOpen(page: Pick<PageRow, "visibility" | "deletedAt">): boolean {
  return page.visibility === "public" && page.deletedAt === null;
}
