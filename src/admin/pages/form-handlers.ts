import { actorOf, type Form } from "../../http";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import { rejectionOrThrow } from "../stale";
import { changePage, inPlainWords } from "./change";
import { type PageTab, pageTabPath } from "./frame";
import type { ShowPage } from "./screens";
import { type PageField, toInput, readValues } from "./values";

/** Fields that a page form changes, and its screen. */
interface Section {
  tab: PageTab;
  fields: readonly PageField[];
  /** Returns the confirmation. */
  told: (form: Form) => string;
}

interface AboutPage extends ScreenRequest {
  params: { id: string };
}

/** Creates the handlers that the page forms share. */
export function createFormHandlers(deps: AdminDependencies, showPage: ShowPage) {
  const { ctx, writeAs } = deps;
  const done = createDone(deps.flashes);
  return {
    /** Returns the handler that shows a screen with forms. */
    show:
      (tab: PageTab) =>
      async ({ request, requestContext, params }: AboutPage): Promise<Response> =>
        showPage({ request, requestContext }, params.id, tab),

    /**
     * Returns the handler that saves a form. It redirects to the form's screen, or shows the form
     * with its errors.
     */
    save:
      ({ tab, fields, told }: Section) =>
      async ({
        request,
        requestContext,
        params: { id },
        body: form,
      }: AboutPage & { body: Form }): Promise<Response> => {
        const values = readValues(form, fields);
        const asked = toInput(values);
        try {
          const isChanged = await writeAs(requestContext, (tx) =>
            changePage(ctx, tx, id, { form, asked, url: request.url }, actorOf(requestContext)),
          );
          return done(requestContext, pageTabPath(id, tab), isChanged ? told(form) : undefined);
        } catch (error) {
          const rejection = rejectionOrThrow(inPlainWords(error, asked));
          return showPage({ request, requestContext }, id, tab, { values, rejection });
        }
      },
  };
}
