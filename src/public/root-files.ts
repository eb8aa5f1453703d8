import { readFileSync } from "node:fs";
import { Elysia } from "elysia";
import { type RequestContexts, operation, Representation } from "../http";
import { lazy } from "../kernel/lazy";
import favicon from "./pictures/favicon.ico" with { type: "file" };
import touchIcon from "./pictures/touch-icon.png" with { type: "file" };

/** Files change with a new version of the program only, but their names have no hash. */
const A_DAY = "public, max-age=86400";

/**
 * Rules for search engines: the dashboard and the API are not for them. Private pages are not named here,
 * since the file is public. They are `not_found` without a session.
 */
const ROBOTS = "User-agent: *\nDisallow: /admin\nDisallow: /api/\n";

/** Files that browsers and search engines request by fixed names, on every host. */
export function rootFileRoutes(requestContexts: RequestContexts) {
  const robots = lazy(() => fileOf(ROBOTS, "text/plain;charset=utf-8"));
  const icon = lazy(() => fileOf(readFileSync(favicon), "image/x-icon"));
  const picture = lazy(() => fileOf(readFileSync(touchIcon), "image/png"));
  return new Elysia()
    .use(requestContexts.plugin)
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
