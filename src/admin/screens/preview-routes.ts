import type { AreaRoutes, At, RouteOptions, SentAt } from "./routes";

export interface PreviewRoutes<Path extends string> extends RouteOptions {
  /** Summaries of the two routes. */
  ask: string;
  summary: string;
  /** Path of the screen that holds the form; by default the form's own. */
  back?: ((at: At<Path>) => string) | undefined;
}

/**
 * Adds the preview of a form, at `preview` below the form's path. A GET request for it, such as
 * after "Back", redirects to the form.
 */
export function addPreview<Path extends string>(
  routes: AreaRoutes,
  path: Path,
  { ask, summary, role, back = pathOfForm }: PreviewRoutes<Path>,
  respond: (at: SentAt<Path>) => Promise<Response>,
): void {
  const previewPath = `${path}/preview` as Path;
  routes.get(previewPath, ask, (at) => ({ path: back(at) }), { role });
  routes.post(previewPath, summary, respond, { role });
}

function pathOfForm({ request }: Pick<At<string>, "request">): string {
  return new URL(request.url).pathname.replace(/\/preview$/, "");
}
