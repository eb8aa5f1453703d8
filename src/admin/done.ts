import { type RequestContext, seeOther, sessionOf } from "../http";
import type { Flashes } from "./flashes";

/**
 * Answers a form that did what it asks for: leads to a screen, with a sentence for its top. Without one,
 * because there was nothing to do, it says that.
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
