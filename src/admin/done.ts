import { type RequestContext, seeOther, sessionOf } from "../http";
import type { Flashes } from "./flashes";

/**
 * Redirects to a screen after a form succeeded, with a confirmation at its top. Without a text the
 * confirmation says that nothing changed.
 */
export type Done = (
  requestContext: RequestContext,
  path: string,
  text: string | undefined,
) => Response;

export function createDone(flashes: Flashes): Done {
  return (requestContext, path, text) => {
    const message =
      text === undefined
        ? ({ tone: "info", text: "Nothing was changed." } as const)
        : ({ tone: "success", text } as const);
    flashes.put(sessionOf(requestContext).id, message);
    return seeOther(path);
  };
}
