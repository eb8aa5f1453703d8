import bundlePath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import { ERROR_CODES, ERRORS } from "../errors";
import { type Assets, type AssetSource, type HtmlDocument, renderDocument } from "../ui";

// The validator badge is off, since it would load from another host.
const START = `SwaggerUIBundle({url:"/openapi.json",dom_id:"#docs",deepLinking:true,validatorUrl:null,defaultModelsExpandDepth:0,persistAuthorization:false});`;

/** Assets of the API documentation. */
export const DOCS_ASSETS: AssetSource[] = [
  { name: "docs.js", mediaType: "text/javascript", content: { path: bundlePath } },
  { name: "docs.css", mediaType: "text/css", content: { path: stylePath } },
  { name: "docs-start.js", mediaType: "text/javascript", content: { text: START } },
];

/** Renders the interactive API documentation, which is embedded in the executable. */
export async function renderDocs(assets: Assets): Promise<HtmlDocument> {
  const [style, script, start] = await Promise.all(
    ["docs.css", "docs.js", "docs-start.js"].map((name) => assets.pathOf(name)),
  );
  return {
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>API · Allclear</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}"></head><body><main id="docs"><noscript>This page needs JavaScript. The same content is in <a href="/openapi.json">/openapi.json</a>.</noscript></main><script src="${script}"></script><script src="${start}"></script></body></html>`,
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
            <a href="/docs">API documentation</a> · <a href="/docs/licences">Licences</a>
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
