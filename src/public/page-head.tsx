import { readFileSync } from "node:fs";
import { lazy } from "../kernel/lazy";
import { assetPath, type AssetSource, ringIconUrl } from "../ui";
import { PAPERS } from "./accent";
import type { PageContext } from "./page-context";
import previewPath from "./pictures/preview.png" with { type: "file" };

/** Picture of the product's mark, which messengers show next to a link to a page. */
export const PREVIEW_PICTURE: AssetSource = {
  name: "preview.png",
  mediaType: "image/png",
  content: { path: previewPath },
};

const PREVIEW_SIZE = { width: "1200", height: "630" };

const previewAsset = lazy(() => assetPath(PREVIEW_PICTURE.name, readFileSync(previewPath)));

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
  const { page, tone, paths } = context;
  const description =
    props.description ||
    page.description ||
    `Current status, incidents and planned maintenance of ${page.name}.`;
  const origin = page.url.slice(0, -paths.home.length);
  const url = path === undefined ? page.url : origin + path;
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
          <meta property="og:image" content={origin + previewAsset()} />
          <meta property="og:image:width" content={PREVIEW_SIZE.width} />
          <meta property="og:image:height" content={PREVIEW_SIZE.height} />
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
