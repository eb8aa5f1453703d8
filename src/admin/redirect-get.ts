import { seeOther } from "../http";

/*
 * Handlers for GET requests to paths that forms are posted to. A browser that returns to the answer of
 * such a form, such as a preview, is redirected to the screen with the form.
 */

/** Returns a handler that redirects to a fixed path. */
export function redirectGet(path: string) {
  return async (): Promise<Response> => seeOther(path);
}

/** Returns a handler that redirects to the screen of the object with the id in the path. */
export function redirectGetById(pathOf: (id: string) => string) {
  return async ({ params }: { params: { id: string } }): Promise<Response> =>
    seeOther(pathOf(params.id));
}
