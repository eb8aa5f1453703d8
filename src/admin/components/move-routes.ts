import { Elysia } from "elysia";
import type { Tx } from "../../db";
import { invalidFields } from "../../errors";
import { getComponentRow, getGroupRow, orderComponents } from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, type RequestContext, type Form, formBody, session } from "../../http";
import { createDone } from "../done";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { placeInList } from "./component-paths";
import { readSequence } from "./read";
import { type Direction, moved, orderOf } from "./sequence";

interface Movable {
  id: string;
  name: string;
  pageId: string;
}

/**
 * Routes of the buttons that move a component or group by one position, below `/admin/components`.
 */
export function moveRoutes({ ctx, requestContexts, flashes, writeAs }: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_ARRANGE = session("admin");

  /** Moves a component or group within the stored order, even if the user saw an older one. */
  async function move(
    requestContext: RequestContext,
    form: Form,
    find: (tx: Tx) => Movable,
  ): Promise<Response> {
    const direction = readDirection(form);
    const { row, isChanged, slug } = await writeAs(requestContext, (tx) => {
      const found = find(tx);
      const sequence = moved(readSequence(tx, found.pageId), found.id, direction);
      const order = orderOf(sequence);
      return {
        row: found,
        isChanged: orderComponents(ctx, tx, found.pageId, order, actorOf(requestContext)),
        slug: getPage(tx, found.pageId).slug,
      };
    });
    const text = isChanged ? `“${row.name}” was moved ${direction}.` : undefined;
    return done(requestContext, placeInList(slug, row.id), text);
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .post(
      "/:id/move",
      async ({ requestContext, params, body: form }) =>
        move(requestContext, form, (tx) => getComponentRow(tx, params.id)),
      { ...formBody(), ...screenOperation("Move a component up or down", MAY_ARRANGE) },
    )
    .post(
      "/groups/:id/move",
      async ({ requestContext, params, body: form }) =>
        move(requestContext, form, (tx) => getGroupRow(tx, params.id)),
      { ...formBody(), ...screenOperation("Move a group up or down", MAY_ARRANGE) },
    );
}

function readDirection(form: Form): Direction {
  const text = form.text("direction");
  if (text === "up" || text === "down") return text;
  throw invalidFields([{ pointer: "#/direction", detail: "must be up or down" }]);
}
