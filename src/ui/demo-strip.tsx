import { renderToString } from "preact-render-to-string";
import { sha256Base64 } from "../base/hash";
import strip from "./css/demo-strip.css" with { type: "text" };
import type { HtmlDocument } from "./documents";
import { minifyCss } from "./style-sheet";

function DemoStrip() {
  return (
    <aside class="demo-strip" aria-label="Demo">
      <b>Demo.</b> Checks and their results are simulated.
    </aside>
  );
}

const BEGINNING = /<body[^>]*>/;
const CSS = minifyCss(strip);
const STYLE = `<style>${CSS}</style>`;
const SOURCE = `style-src 'sha256-${sha256Base64(CSS)}' `;
const STRIP = renderToString(<DemoStrip />);

/** Adds a strip that says "Demo" to the top of a document. */
export function withDemoStrip({ html, policy }: HtmlDocument): HtmlDocument {
  return {
    html: html
      .replace("</head>", () => `${STYLE}</head>`)
      .replace(BEGINNING, (beginning) => beginning + STRIP),
    // A hash would void 'unsafe-inline'.
    policy: policy.includes("'unsafe-inline'") ? policy : policy.replace("style-src ", SOURCE),
  };
}
