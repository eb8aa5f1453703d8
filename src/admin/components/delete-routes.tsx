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
import type { Actor } from "../../kernel/actor";
import { createDone } from "../done";
import type { AdminParts } from "../parts";
import { componentsOfPagePath } from "../paths";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { DeleteComponent, DeleteGroup } from "./confirm";

/** Something of a page that can be deleted. */
interface Kind {
  find: (reader: Reader, id: string) => { name: string; pageId: string };
  remove: (ctx: AppContext, tx: Tx, id: string, actor: Actor) => void;
  Question: typeof DeleteComponent;
  /** The sentence when it is done. Without the name where it was done before. */
  tell: (name: string | null) => string;
}

const COMPONENT: Kind = {
  find: getComponentRow,
  remove: deleteComponent,
  Question: DeleteComponent,
  tell: (name) => `${name === null ? "The component" : `“${name}”`} was deleted.`,
};

const GROUP: Kind = {
  find: getGroupRow,
  remove: deleteGroup,
  Question: DeleteGroup,
  tell: (name) =>
    `${name === null ? "The group" : `The group “${name}”`} was deleted. Its components are without a group.`,
};

interface AboutOne extends ScreenRequest {
  params: { id: string };
}

/** The end of a component or of a group, below `/admin/components`. */
export function componentDeletionRoutes(parts: AdminParts) {
  const { ctx, admissions, render, writeOnceAs } = parts;
  const done = createDone(parts.flashes);
  const MAY_ARRANGE = session("admin");

  const ask =
    ({ find, Question }: Kind) =>
    async ({ request, admission, params: { id } }: AboutOne) => {
      const { name, pageId } = find(ctx.db, id);
      // Of a page that is gone there is nothing to ask about.
      getPage(ctx.db, pageId);
      const title = `Delete “${name}”`;
      return render.screen(
        { request, admission },
        { title, children: <Question title={title} id={id} /> },
      );
    };

  const carryOut =
    ({ find, remove, tell }: Kind) =>
    async ({ admission, params: { id }, body: form }: AboutOne & { body: Form }) => {
      // Sent twice it is done once, and the second answer is no “not found”.
      const { made, subjectId: pageId } = await writeOnceAs(admission, form, (tx) => {
        const { name, pageId: subjectId } = find(tx, id);
        remove(ctx, tx, id, actorOf(admission));
        return { made: name, subjectId };
      });
      const { slug } = getPage(ctx.db, pageId);
      return done(admission, componentsOfPagePath(slug), tell(made));
    };

  return new Elysia()
    .use(admissions.plugin)
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
