import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Page } from "../features/pages/model";
import { sha256Base64 } from "../base/hash";
import { lazy } from "../base/lazy";
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import { spriteFor } from "../ui/icons";
import base from "../ui/base.css" with { type: "text" };
import charts from "../ui/css/charts.css" with { type: "text" };
import text from "../ui/css/text.css" with { type: "text" };
import tokens from "../ui/tokens.css" with { type: "text" };
import { accentCss } from "./accent";
import banner from "./css/banner.css" with { type: "text" };
import components from "./css/components.css" with { type: "text" };
import frame from "./css/page.css" with { type: "text" };
import preferences from "./css/preferences.css" with { type: "text" };
import sections from "./css/sections.css" with { type: "text" };
import updates from "./css/updates.css" with { type: "text" };

const PARTS = [
  tokens,
  base,
  charts,
  frame,
  sections,
  banner,
  updates,
  text,
  components,
  preferences,
];

/** Style sheet of all public pages, without the accent colour. Later files override earlier ones. */
const pageCss = lazy(() => minifyCss(PARTS.join("\n")));

interface FramedProps {
  page: Pick<Page, "locale" | "theme" | "accent">;
  /** Style sheet added to that of all pages. */
  css: string;
  /** Direction of text; by default that of the browser. */
  dir?: "ltr" | "rtl" | undefined;
  /** Title and description of the document. */
  head: ComponentChildren;
  scripts?: ComponentChildren;
  body: VNode;
  /** True if the document contains its policy, since the server of a copy does not know the header. */
  isCopy?: boolean;
}

/**
 * Renders a document in the look of a status page. Its style is inline, and its sprite has only the icons of
 * its body.
 */
export function renderFramed(props: FramedProps): HtmlDocument {
  const { page, dir } = props;
  const style = pageCss() + props.css + accentCss(page.accent);
  const policy = policyFor(style);
  const body = renderToString(props.body);
  const html = renderToString(
    <html
      lang={page.locale}
      dir={dir}
      {...(page.theme === "system" ? {} : { "data-theme": page.theme })}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {props.isCopy ? <meta http-equiv="Content-Security-Policy" content={policy} /> : null}
        {props.head}
        <style dangerouslySetInnerHTML={{ __html: style }} />
        {props.scripts}
      </head>
      <body dangerouslySetInnerHTML={{ __html: body + spriteFor(body) }} />
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: `${policy}; frame-ancestors 'none'` };
}

/**
 * Returns the policy without `frame-ancestors`, which an element cannot have: the inline style by its hash, scripts and
 * images of this server.
 */
function policyFor(style: string): string {
  const hash = sha256Base64(style);
  return `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'`;
}

/** Start of the body of a public page, after which the strip is inserted. */
const BEGINNING = '<body><div class="column">';
const STRIP = '<p class="strip t-maint" role="status">Preview. Nothing was published.</p>';

/** Marks a public page as a preview, at its top and in its title. */
export function asPreview({ html, policy }: HtmlDocument): HtmlDocument {
  if (!html.includes(BEGINNING)) throw new Error("the page has an unknown start");
  return {
    html: html.replace("<title>", "<title>Preview: ").replace(BEGINNING, () => BEGINNING + STRIP),
    policy,
  };
}
