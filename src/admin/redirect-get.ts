import { seeOther } from "../http";

/*
 * What answers GET at an address that a form is posted to: a browser that comes back to what it was shown
 * there, such as a preview or the form that was refused, goes to the screen where the form stands.
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
