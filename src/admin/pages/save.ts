import { actorOf, type Form } from "../../http";
import { createDone } from "../done";
import type { AdminParts } from "../parts";
import type { ScreenRequest } from "../render";
import { refusalOrThrow } from "../stale";
import { changePage, inPlainWords } from "./change";
import { type PageTab, pageTabPath } from "./frame";
import type { ShowPage } from "./screens";
import { type PageField, toInput, readValues } from "./values";

/** What a form about a page changes, and where it is. */
interface Section {
  tab: PageTab;
  fields: readonly PageField[];
  /** The sentence when it is done. */
  told: string;
}

/** Changes what a form holds, and answers it: the screen it came from, or the form with what is wrong. */
export type Save = (
  at: ScreenRequest,
  id: string,
  form: Form,
  section: Section,
) => Promise<Response>;

export function createSave(parts: AdminParts, showPage: ShowPage): Save {
  const { ctx, writeAs } = parts;
  const done = createDone(parts.flashes);
  return async (at, id, form, { tab, fields, told }) => {
    const values = readValues(form, fields);
    const asked = toInput(values);
    try {
      const isChanged = await writeAs(at.admission, (tx) =>
        changePage(ctx, tx, id, { form, asked, url: at.request.url }, actorOf(at.admission)),
      );
      return done(at.admission, pageTabPath(id, tab), isChanged ? told : undefined);
    } catch (error) {
      return showPage(at, id, tab, { values, refusal: refusalOrThrow(inPlainWords(error, asked)) });
    }
  };
}
