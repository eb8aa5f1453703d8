import { TONE_FILLS } from "../base/status";
import { headlineText, toneOf } from "../features/status/rules";
import type { StatusDocument } from "../features/status/model";
import { OUTLINES, shorten } from "./badges";
import script from "./widget.js" with { type: "text" };

/**
 * Returns the script that shows a page's state on other sites. It contains the state, so it sends no
 * request. It names an open incident if there is only one, else it shows the headline.
 */
export function renderWidget(document: StatusDocument, openIncidentCount: number): string {
  const { page, incidents } = document;
  const tone = toneOf(document);
  const [incident] = incidents;
  const isNamed = incident !== undefined && openIncidentCount === 1;
  const state = {
    name: shorten(page.name),
    text: isNamed ? shorten(incident.name) : headlineText(document),
    url: isNamed ? incident.url : page.url,
    isWell: tone === "ok" || tone === "none",
    fill: TONE_FILLS[tone],
    shape: OUTLINES[tone],
  };
  // Replaced by a function, since a text may contain `$&`.
  return script.replace("STATE", () => JSON.stringify(state));
}
