import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { invalidFields, Problem } from "../base/errors";
import { readOpenIncidents } from "../features/status/history";
import { changeChoices, eraseSubscriber, unsubscribe } from "../features/subscribers/manage";
import {
  choicesOf,
  existingChoices,
  parseChoices,
  readChoosable,
  type TypedChoices,
} from "../features/subscribers/choices";
import { confirmSignUp, declineSignUps } from "../features/subscribers/confirm";
import {
  deadLink,
  type LinkUse,
  managePath,
  openConfirmation,
  openDecline,
  openManagement,
  openUnsubscribing,
  type SubscriberLink,
} from "../features/subscribers/links";
import { type Form, formBody } from "../http/form-body";
import type { RequestContext } from "../http/request-context";
import type { RequestContexts } from "../http/elysia";
import { NO_STORE } from "../http/representation";
import { seeOther, sendHtml } from "../http/answers";
import { HTML_ANSWER } from "./answers";
import { linkOperation } from "./link-operation";
import { isOpen } from "./mail-document";
import {
  renderConfirmation,
  renderDecline,
  renderEnd,
  renderManagement,
  renderUnsubscribing,
} from "./mail-pages";
import { OneOf } from "../base/schema";
import {
  ChoiceFields,
  errorsByInput,
  type InputErrors,
  readTypedChoices,
} from "./subscription-fields";

/** Number of open incidents that the page for managing lists. */
const OPEN_SHOWN = 10;

const UNSUBSCRIBED = {
  title: "You are unsubscribed",
  text: "No more messages are sent to this address about this page.",
};

interface Call {
  params: { token: string };
  request: Request;
  requestContext: RequestContext;
}

/**
 * `/mail/…`: the links in mails. The token is the only authority. Reading changes nothing, since programs that
 * check mails follow all links; only a button does.
 */
export function mailRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  const { db } = ctx;
  const now = () => ctx.clock.now();
  const useOf = ({ requestContext: { domain } }: Call): LinkUse => ({ domain, now: now() });

  const link = (
    id: string,
    summary: string,
    open: Parameters<typeof linkOperation>[2],
    more?: Parameters<typeof linkOperation>[3],
  ) => linkOperation(db, { id, summary }, open, more);

  function managementPage(
    call: Call,
    { page, subscriber }: SubscriberLink,
    { typed, errors = {} }: { typed?: TypedChoices; errors?: InputErrors } = {},
  ): Response {
    const choosable = readChoosable(db, page.id);
    const { targets, events, scope } = existingChoices(choicesOf(db, subscriber), choosable);
    const stored = {
      scope,
      events,
      components: targets.filter((id) => id.startsWith("cmp_")),
      groups: targets.filter((id) => id.startsWith("grp_")),
    };
    const { entries: open } = readOpenIncidents(db, { pageId: page.id }, OPEN_SHOWN);
    const state = { typed: typed ?? stored, choosable, errors, open };
    const status = Object.keys(errors).length > 0 ? 422 : 200;
    return sendHtml(call.request, renderManagement({ page, subscriber, ...state }), { status });
  }

  async function save(call: Call, form: Form): Promise<Response> {
    const { token } = call.params;
    const typed = readTypedChoices(form);
    const { link: opened, errors } = await db.write((tx) => {
      const found = openManagement(tx, token, useOf(call));
      if (!isOpen(found.page)) throw deadLink();
      const choosable = readChoosable(tx, found.page.id);
      const parsed = parseChoices(typed, choosable, { needsEvents: true });
      if ("choices" in parsed) changeChoices(ctx, tx, found.subscriber, parsed.choices);
      return { link: found, errors: "errors" in parsed ? parsed.errors : [] };
    });
    if (errors.length === 0) return seeOther(`/mail/manage/${token}`);
    return managementPage(call, opened, { typed, errors: errorsByInput(errors) });
  }

  async function manage(call: Call & { body: Form }): Promise<Response> {
    const { body: form, params, request } = call;
    const action = form.text("action");
    if (action === "save") return save(call, form);
    if (action !== "unsubscribe" && action !== "erase") throw unknownAction();
    const page = await db.write((tx) => {
      const found = openManagement(tx, params.token, useOf(call));
      const end = action === "erase" ? eraseSubscriber : unsubscribe;
      end(ctx, tx, found.subscriber);
      return found.page;
    });
    const end =
      action === "erase"
        ? {
            title: "Your data was deleted",
            text: "Your address, your choices and the record of messages about this page were deleted.",
          }
        : UNSUBSCRIBED;
    return sendHtml(request, renderEnd(page, end));
  }

  async function unsubscribeBy(call: Call & { body: Form }): Promise<Response> {
    const { body: form, params, request } = call;
    const isOneClick = form.text("List-Unsubscribe") === "One-Click";
    if (!isOneClick && form.text("action") !== "unsubscribe") throw unknownAction();
    const page = await db.write((tx) => {
      const found = openUnsubscribing(tx, params.token, useOf(call));
      if (found) unsubscribe(ctx, tx, found.subscriber);
      return found?.page;
    });
    if (!isOneClick) return sendHtml(request, renderEnd(page, UNSUBSCRIBED));
    return new Response("You are unsubscribed.\n", {
      headers: { "Content-Type": "text/plain;charset=utf-8", "Cache-Control": NO_STORE },
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/mail/confirm/:token",
      (call) => {
        const { request: signUp, page } = openConfirmation(db, call.params.token, useOf(call));
        const choosable = readChoosable(db, page.id);
        const { address, state } = signUp;
        const choices = existingChoices(signUp.choices, choosable);
        const shown = { page, address, choices, choosable, isConfirmed: state === "confirmed" };
        return sendHtml(call.request, renderConfirmation(shown));
      },
      link("showSignUp", "Show a sign-up for e-mail", openConfirmation),
    )
    .post(
      "/mail/confirm/:token",
      async (call) => {
        const subscriber = await db.write((tx) => {
          const found = openConfirmation(tx, call.params.token, useOf(call));
          return confirmSignUp(ctx, tx, found, call.requestContext.address.ip);
        });
        return seeOther(managePath(db, subscriber));
      },
      {
        ...formBody(),
        ...link("confirmSignUp", "Confirm a sign-up for e-mail", openConfirmation, REDIRECTS),
      },
    )
    .get(
      "/mail/manage/:token",
      (call) => managementPage(call, openManagement(db, call.params.token, useOf(call))),
      link("showSubscription", "Show a subscription by e-mail", openManagement),
    )
    .post("/mail/manage/:token", manage, {
      ...formBody(),
      ...link(
        "changeSubscription",
        "Change or end a subscription by e-mail",
        openManagement,
        MANAGE,
      ),
    })
    .get(
      "/mail/unsubscribe/:token",
      (call) => {
        const found = openUnsubscribing(db, call.params.token, useOf(call));
        return sendHtml(call.request, renderUnsubscribing(found?.page));
      },
      link("showUnsubscribing", "Ask to unsubscribe from e-mail", openUnsubscribing),
    )
    .post("/mail/unsubscribe/:token", unsubscribeBy, {
      ...formBody({ files: true }),
      ...link(
        "unsubscribe",
        "Unsubscribe from e-mail, also by one click in a mail program",
        openUnsubscribing,
        UNSUBSCRIBE,
      ),
    })
    .get(
      "/mail/decline/:token",
      (call) => {
        const { request: signUp, page } = openDecline(db, call.params.token, useOf(call));
        return sendHtml(call.request, renderDecline(page, signUp.address));
      },
      link("showDecline", "Ask to decline sign-up mails", openDecline),
    )
    .post(
      "/mail/decline/:token",
      async (call) => {
        const page = await db.write((tx) => {
          const found = openDecline(tx, call.params.token, useOf(call));
          declineSignUps(ctx, tx, found.request);
          return found.page;
        });
        const end = {
          title: "No more such mails",
          text: "Sign-ups for this address are ignored from now on, and its subscriptions get no messages.",
        };
        return sendHtml(call.request, renderEnd(page, end));
      },
      {
        ...formBody(),
        ...link("declineSignUps", "Decline all sign-up mails to an address", openDecline),
      },
    );
}

/** Answer of a form that leads to the page for managing. */
const MANAGED = {
  303: { description: "The change was made.", headers: { Location: "Page for managing." } },
};

const REDIRECTS = { answers: MANAGED };

const MANAGE = {
  form: Type.Object(
    { action: OneOf(["save", "unsubscribe", "erase"]), ...ChoiceFields },
    { examples: [{ action: "save", events: ["incidents"] }] },
  ),
  answers: {
    200: HTML_ANSWER,
    ...MANAGED,
    422: { description: "The form with its errors.", mediaType: "text/html" },
  },
};

const UNSUBSCRIBE = {
  form: Type.Object(
    {
      action: Type.Optional(OneOf(["unsubscribe"], { description: "Sent by the button." })),
      "List-Unsubscribe": Type.Optional(
        OneOf(["One-Click"], { description: "Sent by a mail program (RFC 8058)." }),
      ),
    },
    { minProperties: 1, examples: [{ "List-Unsubscribe": "One-Click" }] },
  ),
  answers: { 200: { ...HTML_ANSWER, alsoAs: ["text/plain"] } },
};

function unknownAction(): Problem {
  const detail = "must be one of the actions of the form";
  return invalidFields([{ pointer: "#/action", detail }]);
}
