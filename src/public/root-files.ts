import { readFileSync } from "node:fs";
import { declareRoutes } from "../http/elysia";
import { operation } from "../http/operation";
import { Representation } from "../http/representation";
import { lazy } from "../base/lazy";
import { ringIcon } from "../ui/pictures";
import favicon from "./pictures/favicon.ico" with { type: "file" };
import touchIcon from "./pictures/touch-icon.png" with { type: "file" };

/** Cache limit of the files. They change only with the version of the program, but have no hash in their name. */
export const ROOT_FILE_CACHE = "public, max-age=86400";

/**
 * Rules that exclude the dashboard and the API from search engines. Private pages are not named, since
 * the file is public; without a session they are `not_found`.
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
    const representation = lazy(() => represent(file));
    routes.get(
      file.path,
      ({ request, requestContext }) => representation().respond(request, requestContext),
      fileOperation(file.summary),
    );
  }
  return routes;
}

function represent({ mediaType, read }: RootFile): Representation {
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
