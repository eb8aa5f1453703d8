/*
 * Files beside the pages, with their routes: assets by names that contain a hash, files at the root of every host,
 * logos, and badges and widgets for other sites.
 */
import { Type } from "@sinclair/typebox";
import { readFileSync } from "node:fs";
import { notFound } from "../base/errors";
import { lazy } from "../base/lazy";
import type { Ctx } from "../context";
import { resolveComponentId } from "../features/components/references";
import { withLanguage } from "../features/pages/language-links";
import { findPicture, type PictureKind } from "../features/pages/logo";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { IMMUTABLE, WIDGET_CACHE } from "../http/cdn";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { Representation, representOnce } from "../http/representation";
import { type Assets, createAssets, HOME_ICONS, MANIFEST_TYPE, UI_ASSETS } from "../ui/assets";
import { ringIcon } from "../ui/pictures";
import { type Badge, componentBadge, endpointBadge, pageBadge, renderBadge } from "./badges";
import { LANGUAGES_OF_FILES, languageOfRequest, lastUsed } from "./chosen-language";
import { DOCS_ASSETS } from "./docs";
import { renderWidget } from "./embed";
import { representManifest } from "./manifest";
import { PAGE_SCRIPT, PREVIEW_PICTURES, STATIC_COPY_SCRIPT } from "./page-document";
import favicon from "./pictures/favicon.ico" with { type: "file" };
import touchIcon from "./pictures/touch-icon.png" with { type: "file" };
import {
  type Call,
  createFileServer,
  document,
  MOVED,
  moved,
  PUBLIC_JSON,
  publicJson,
  represent,
} from "./site";
import { COPY_SCRIPT } from "./subscribe";
import type { Visitors } from "./visitors";

/** Assets of status pages and of their copies. */
export const PUBLIC_ASSETS = [
  PAGE_SCRIPT,
  STATIC_COPY_SCRIPT,
  COPY_SCRIPT,
  ...PREVIEW_PICTURES,
  ...HOME_ICONS,
];

/** Creates the assets of all pages. */
export function createAllAssets(): Assets {
  return createAssets([...DOCS_ASSETS, ...UI_ASSETS, ...PUBLIC_ASSETS]);
}

/** `/assets/{name}`: assets of all pages, by names that contain a hash. */
export function assetRoutes(assets: Assets) {
  return declareRoutes().get(
    "/assets/:name",
    async ({ params, request, requestContext }) => {
      const asset = await assets.find(params.name);
      if (!asset) throw notFound("asset");
      return asset.respond(request, requestContext);
    },
    operation({
      tag: "Documentation",
      access: { kind: "file" },
      onCustomDomain: "shared",
      summary: "Read a file of a page",
      answers: { 200: { description: "The file." } },
      errors: ["not_found"],
    }),
  );
}

/** Cache limit of the files. They change only with the version of the program, but have no hash in their name. */
export const ROOT_FILE_CACHE = "public, max-age=86400";

/**
 * Rules that exclude the dashboard and the API from search engines. Private pages are not named, since
 * the file is public; their answers have `noindex`.
 */
const ROBOTS = "User-agent: *\nDisallow: /admin\nDisallow: /api/\n";

/** File with a fixed name at the root of every host. */
interface RootFile {
  path: string;
  summary: string;
  mediaType: string;
  read(): string | Uint8Array<ArrayBuffer>;
}

/** Files that browsers and search engines request by fixed names. */
export const ROOT_FILES: readonly RootFile[] = [
  {
    path: "/icon.svg",
    summary: "Read the icon that clients of Uptime Kuma show for pages without a logo",
    mediaType: "image/svg+xml",
    read: () => ringIcon("ok"),
  },
  {
    path: "/robots.txt",
    summary: "Read the rules for search engines",
    mediaType: "text/plain;charset=utf-8",
    read: () => ROBOTS,
  },
  {
    path: "/favicon.ico",
    summary: "Read the icon of browsers without SVG",
    mediaType: "image/x-icon",
    read: () => readFileSync(favicon),
  },
  {
    path: "/apple-touch-icon.png",
    summary: "Read the icon of home screens",
    mediaType: "image/png",
    read: () => readFileSync(touchIcon),
  },
];

/** Routes of the root files, on every host. */
export function rootFileRoutes() {
  const routes = declareRoutes();
  for (const file of ROOT_FILES) {
    const representation = lazy(() => representRootFile(file));
    routes.get(
      file.path,
      ({ request, requestContext }) => representation().respond(request, requestContext),
      fileOperation(file.summary),
    );
  }
  return routes;
}

function representRootFile({ mediaType, read }: RootFile): Representation {
  const content = read();
  const isCompressed = typeof content !== "string";
  return new Representation(content, { mediaType, cacheControl: ROOT_FILE_CACHE, isCompressed });
}

function fileOperation(summary: string) {
  return operation({
    tag: "Documentation",
    access: { kind: "file" },
    onCustomDomain: "shared",
    summary,
    answers: { 200: { description: "The file." } },
  });
}

/**
 * `/status/{slug}/logo/{file}` and `/status/{slug}/favicon/{file}`: the pictures of a page, by names that contain their
 * hashes.
 */
export function pictureRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  function serve(kind: PictureKind) {
    const pictureOf = representOnce((snapshot: Snapshot) => {
      const { id } = snapshot.document.page;
      // Another process may have changed the picture. Its name must not be used for other bytes.
      const picture = findPicture(ctx.db, kind, id, fileOf(snapshot, kind));
      if (!picture) throw notFound(kind);
      return new Representation(new Uint8Array(picture.bytes), {
        mediaType: picture.mediaType,
        cacheControl: IMMUTABLE,
        isCompressed: true,
        headers: { "Content-Security-Policy": "default-src 'none'" },
      });
    });
    return ({ params, request, requestContext }: Call & { params: { file: string } }) =>
      snapshots.whenReady(params.slug, requestContext.now, () => {
        const snapshot = visitors.get(params.slug, requestContext);
        if (fileOf(snapshot, kind) !== params.file) throw notFound(kind);
        return pictureOf(snapshot).respond(request, requestContext);
      });
  }

  const picture = (id: string, kind: PictureKind) =>
    operation({
      id,
      tag: "Pages",
      access: { kind: "file" },
      onCustomDomain: "page",
      summary: `Read the ${kind} of a page`,
      description: `\`${kind}\` of a page has its address. The ${kind} of a private page is sent to those who see the page.`,
      conditional: "etag",
      path: { file: Type.String({ description: "Name of the file, which contains its hash." }) },
      answers: {
        200: {
          description: `The ${kind}.`,
          mediaType: "image/png",
          alsoAs: ["image/jpeg", "image/webp"],
        },
      },
      errors: ["not_found"],
    });

  return declareRoutes()
    .get("/status/:slug/logo/:file", serve("logo"), picture("getLogo", "logo"))
    .get("/status/:slug/favicon/:file", serve("favicon"), picture("getFavicon", "favicon"));
}

/**
 * `/status/{slug}/manifest.webmanifest`: the web manifest of a page. That of a private page is sent to those who see the
 * page; for all others it does not exist.
 */
export function manifestRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  const serve = createFileServer(ctx, snapshots, visitors);
  return declareRoutes().get(
    "/status/:slug/manifest.webmanifest",
    serve("manifest.webmanifest", representManifest, visitors.get),
    operation({
      tag: "Pages",
      access: { kind: "file" },
      onCustomDomain: "page",
      summary: "Read the web manifest of a page",
      conditional: "etag",
      answers: { 200: { description: "The manifest.", mediaType: MANIFEST_TYPE }, 308: MOVED },
      errors: ["not_found"],
    }),
  );
}

function fileOf({ document }: Snapshot, kind: PictureKind): string | undefined {
  return document.page[kind]?.split("/").at(-1);
}

const SVG = "image/svg+xml";

type PageComponent = Snapshot["document"]["components"][number];

const EndpointBadge = Type.Object(
  {
    schemaVersion: Type.Literal(1),
    label: Type.String({ examples: ["Acme"] }),
    message: Type.String({ examples: ["All Systems Operational"] }),
    color: Type.String({ examples: ["1a7f4b"] }),
  },
  { title: "EndpointBadge" },
);

/** Routes of pictures and scripts of pages for other sites. */
export function badgeRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  const serve = createFileServer(ctx, snapshots, visitors);
  const badgeOf = representOnce((snapshot: Snapshot) => picture(pageBadge(snapshot.document)));
  const endpointOf = publicJson((snapshot) => endpointBadge(pageBadge(snapshot.document)));
  const widgetOf = representOnce(
    (snapshot: Snapshot) =>
      new Representation(renderWidget(snapshot), {
        mediaType: "text/javascript;charset=utf-8",
        cacheControl: WIDGET_CACHE,
        isCrossOrigin: true,
      }),
  );
  const badges = new WeakMap<PageComponent, Map<string, Representation>>();
  /** Returns the badge of a component. Components of equal snapshots are the same objects. */
  function componentBadgeOf(component: PageComponent, locale: string): Representation {
    let byLocale = badges.get(component);
    if (!byLocale) badges.set(component, (byLocale = new Map()));
    return lastUsed(byLocale, locale, 1 + LANGUAGES_OF_FILES, () =>
      picture(componentBadge(component, locale)),
    );
  }

  return declareRoutes()
    .get(
      "/status/:slug/badge.svg",
      serve("badge.svg", badgeOf),
      document("getBadge", "Read the badge of a page", SVG, "Name and headline of the page."),
    )
    .get(
      "/status/:slug/badge.json",
      serve("badge.json", endpointOf),
      operation({
        ...PUBLIC_JSON,
        id: "getEndpointBadge",
        summary: "Read the badge of a page for shields.io",
        description: "In the format of shields.io's endpoint badge.",
        answers: { 200: { description: "The badge.", schema: EndpointBadge }, 308: MOVED },
      }),
    )
    .get(
      "/status/:slug/widget.js",
      serve("widget.js", widgetOf, visitors.getPublic),
      document(
        "getWidget",
        "Read the script that shows a page's state on other sites",
        "text/javascript",
        "For a script element. It contains the state, and may be 5 minutes old.",
      ),
    )
    .get(
      "/status/:slug/badge/:id.svg",
      ({ params, request, requestContext }) =>
        snapshots.whenReady(params.slug, requestContext.now, () => {
          const snapshot = visitors.getForPrograms(params.slug, requestContext);
          const { page, components } = snapshot.document;
          const language = languageOfRequest(request, page);
          // The parameter is the whole segment, including its ending.
          const [, reference = ""] = /^(.+)\.svg$/.exec(params["id.svg"]) ?? [];
          const componentId = resolveComponentId(ctx.db, reference);
          const component = components.find(({ id }) => id === componentId);
          if (!component) throw notFound("component");
          return page.slug === params.slug
            ? componentBadgeOf(component, language ?? page.locale).respond(request, requestContext)
            : moved(page.slug, withLanguage(`badge/${component.id}.svg`, language));
        }),
      document(
        "getComponentBadge",
        "Read the badge of a component",
        SVG,
        "Name and status of the component.",
      ),
    );
}

/** Returns a badge, with a policy because browsers open SVG as a document. */
function picture(badge: Badge): Representation {
  const headers = { "Content-Security-Policy": "default-src 'none'" };
  return represent(renderBadge(badge), SVG, { headers });
}
