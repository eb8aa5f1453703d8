import { Elysia } from "elysia";
import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import {
  deleteComponent,
  deleteGroup,
  getComponentRow,
  getGroupRow,
} from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, type Form, formBody, session } from "../../http";
import type { Actor } from "../../domain/actor";
import { createDeleteOnce, deletedSentence } from "../delete-once";
import type { AdminDependencies } from "../dependencies";
import { componentsOfPagePath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { DeleteComponent, DeleteGroup } from "./confirm";

/** Kind of object on a page that can be deleted. */
interface Kind {
  find: (reader: Reader, id: string) => { name: string; pageId: string };
  remove: (ctx: AppContext, tx: Tx, id: string, actor: Actor) => void;
  Question: typeof DeleteComponent;
  sentence: (name: string | null) => string;
}

const COMPONENT: Kind = {
  find: getComponentRow,
  remove: deleteComponent,
  Question: DeleteComponent,
  sentence: deletedSentence("component"),
};

const GROUP: Kind = {
  find: getGroupRow,
  remove: deleteGroup,
  Question: DeleteGroup,
  sentence: (name) =>
    `${name === null ? "The group" : `The group “${name}”`} was deleted. The components are without a group.`,
};

interface AboutOne extends ScreenRequest {
  params: { id: string };
}

/** Routes that delete components and groups, below `/admin/components`. */
export function componentDeletionRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render } = deps;
  const deleteOnce = createDeleteOnce(deps);
  const MAY_ARRANGE = session("admin");

  const ask =
    ({ find, Question }: Kind) =>
    async ({ request, requestContext, params: { id } }: AboutOne) => {
      const { name, pageId } = find(ctx.db, id);
      // Of a page that is gone there is nothing to ask about.
      getPage(ctx.db, pageId);
      const title = `Delete “${name}”`;
      return render.screen(
        { request, requestContext },
        { title, children: <Question title={title} id={id} /> },
      );
    };

  const carryOut =
    ({ find, remove, sentence }: Kind) =>
    async ({ requestContext, params: { id }, body: form }: AboutOne & { body: Form }) => {
      const path = (pageId: string) => componentsOfPagePath(getPage(ctx.db, pageId).slug);
      return deleteOnce(requestContext, form, { path, sentence }, (tx) => {
        const { name, pageId } = find(tx, id);
        remove(ctx, tx, id, actorOf(requestContext));
        return { made: name, subjectId: pageId };
      });
    };

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/delete",
      ask(COMPONENT),
      screenOperation("Asks before a component is deleted", MAY_ARRANGE),
    )
    .post("/:id/delete", carryOut(COMPONENT), {
      ...formBody(),
      ...screenOperation("Delete a component", MAY_ARRANGE),
    })
    .get(
      "/groups/:id/delete",
      ask(GROUP),
      screenOperation("Asks before a group is deleted", MAY_ARRANGE),
    )
    .post("/groups/:id/delete", carryOut(GROUP), {
      ...formBody(),
      ...screenOperation("Delete a group", MAY_ARRANGE),
    });
}
