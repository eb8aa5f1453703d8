import { readFileSync } from "node:fs";
import { Elysia } from "elysia";
import { type RequestContexts, operation, Representation } from "../http";
import { lazy } from "../kernel/lazy";
import { ringIcon } from "../ui";
import favicon from "./pictures/favicon.ico" with { type: "file" };
import touchIcon from "./pictures/touch-icon.png" with { type: "file" };

/** Cache limit of the files. They change only with the version of the program, but have no hash in their name. */
const A_DAY = "public, max-age=86400";

/**
 * Rules that exclude the dashboard and the API from search engines. Private pages are not named, since
 * the file is public; without a session they are `not_found`.
 */
const ROBOTS = "User-agent: *\nDisallow: /admin\nDisallow: /api/\n";

/** Files that browsers and search engines request by fixed names, on every host. */
export function rootFileRoutes(requestContexts: RequestContexts) {
  const robots = lazy(() => fileOf(ROBOTS, "text/plain;charset=utf-8"));
  const icon = lazy(() => fileOf(readFileSync(favicon), "image/x-icon"));
  const picture = lazy(() => fileOf(readFileSync(touchIcon), "image/png"));
  const drawing = lazy(() => fileOf(ringIcon("ok"), "image/svg+xml"));
  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/icon.svg",
      ({ request, requestContext }) => drawing().respond(request, requestContext),
      fileOperation("Read the icon that clients of Uptime Kuma show for pages without a logo"),
    )
    .get(
      "/robots.txt",
      ({ request, requestContext }) => robots().respond(request, requestContext),
      fileOperation("Read the rules for search engines"),
    )
    .get(
      "/favicon.ico",
      ({ request, requestContext }) => icon().respond(request, requestContext),
      fileOperation("Read the icon of browsers without SVG"),
    )
    .get(
      "/apple-touch-icon.png",
      ({ request, requestContext }) => picture().respond(request, requestContext),
      fileOperation("Read the icon of home screens"),
    );
}

function fileOf(content: string | Uint8Array<ArrayBuffer>, mediaType: string): Representation {
  const isCompressed = typeof content !== "string";
  return new Representation(content, { mediaType, cacheControl: A_DAY, isCompressed });
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
