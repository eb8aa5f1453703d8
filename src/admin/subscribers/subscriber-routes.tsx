import type { Reader } from "../../db/statements";
import { SUPPRESSION_REASONS } from "../../base/mail-address";
import { roleAllows } from "../../base/actor";
import { findPage } from "../../features/pages/store";
import { getPage } from "../../features/pages/pages";
import { makeOnce } from "../../features/submissions/service";
import {
  blockSubscriber,
  reactivateSubscriber,
  suppressionsOfSubscriber,
} from "../../features/subscribers/reactivate";
import { choicesOf, existingChoices, readChoosable } from "../../features/subscribers/choices";
import {
  getSubscriber,
  invalidateLinks,
  removeSubscriber,
  updateSubscriber,
} from "../../features/subscribers/team";
import { listSubscriberMails } from "../../features/subscribers/subscriber-mails";
import { resendMail } from "../../features/subscribers/resend";
import type { SubscriberRow } from "../../features/subscribers/store";
import { sessionOf } from "../../http/request-context";
import { Button } from "../../ui/buttons";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { newFormToken } from "../../ui/frame/write-as";
import type { Screen } from "../../ui/frame/render";
import type { Area } from "../../ui/screens/area";
import { FormScreen } from "../../ui/screens/form-screen";
import { type At, ShowInstead } from "../../ui/screens/routes";
import { BlockAddress, InvalidateLinks, Reactivate, RemoveSubscriber } from "./confirm";
import { SubscriberDetail, type SubscriberView, titleOf } from "./detail";
import {
  BLOCK_FORM,
  CHOICES_FORM,
  choicesOfBody,
  REACTIVATE_FORM,
  readChoicesContext,
} from "./forms";
import { pathsOfSubscriber, subscribersOfPagePath } from "./subscriber-paths";

const MAILS_PER_SCREEN = 25;

/** Adds the screen of a subscriber, and its forms and actions. */
export function addSubscriberRoutes(area: Area, { ctx }: AdminDependencies): void {
  const role = "admin";

  function viewOf(row: SubscriberRow, before: string | undefined, now: number): SubscriberView {
    const { db } = ctx;
    const choosable = readChoosable(db, row.pageId);
    return {
      row,
      page: findPage(db, { id: row.pageId }),
      targets: existingChoices(choicesOf(db, row), choosable).targets,
      choosable,
      suppressions: suppressionsOfSubscriber(db, row, now),
      mails: listSubscriberMails(db, row, { before, limit: MAILS_PER_SCREEN }),
      isContinued: before !== undefined,
    };
  }

  function detail(at: At<"/:id">, notice?: string): Screen {
    const { now } = at.requestContext;
    const canErase = roleAllows(sessionOf(at.requestContext).user.role, "owner");
    const row = getSubscriber(ctx.db, at.params.id);
    const view = viewOf(row, at.query["before"] || undefined, now);
    const props = { view, canErase, formToken: newFormToken(ctx), notice, now };
    return { title: titleOf(row), children: <SubscriberDetail {...props} /> };
  }

  /** Returns an active subscriber; shows the subscriber's screen instead of a form for others. */
  function activeOf(reader: Reader, id: string): SubscriberRow {
    const row = getSubscriber(reader, id);
    if (row.status === "active" && findPage(reader, { id: row.pageId })) return row;
    throw new ShowInstead({ path: pathsOfSubscriber(id).home });
  }

  area.screen("/:id", "Show a subscriber", (at) => detail(at), { role });

  area.editForm("/:id/edit", {
    showSummary: "Show the form for a subscriber's choices",
    summary: "Change a subscriber's choices",
    role,
    form: CHOICES_FORM,
    load(reader, { params }) {
      const row = activeOf(reader, params.id);
      const context = { ...readChoicesContext(reader, getPage(reader, row.pageId)), row };
      const { scope, targets, events } = existingChoices(choicesOf(reader, row), context.choosable);
      return { resource: { targets: { scope, targets }, events }, version: row.version, context };
    },
    show(state) {
      const { row, page } = state.context;
      const { home, edit } = pathsOfSubscriber(row.id);
      return {
        title: `Edit ${titleOf(row)}`,
        children: (
          <FormScreen
            title="Edit subscriber"
            crumbs={[
              { href: subscribersOfPagePath(page.slug), label: "Subscribers" },
              { href: home, label: titleOf(row) },
            ]}
            form={CHOICES_FORM}
            state={state}
            action={edit}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { row, choosable }) {
      const { scope, targets, events } = existingChoices(choicesOf(tx, row), choosable);
      const body = { targets: { scope, targets }, events, ...changes };
      const current = getSubscriber(tx, params.id);
      return updateSubscriber(ctx, tx, current, choicesOfBody(body, choosable), actor);
    },
    done: ({ params }) => ({
      path: pathsOfSubscriber(params.id).home,
      text: "The choices were changed.",
    }),
  });

  area.confirmation("/:id/remove", {
    showSummary: "Show the confirmation for removing a subscriber",
    summary: "Remove a subscriber",
    role,
    show({ params }) {
      const row = activeOf(ctx.db, params.id);
      const title = `Remove ${titleOf(row)}`;
      return { title, children: <RemoveSubscriber title={title} row={row} /> };
    },
    run(tx, { params }, actor) {
      const row = getSubscriber(tx, params.id);
      if (row.status === "active") removeSubscriber(ctx, tx, row, { erase: false }, actor);
      return row;
    },
    done: (row) => ({
      path: pathsOfSubscriber(row.id).home,
      text: row.status === "active" ? "The subscriber was removed." : undefined,
    }),
  });

  area.confirmation("/:id/links", {
    showSummary: "Show the confirmation for making a subscriber's links invalid",
    summary: "Make a subscriber's earlier links invalid",
    role,
    show({ params }) {
      const row = activeOf(ctx.db, params.id);
      const title = `Make the links of ${titleOf(row)} invalid`;
      return { title, children: <InvalidateLinks title={title} row={row} /> };
    },
    run: (tx, { params }, actor) => invalidateLinks(ctx, tx, getSubscriber(tx, params.id), actor),
    done: (_, { params }) => ({
      path: pathsOfSubscriber(params.id).home,
      text: "The links in earlier messages no longer lead to the choices.",
    }),
  });

  area.form("/:id/block", {
    showSummary: "Show the confirmation for blocking an address",
    summary: "Block a subscriber's address",
    role,
    form: BLOCK_FORM,
    load: (reader, { params }) => ({ row: getSubscriber(reader, params.id) }),
    show(state) {
      const { row } = state.context;
      const title = `Block ${titleOf(row)}`;
      return { title, children: <BlockAddress title={title} row={row} state={state} /> };
    },
    submit(tx, { note = "" }, actor, _at, { row }) {
      blockSubscriber(ctx, tx, row, note, actor);
      return row.id;
    },
    done: (id) => ({ path: pathsOfSubscriber(id).home, text: "The address was blocked." }),
  });

  area.form("/:id/reactivate/:reason", {
    showSummary: "Show the confirmation for ending a suppression",
    summary: "End the suppression of a subscriber's address",
    role,
    form: REACTIVATE_FORM,
    load(reader, { params, requestContext }) {
      const row = getSubscriber(reader, params.id);
      const reason = SUPPRESSION_REASONS.find((one) => one === params.reason);
      const found = suppressionsOfSubscriber(reader, row, requestContext.now).find(
        (one) => one.reason === reason,
      );
      if (!reason || (found?.undo !== "possible" && found?.undo !== "request")) {
        throw new ShowInstead({ path: pathsOfSubscriber(row.id).home });
      }
      return { row, reason, needsWords: found.undo === "request" };
    },
    show(state) {
      const { row, reason } = state.context;
      const action = reason === "blocked" ? "Unblock" : "End the suppression of";
      const title = `${action} ${titleOf(row)}`;
      return { title, children: <Reactivate {...{ title, row, reason, state }} /> };
    },
    submit(tx, { request }, actor, _at, { row, reason }) {
      reactivateSubscriber(ctx, tx, row, { reason, request }, actor);
      return row.id;
    },
    done: (id) => ({ path: pathsOfSubscriber(id).home, text: "The address can get mail again." }),
  });

  area.action("/:id/mails/:mail_id/send-again", {
    summary: "Send a message to a subscriber again",
    role,
    run(tx, { params, requestContext, sent }, actor) {
      const form = { sessionId: sessionOf(requestContext).id, digest: sent.digest };
      return makeOnce(ctx, tx, form, () => {
        const row = getSubscriber(tx, params.id);
        const id = resendMail(ctx, tx, row, params.mail_id, actor);
        return { made: id, subjectId: id };
      });
    },
    done: (_, { params }) => ({
      path: pathsOfSubscriber(params.id).home,
      text: "The message was queued to be sent again.",
    }),
    showConflict: (message, at) => detail(at, message),
  });
}
