import { Elysia } from "elysia";
import { validate } from "../../errors";
import {
  type ComponentRow,
  getComponentRow,
  setManualStatuses,
  UpdateComponentBody,
} from "../../features/components";
import { getPage } from "../../features/pages";
import { actorOf, type Form, formBody, session } from "../../http";
import type { ComponentStatus } from "../../domain/component-status";
import { STATUS_WORDS } from "../../ui";
import { createDone } from "../done";
import { complaintsOrThrow, NO_COMPLAINTS, statusOf } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { multilineText } from "../multiline-text";
import { placeInList } from "./component-paths";
import { SetStatusForm } from "./set-status";
import { readCauses } from "./read";
import { effectiveCauses, type NamedCause, whyInWords } from "./cause-list";

/** Routes that set the manual status of a component, below `/admin/components`. */
export function statusRoutes({
  ctx,
  requestContexts,
  render,
  flashes,
  writeAs,
}: AdminDependencies) {
  const done = createDone(flashes);
  const MAY_MARK = session("editor");

  function showForm(
    at: ScreenRequest,
    id: string,
    typed?: { status: string; reason: string },
    complaints = NO_COMPLAINTS,
  ) {
    const component = getComponentRow(ctx.db, id);
    const title = `Set status of “${component.name}”`;
    const form = {
      title,
      component,
      page: getPage(ctx.db, component.pageId),
      causes: readCauses(ctx.db, component),
      values: typed ?? { status: component.baselineStatus, reason: "" },
      complaints,
    };
    return render.screen(at, {
      title,
      status: statusOf(complaints),
      children: <SetStatusForm {...form} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/status",
      async ({ request, requestContext, params }) =>
        showForm({ request, requestContext }, params.id),
      screenOperation("Asks for a component's status", MAY_MARK),
    )
    .post(
      "/:id/status",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const typed = { status: form.text("status"), reason: multilineText(form, "reason") };
        try {
          const { slug, text } = await writeAs(requestContext, (tx) => {
            const before = getComponentRow(tx, id);
            const { status, reason } = readStatusChange(form);
            const why = { source: "manual" as const, actor: actorOf(requestContext), reason };
            setManualStatuses(ctx, tx, new Map([[id, status]]), why);
            const after = getComponentRow(tx, id);
            return {
              slug: getPage(tx, after.pageId).slug,
              text:
                before.baselineStatus === status
                  ? undefined
                  : outcomeOf(after, readCauses(tx, after)),
            };
          });
          return done(requestContext, placeInList(slug, id), text);
        } catch (error) {
          return showForm({ request, requestContext }, id, typed, complaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Set a component's status", MAY_MARK) },
    );
}

/** Reads status and reason from a form. Throws `validation_failed` with every wrong field. */
function readStatusChange(form: Form): { status: ComponentStatus; reason: string | null } {
  const input = { status: form.text("status"), reason: multilineText(form, "reason") || null };
  const { status, reason = null } = validate(UpdateComponentBody, input);
  return { status, reason };
}

/** Returns the confirmation, which names the cause if a worse status is shown instead. */
function outcomeOf(row: ComponentRow, causes: readonly NamedCause[]): string {
  const set = STATUS_WORDS[row.baselineStatus];
  if (row.status === row.baselineStatus) return `“${row.name}” is marked as ${inSentence(set)}.`;
  const [effective] = effectiveCauses(row, causes);
  const why = effective ? ` ${whyInWords(effective)}` : "";
  const shown = inSentence(STATUS_WORDS[row.status]);
  return `“${row.name}” is marked as ${inSentence(set)}, but still shown as ${shown}${why}.`;
}

function inSentence(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1);
}
