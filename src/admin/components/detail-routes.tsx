import { Elysia } from "elysia";
import {
  getComponentRow,
  listChanges,
  listComponentsOfPage,
  listGroups,
  nextPosition,
  presentChange,
  updateComponent,
} from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import { componentPath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { type FormRejection, rejectionOrThrow, requireSameVersion } from "../stale";
import {
  toComponent,
  changesToComponent,
  type ComponentValues,
  readComponent,
  storedComponent,
} from "./component-values";
import { ComponentDetail } from "./detail";
import { readCauses } from "./read";

const CHANGES_SHOWN = 10;

/** Routes of one component and its settings, below `/admin/components`. */
export function componentDetailRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeAs,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_READ = session("viewer");
  const MAY_ARRANGE = session("admin");

  function showDetail(
    at: ScreenRequest,
    id: string,
    typed?: { values: ComponentValues; rejection: FormRejection },
  ) {
    const component = getComponentRow(ctx.db, id);
    const { pageId } = component;
    const newest = { componentId: id, before: Number.MAX_SAFE_INTEGER, limit: CHANGES_SHOWN };
    const detail = {
      component,
      page: getPage(ctx.db, pageId),
      groups: listGroups(ctx.db, { pageId }),
      causes: readCauses(ctx.db, component),
      changes: listChanges(ctx.db, newest).map(presentChange),
      values: typed?.values ?? storedComponent(component),
      rejection: typed?.rejection,
      role: sessionOf(at.requestContext).user.role,
      now: ctx.clock.now(),
    };
    return render.screen(at, {
      title: component.name,
      status: typed?.rejection.status ?? 200,
      children: <ComponentDetail {...detail} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id",
      async ({ request, requestContext, params }) =>
        showDetail({ request, requestContext }, params.id),
      screenOperation("One component", MAY_READ),
    )
    .post(
      "/:id",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const values = readComponent(form);
        let isChanged: boolean;
        try {
          isChanged = await writeAs(requestContext, (tx) => {
            const row = getComponentRow(tx, id);
            const changes = changesToComponent(row, toComponent(values));
            if (Object.keys(changes).length === 0) return false;
            requireSameVersion(form, row);
            // It comes last where it is new.
            const siblings = listComponentsOfPage(tx, { pageId: row.pageId });
            const place = "groupId" in changes ? { position: nextPosition(siblings) } : {};
            updateComponent(ctx, tx, id, { ...changes, ...place }, actorOf(requestContext));
            return true;
          });
        } catch (error) {
          const rejection = rejectionOrThrow(error);
          return showDetail({ request, requestContext }, id, { values, rejection });
        }
        const text = isChanged ? "The component was changed." : undefined;
        return done(requestContext, componentPath(id), text);
      },
      { ...formBody(), ...screenOperation("Change a component", MAY_ARRANGE) },
    );
}
