import type { TestApp } from "./app";
import { type HtmlPage, readHtml } from "./html";

/** Rows of the overview that need attention, in their order. */
interface AttentionRows {
  page: HtmlPage;
  /** Name and state of each row, such as "Search Degraded performance for 8 min". */
  titles: string[];
  notes: string[];
  /** Paths of the next actions. */
  actions: string[];
}

/** Opens the overview with a session. */
export async function openOverview(app: TestApp, session: string): Promise<AttentionRows> {
  const page = readHtml((await app.call("/admin", { session })).text);
  return {
    page,
    titles: page.texts("#attention .row-title"),
    notes: page.texts("#attention .row-note"),
    actions: page.attributes("#attention .row-side a", "href"),
  };
}
