import { getPage, listOldSlugs } from "../../features/pages";
import { sessionOf } from "../../http";
import { roleAllows } from "../../domain/role";
import { NO_COMPLAINTS } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import type { FormRejection } from "../stale";
import { Address } from "./address";
import { PageFacts } from "./detail";
import { PageFrame, type PageTab, pageTabTitle, type SectionProps } from "./frame";
import { General } from "./general";
import { Look } from "./look";
import { type PageValues, storedValues } from "./values";
import { Visibility } from "./visibility";

/** Rejected form: typed values and reason. */
export interface Refused {
  values: Partial<PageValues>;
  rejection: FormRejection;
}

/** Shows a page's screen with the stored values or with a rejected form. Throws `not_found`. */
export type ShowPage = (
  at: ScreenRequest,
  id: string,
  tab: PageTab,
  refused?: Refused,
) => Promise<Response>;

export function createShowPage({
  ctx,
  render,
}: Pick<AdminDependencies, "ctx" | "render">): ShowPage {
  return async (at, id, tab, refused) => {
    const page = getPage(ctx.db, id);
    const mayManage = roleAllows(sessionOf(at.requestContext).user.role, "admin");
    const section: SectionProps = {
      page,
      values: { ...storedValues(page), ...refused?.values },
      complaints: refused?.rejection.complaints ?? NO_COMPLAINTS,
      stale: refused?.rejection.stale,
    };
    const oldSlugs = listOldSlugs(ctx.db, page);
    const contents = {
      overview: () => <PageFacts page={page} oldSlugs={oldSlugs} now={ctx.clock.now()} />,
      general: () => <General {...section} />,
      look: () => <Look {...section} />,
      address: () => <Address {...section} oldSlugs={oldSlugs} />,
      visibility: () => <Visibility {...section} />,
    } satisfies Record<PageTab, () => unknown>;
    return render.screen(at, {
      title: pageTabTitle(page, tab),
      status: refused?.rejection.status ?? 200,
      children: (
        <PageFrame page={page} tab={tab} mayManage={mayManage}>
          {contents[tab]()}
        </PageFrame>
      ),
    });
  };
}
