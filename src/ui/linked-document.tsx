import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import type { HtmlDocument } from "./document";

/** Addresses of the dashboard's style sheet, script and favicon. */
export interface LinkedAssets {
  style: string;
  script: string;
  icon: string;
}

interface LinkedDocumentProps {
  title: string;
  assets: LinkedAssets;
  children: ComponentChildren;
}

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Renders a page of the dashboard, whose style and script are files of this server and nothing else. */
export function renderLinkedDocument(props: LinkedDocumentProps): HtmlDocument {
  const { title, assets, children } = props;
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.script} />
      </head>
      <body>{children}</body>
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: POLICY };
}
