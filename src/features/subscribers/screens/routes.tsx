import { roleAllows } from "../../../base/actor";
import { invalidFields, Problem } from "../../../base/errors";
import { parseMailAddress, SUPPRESSION_REASONS } from "../../../base/mail-address";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { newFormToken } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { NoPageYet } from "../../../ui/frame/page-choice";
import { subscriberPath, SUBSCRIBERS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { type Area, createArea } from "../../../ui/screens/area";
import { FormScreen } from "../../../ui/screens/form-screen";
import { type At, ShowInstead } from "../../../ui/screens/routes";
import { mailReadiness, relayTakesUtf8 } from "../../mail/settings";
import { takesSubscribers } from "../../pages/mail";
import { getPage } from "../../pages/pages";
import { findPage, type PageRow } from "../../pages/store";
import { makeOnce } from "../../repeats/store";
import { choicesOf, existingChoices, readChoosable } from "../choices";
import { countSubscribersOfPage, listSubscriberMails } from "../list";
import { type InvitationResult, inviteSubscriber } from "../sign-up";
import type { SubscriberRow } from "../store";
import {
  blockSubscriber,
  getSubscriber,
  invalidateLinks,
  reactivateSubscriber,
  removeSubscriber,
  resendMail,
  suppressionsOfSubscriber,
  updateSubscriber,
} from "../subscribers";
import { BlockAddress, Reactivate, SubscriberDetail, type SubscriberView, titleOf } from "./detail";
import {
  ADD_FORM,
  BLOCK_FORM,
  CHOICES_FORM,
  choicesOfBody,
  REACTIVATE_FORM,
  readChoicesContext,
} from "./forms";
import {
  newSubscriberPath,
  readPageOf,
  readSubscriberList,
  SubscriberList,
  SubscriberNumbers,
  subscribersOfPagePath,
} from "./list";

/** Returns what has to be done before people can subscribe to a page; undefined if they can. */
function closedText(page: PageRow, isMailReady: boolean): string | undefined {
  if (!isMailReady) {
    return "E-mail is not set up. An owner can set it up in Settings → Mail.";
  }
  if (takesSubscribers(page)) return undefined;
  return page.visibility === "private"
    ? "The page is private. Make it public first."
    : "The form for e-mail is off. Turn it on in Components → Pages → E-mail.";
}

const REJECTIONS: Readonly<Record<Exclude<InvitationResult["result"], "invited">, string>> = {
  subscribed: "This address is subscribed already.",
  suppressed:
    "This address gets no mails about sign-ups: the person declined them, or an admin blocked the address.",
  limited:
    "This address has had as many mails about sign-ups as the limits allow. Try again later.",
};

/** `/admin/subscribers`: for admins. Editors see the numbers. */
export function subscriberAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, SUBSCRIBERS_PATH, "editor");
  const isMailReady = () => mailReadiness(ctx).ready;

  area.screen("", ({ query, requestContext }) => {
    const title = "Subscribers";
    const { role } = sessionOf(requestContext).user;
    const found = readPageOf(ctx.db, query);
    if (!found) return { title, children: <NoPageYet title={title} role={role} /> };
    const frame = { ...found, role, isMailReady: isMailReady() };
    if (!roleAllows(role, "admin")) {
      const counts = countSubscribersOfPage(ctx.db, found.page.id);
      return { title, children: <SubscriberNumbers {...frame} counts={counts} /> };
    }
    const { now } = requestContext;
    const list = readSubscriberList(ctx.db, found, query, now);
    const props = { ...frame, counts: list.counts, list, now };
    return { title, children: <SubscriberList {...props} /> };
  });

  area.form("/new", {
    role: "admin",
    form: ADD_FORM,
    conflictField: "email",
    load(reader, { query, requestContext }) {
      const found = readPageOf(reader, query);
      if (found) return readChoicesContext(reader, found.page);
      const { role } = sessionOf(requestContext).user;
      const title = "Add subscriber";
      throw new ShowInstead({ title, children: <NoPageYet title={title} role={role} /> });
    },
    show(state) {
      const { page } = state.context;
      const closed = closedText(page, isMailReady());
      return {
        title: "Add subscriber",
        children: (
          <FormScreen
            title="Add subscriber"
            crumbs={[
              { href: subscribersOfPagePath(page.slug), label: "Subscribers" },
              { label: page.name },
            ]}
            above={
              closed === undefined ? null : (
                <Notice tone="maint" title="This page takes no subscribers now">
                  {closed}
                </Notice>
              )
            }
            form={ADD_FORM}
            state={state}
            action={newSubscriberPath(page.slug)}
          >
            <Button kind="primary">Ask to subscribe</Button>
          </FormScreen>
        ),
      };
    },
    submit(tx, body, actor, _at, context) {
      const { page } = context;
      const address = parseMailAddress(body.email, { allowUtf8Local: relayTakesUtf8(ctx) });
      if ("error" in address) throw invalidFields([{ pointer: "#/email", detail: address.error }]);
      const closed = closedText(page, isMailReady());
      if (closed !== undefined) throw new Problem("conflict", closed);
      const choices = choicesOfBody(body, context);
      const invitation = { pageId: page.id, address, choices, source: "dashboard" as const };
      const { result } = inviteSubscriber(ctx, tx, invitation, actor);
      if (result !== "invited") throw new Problem("conflict", REJECTIONS[result]);
      return page.slug;
    },
    done: (slug) => ({
      path: subscribersOfPagePath(slug),
      text: "A mail with a link to confirm is on its way.",
    }),
  });

  addSubscriberRoutes(area, deps);
  return area.routes;
}

const MAILS_PER_SCREEN = 25;

/** Adds the screen of a subscriber, and its forms and actions. */
function addSubscriberRoutes(area: Area, { ctx }: AdminDependencies): void {
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
    throw new ShowInstead({ path: subscriberPath(id) });
  }

  area.screen("/:id", (at) => detail(at), { role });

  area.editForm("/:id/edit", {
    role,
    form: CHOICES_FORM,
    load(reader, { params }) {
      const row = activeOf(reader, params.id);
      const context = { ...readChoicesContext(reader, getPage(reader, row.pageId)), row };
      const choices = existingChoices(choicesOf(reader, row), context.choosable);
      const { scope, targets, events, language } = choices;
      const resource = { targets: { scope, targets }, events, language: language ?? "" };
      return { resource, version: row.version, context };
    },
    show: ({ context: { row, page } }) => ({
      title: `Edit ${titleOf(row)}`,
      heading: "Edit subscriber",
      crumbs: [
        { href: subscribersOfPagePath(page.slug), label: "Subscribers" },
        { href: subscriberPath(row.id), label: titleOf(row) },
      ],
      button: "Save changes",
    }),
    update(tx, changes, actor, { params }, context) {
      const choices = existingChoices(choicesOf(tx, context.row), context.choosable);
      const { scope, targets, events, language } = choices;
      const body = { targets: { scope, targets }, events, language: language ?? "", ...changes };
      const current = getSubscriber(tx, params.id);
      return updateSubscriber(ctx, tx, current, choicesOfBody(body, context), actor);
    },
    done: ({ params }) => ({
      path: subscriberPath(params.id),
      text: "The choices were changed.",
    }),
  });

  area.confirmation("/:id/remove", {
    role,
    show: ({ params }) => ({
      title: `Remove ${titleOf(activeOf(ctx.db, params.id))}`,
      button: "Remove subscriber",
      isDanger: true,
      dialog: (
        <p>
          The address gets no more messages about this page, as if the person had unsubscribed. Only
          the person can subscribe again, by confirming. The address is removed after 30 days.
        </p>
      ),
    }),
    run(tx, { params }, actor) {
      const row = getSubscriber(tx, params.id);
      if (row.status === "active") removeSubscriber(ctx, tx, row, { erase: false }, actor);
      return row;
    },
    done: (row) => ({
      path: subscriberPath(row.id),
      text: row.status === "active" ? "The subscriber was removed." : undefined,
    }),
  });

  area.confirmation("/:id/links", {
    role,
    show: ({ params }) => ({
      title: `Make the links of ${titleOf(activeOf(ctx.db, params.id))} invalid`,
      button: "Make links invalid",
      dialog: (
        <p>
          Links in messages that were sent so far then no longer lead to the person’s choices, for
          example if a message was forwarded. Links to unsubscribe stay valid. The next message has
          a new link.
        </p>
      ),
    }),
    run: (tx, { params }, actor) => invalidateLinks(ctx, tx, getSubscriber(tx, params.id), actor),
    done: (_, { params }) => ({
      path: subscriberPath(params.id),
      text: "The links in earlier messages no longer lead to the choices.",
    }),
  });

  area.form("/:id/block", {
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
    done: (id) => ({ path: subscriberPath(id), text: "The address was blocked." }),
  });

  area.form("/:id/reactivate/:reason", {
    role,
    form: REACTIVATE_FORM,
    load(reader, { params, requestContext }) {
      const row = getSubscriber(reader, params.id);
      const reason = SUPPRESSION_REASONS.find((one) => one === params.reason);
      const found = suppressionsOfSubscriber(reader, row, requestContext.now).find(
        (one) => one.reason === reason,
      );
      if (!reason || (found?.undo !== "possible" && found?.undo !== "request")) {
        throw new ShowInstead({ path: subscriberPath(row.id) });
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
    done: (id) => ({ path: subscriberPath(id), text: "The address can get mail again." }),
  });

  area.action("/:id/mails/:mail_id/send-again", {
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
      path: subscriberPath(params.id),
      text: "The message was queued to be sent again.",
    }),
    showConflict: (message, at) => detail(at, message),
  });
}
