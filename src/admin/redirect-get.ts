import { seeOther } from "../http";

/*
 * What answers GET at an address that a form is posted to: a browser that comes back to what it was shown
 * there, such as a preview or the form that was refused, goes to the screen where the form stands.
 */

/** Leads to a screen that is one for all. */
export function redirectGet(path: string) {
  return async (): Promise<Response> => seeOther(path);
}

/** Leads to the screen of what the address names by its id. */
export function redirectGetById(pathOf: (id: string) => string) {
  return async ({ params }: { params: { id: string } }): Promise<Response> =>
    seeOther(pathOf(params.id));
}
