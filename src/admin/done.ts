import { type Admission, seeOther, sessionOf } from "../http";
import type { Flashes } from "./flashes";

/** Answers a form that did what it asks for: leads to a screen, with a sentence for its top. */
export type Done = (admission: Admission, path: string, text: string) => Response;

export function createDone(flashes: Flashes): Done {
  return (admission, path, text) => {
    flashes.put(sessionOf(admission).id, { tone: "success", text });
    return seeOther(path);
  };
}
