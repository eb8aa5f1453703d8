import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { ERROR_CODES, ERRORS } from "../base/errors";
import type { Assets, AssetSource } from "../ui/assets";
import { type HtmlDocument, renderDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import tokens from "../ui/tokens.css" with { type: "text" };
import look from "./css/explorer.css" with { type: "text" };

// The validator badge is off, since it would load from another host.
const START = `if(matchMedia("(prefers-color-scheme: dark)").matches)document.documentElement.classList.add("dark-mode");SwaggerUIBundle({url:"/openapi.json",dom_id:"#docs",deepLinking:true,validatorUrl:null,defaultModelsExpandDepth:0,persistAuthorization:false});`;

/** Assets of the API documentation. */
export const DOCS_ASSETS: AssetSource[] = [
  { name: "docs.js", mediaType: "text/javascript", content: { path: bundlePath } },
  { name: "docs.css", mediaType: "text/css", content: { path: stylePath } },
  { name: "docs-look.css", mediaType: "text/css", content: { text: minifyCss(tokens + look) } },
  { name: "docs-start.js", mediaType: "text/javascript", content: { text: START } },
];

/** Renders a form for each operation, which sends it. It needs a script, which is embedded in the executable. */
export async function renderExplorer(assets: Assets): Promise<HtmlDocument> {
  const [style, look, script, start] = await Promise.all(
    ["docs.css", "docs-look.css", "docs.js", "docs-start.js"].map((name) => assets.pathOf(name)),
  );
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Try the API · Allclear</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}"><link rel="stylesheet" href="${look}"></head><body><header class="explorer-top"><a href="/">Allclear</a><nav aria-label="Documentation"><a href="/docs">Reference</a><a href="/docs/try" aria-current="page">Try it</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a></nav></header><main id="docs"><noscript>These forms need JavaScript. The <a href="/docs">reference</a> needs none.</noscript></main><script src="${script}"></script><script src="${start}"></script></body></html>`,
    policy:
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
}

/** Renders the explanations of all errors. The `type` of a problem links to its entry. */
export function renderErrorDocs(): HtmlDocument {
  return renderDocument({
    title: "Errors · Allclear",
    children: (
      <main class="column">
        <header class="page-head">
          <h1>Errors</h1>
          <p class="muted">
            Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes.
            <br />
            <a href="/docs">API reference</a> · <a href="/docs/licences">Licences</a>
          </p>
        </header>
        <dl class="error-list">
          {ERROR_CODES.map((code) => (
            <ErrorEntry key={code} code={code} />
          ))}
        </dl>
      </main>
    ),
  });
}

function ErrorEntry({ code }: { code: (typeof ERROR_CODES)[number] }) {
  const { status, title, meaning, example } = ERRORS[code];
  return (
    <>
      <dt id={code}>
        {status} <code>{code}</code> · {title}
      </dt>
      <dd>
        <p>{meaning}</p>
        <p class="muted">For example: {example}</p>
      </dd>
    </>
  );
}
