import { actorOf, type Form } from "../../http";
import { createDone } from "../done";
import type { AdminParts } from "../parts";
import type { ScreenRequest } from "../render";
import { refusalOrThrow } from "../stale";
import { changePage, inPlainWords } from "./change";
import { type PageTab, pageTabPath } from "./frame";
import type { ShowPage } from "./screens";
import { type PageField, toInput, readValues } from "./values";

/** What a form about a page changes, and the screen that it stands on. */
interface Section {
  tab: PageTab;
  fields: readonly PageField[];
  /** The sentence when it is done. */
  told: (form: Form) => string;
}

interface AboutPage extends ScreenRequest {
  params: { id: string };
}

/** What answers the forms about a page: all of them are shown and sent alike. */
export function createFormHandlers(parts: AdminParts, showPage: ShowPage) {
  const { ctx, writeAs } = parts;
  const done = createDone(parts.flashes);
  return {
    /** Shows a screen with forms. */
    show:
      (tab: PageTab) =>
      async ({ request, admission, params }: AboutPage): Promise<Response> =>
        showPage({ request, admission }, params.id, tab),

    /** Changes what a form holds, and answers it: the screen it came from, or the form with what is wrong. */
    save:
      ({ tab, fields, told }: Section) =>
      async ({
        request,
        admission,
        params: { id },
        body: form,
      }: AboutPage & { body: Form }): Promise<Response> => {
        const values = readValues(form, fields);
        const asked = toInput(values);
        try {
          const isChanged = await writeAs(admission, (tx) =>
            changePage(ctx, tx, id, { form, asked, url: request.url }, actorOf(admission)),
          );
          return done(admission, pageTabPath(id, tab), isChanged ? told(form) : undefined);
        } catch (error) {
          const refusal = refusalOrThrow(inPlainWords(error, asked));
          return showPage({ request, admission }, id, tab, { values, refusal });
        }
      },
  };
}
