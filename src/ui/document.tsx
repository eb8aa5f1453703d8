import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { sha256Base64 } from "../kernel/hash";
import { lazy } from "../kernel/lazy";
import base from "./base.css" with { type: "text" };
import { minifyCss } from "./css";
import { ringIcon } from "./pictures";
import tokens from "./tokens.css" with { type: "text" };

/** The style of a page that stands alone, and its hash. */
const style = lazy(() => {
  const css = minifyCss(`${tokens}\n${base}`);
  return { css, hash: sha256Base64(css) };
});

/** A whole HTML page, and the policy that it is to be sent with. */
export interface HtmlDocument {
  html: string;
  /** Content-Security-Policy: the inline style sheet by its hash, nothing from anywhere else. */
  policy: string;
}

interface DocumentProps {
  title: string;
  locale?: string;
  theme?: "system" | "light" | "dark";
  /** The colour of the ring in the favicon, as CSS has it. */
  iconColour?: string;
  description?: string;
  children: ComponentChildren;
}

/** Renders a page that works without JavaScript and asks no other host for anything. */
export function renderDocument(props: DocumentProps): HtmlDocument {
  const { title, locale = "en", theme = "system", iconColour = "#1a7f4b" } = props;
  const icon = `data:image/svg+xml,${encodeURIComponent(ringIcon(iconColour))}`;
  const html = renderToString(
    <html lang={locale} {...(theme === "system" ? {} : { "data-theme": theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        {props.description ? <meta name="description" content={props.description} /> : null}
        <link rel="icon" href={icon} />
        <style dangerouslySetInnerHTML={{ __html: style().css }} />
      </head>
      <body>{props.children}</body>
    </html>,
  );
  return {
    html: `<!doctype html>${html}`,
    policy: `default-src 'none'; style-src 'sha256-${style().hash}'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
