import { readFileSync } from "node:fs";
import type { Tone } from "../base/status";
import { lazy } from "../base/lazy";
import { assetPath, type AssetSource } from "../ui/assets";
import { ringIconUrl } from "../ui/pictures";
import { PAPERS } from "./accent";
import { liveUrl, originOf, type PageContext } from "./page-context";
import degraded from "./pictures/preview-degraded.png" with { type: "file" };
import maint from "./pictures/preview-maint.png" with { type: "file" };
import major from "./pictures/preview-major.png" with { type: "file" };
import none from "./pictures/preview-none.png" with { type: "file" };
import ok from "./pictures/preview-ok.png" with { type: "file" };
import partial from "./pictures/preview-partial.png" with { type: "file" };

const PREVIEW_FILES: Record<Tone, string> = { none, ok, maint, degraded, partial, major };

/**
 * Pictures of a page's state, which messengers show next to a link to the page, one for each tone.
 * `test/preview-pictures.tsx` draws them.
 */
export const PREVIEW_PICTURES: readonly AssetSource[] = Object.entries(PREVIEW_FILES).map(
  ([tone, path]) => ({
    name: `preview-${tone}.png`,
    mediaType: "image/png",
    content: { path },
  }),
);

const PREVIEW_SIZE = { width: "1200", height: "630" };

/** Path of the picture of each tone. */
const previewAssets = lazy(
  () =>
    new Map(
      Object.entries(PREVIEW_FILES).map(([tone, path]) => [
        tone,
        assetPath(`preview-${tone}.png`, readFileSync(path)),
      ]),
    ),
);

interface PageMetaProps {
  context: PageContext;
  /** Title of the document, with the page's name. */
  title: string;
  /** Path of the document, if it is not the page itself. */
  path: string | undefined;
  description: string | undefined;
}

/**
 * Description of a document for browsers, search engines and messengers. A private page is excluded from
 * search engines and has no preview in messengers.
 */
export function PageMeta({ context, title, path, ...props }: PageMetaProps) {
  const { page, headline, tone, paths } = context;
  const description =
    props.description ||
    page.description ||
    `Current status, incidents and planned maintenance of ${page.name}.`;
  const origin = originOf(page);
  const url = liveUrl(context, path);
  const [light, dark] = PAPERS;
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={description} />
      {page.theme === "system" ? (
        <>
          <meta name="theme-color" content={light} media="(prefers-color-scheme: light)" />
          <meta name="theme-color" content={dark} media="(prefers-color-scheme: dark)" />
        </>
      ) : (
        <meta name="theme-color" content={page.theme === "dark" ? dark : light} />
      )}
      {page.visibility === "public" ? (
        <>
          <link rel="canonical" href={url} />
          <link rel="alternate" type="application/atom+xml" href={paths.atom} />
          <link rel="alternate" type="application/rss+xml" href={paths.rss} />
          <meta property="og:type" content="website" />
          <meta property="og:site_name" content={page.name} />
          <meta property="og:title" content={title} />
          <meta property="og:description" content={description} />
          <meta property="og:url" content={url} />
          <meta property="og:image" content={origin + previewAssets().get(tone)} />
          <meta property="og:image:width" content={PREVIEW_SIZE.width} />
          <meta property="og:image:height" content={PREVIEW_SIZE.height} />
          <meta property="og:image:alt" content={headline} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : (
        <meta name="robots" content="noindex" />
      )}
      <link rel="icon" href={ringIconUrl(tone)} />
      <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
    </>
  );
}
