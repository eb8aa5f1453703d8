import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { parseMailAddress } from "../base/mail-address";
import { type FieldError, notFound } from "../base/errors";
import type { Sessions } from "../features/auth/sessions";
import { mailReadiness } from "../features/mail/settings";
import { relayTakesUtf8 } from "../features/mail/relay-offers";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import { takesSubscribers } from "../features/pages/mail";
import type { Snapshot } from "../features/status/snapshot";
import type { Snapshots } from "../features/status/snapshots";
import { parseChoices, readChoosable } from "../features/subscribers/choices";
import { requestSubscription } from "../features/subscribers/sign-up";
import { type Form, formBody } from "../http/form-body";
import { operation } from "../http/operation";
import type { RequestContext } from "../http/request-context";
import type { RequestContexts } from "../http/elysia";
import { seeOther, sendHtml } from "../http/answers";
import { toProblem } from "../http/problems";
import { HTML_ANSWER, MOVED } from "./answers";
import { pathsOf } from "./page-paths";
import { createSite } from "./site";
import { EMPTY_FORM, type SubscribeFormState } from "./subscribe-form";
import { renderSentPage, renderSubscribePage } from "./subscribe-page";
import { ChoiceFields, errorsByInput, readTypedChoices } from "./subscription-fields";

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  onCustomDomain: "page",
  errors: ["not_found"],
} as const;
const SHOWN = { 200: HTML_ANSWER, 308: MOVED };

/** `/status/{slug}/subscribe`: all ways to subscribe to a page, and the form for e-mail. */
export function subscribeRoutes(
  ctx: Ctx,
  requestContexts: RequestContexts,
  snapshots: Snapshots,
  sessions: Sessions,
) {
  const site = createSite(ctx, snapshots, sessions);

  const isMailReady = () => mailReadiness(ctx).ready;
  const hasForm = (page: PageRow | undefined): page is PageRow =>
    page !== undefined && takesSubscribers(page) && isMailReady();

  /** Renders the page with a form that was rejected. */
  async function answerRejected(
    call: { request: Request; requestContext: RequestContext },
    page: PageRow,
    form: SubscribeFormState,
    more: { status: number; headers?: Record<string, string> },
  ): Promise<Response> {
    const { now } = call.requestContext;
    const snapshot = await snapshots.whenReady(page.slug, now, () =>
      snapshots.read(page.slug, now),
    );
    if (!snapshot) throw notFound("status page");
    return sendHtml(call.request, renderSubscribePage(snapshot.document, form), more);
  }

  async function signUp(call: {
    params: { slug: string };
    body: Form;
    request: Request;
    requestContext: RequestContext;
  }): Promise<Response> {
    const { params, body: form, requestContext } = call;
    const page = findPageBySlug(ctx.db, { slug: params.slug });
    if (!hasForm(page)) throw notFound("form for e-mail");
    const email = form.text("email");
    const typed = readTypedChoices(form);
    const address = parseMailAddress(email, { allowUtf8Local: relayTakesUtf8(ctx) });
    const parsed = parseChoices(typed, readChoosable(ctx.db, page.id), { needsEvents: false });
    const errors: FieldError[] = [
      ...("error" in address
        ? [{ pointer: "#/email", detail: `Your address ${address.error}.` }]
        : []),
      ...("errors" in parsed ? parsed.errors : []),
    ];
    if ("error" in address || "errors" in parsed) {
      const state = { email, typed, errors: errorsByInput(errors) };
      return answerRejected(call, page, state, { status: 422 });
    }
    const { choices } = parsed;
    const isByProgram = form.text("website") !== "";
    const client = requestContext.address;
    const request = { pageId: page.id, address, choices, client, isByProgram };
    try {
      await ctx.db.write((tx) => requestSubscription(ctx, tx, request));
    } catch (error) {
      const failure = toProblem(error);
      if (failure.code !== "unavailable") throw error;
      // The answer is a page with the form, so the gateway sees no failure.
      const about = { err: failure.cause, request: requestContext.requestId };
      ctx.log.error(about, "a sign-up could not be stored");
      const notice = "Your subscription could not be stored. Try again in a moment.";
      const { status, headers } = failure;
      return answerRejected(call, page, { email, typed, errors: {}, notice }, { status, headers });
    }
    return seeOther(`${pathsOf(page.slug).subscribe}/sent`);
  }

  function formOf(snapshot: Snapshot): SubscribeFormState | undefined {
    return hasForm(findPageBySlug(ctx.db, { slug: snapshot.document.page.slug }))
      ? EMPTY_FORM
      : undefined;
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/status/:slug/subscribe",
      ({ params: { slug }, request, requestContext }) => {
        // A page with a form and one without are cached separately.
        const variant = isMailReady() ? "with form" : "";
        return site.answer(
          { slug, rest: "/subscribe", variant, request, requestContext },
          (snapshot) => {
            requirePublic(snapshot);
            const form = variant === "" ? undefined : formOf(snapshot);
            return renderSubscribePage(snapshot.document, form);
          },
        );
      },
      operation({
        ...PAGE,
        id: "showSubscribe",
        summary: "Show all ways to subscribe",
        conditional: "etag",
        answers: SHOWN,
        isOfPrimary: true,
      }),
    )
    .post("/status/:slug/subscribe", signUp, {
      ...formBody(),
      ...operation({
        ...PAGE,
        id: "subscribe",
        summary: "Sign up for e-mail",
        description: "The form of the page. A mail with a link asks the owner of the address.",
        form: Type.Object({
          email: Type.String({ examples: ["jo@example.com"] }),
          website: Type.Optional(Type.String({ description: "Left empty by people." })),
          ...ChoiceFields,
        }),
        answers: {
          303: {
            description: "The same for every address.",
            headers: { Location: "Page that says so." },
          },
          422: { description: "The form with its errors.", mediaType: "text/html" },
        },
      }),
    })
    .get(
      "/status/:slug/subscribe/sent",
      ({ params: { slug }, request, requestContext }) =>
        site.answer({ slug, rest: "/subscribe/sent", request, requestContext }, (snapshot) => {
          requirePublic(snapshot);
          return renderSentPage(snapshot.document);
        }),
      operation({
        ...PAGE,
        id: "showSubscribed",
        summary: "Show the page after a sign-up",
        conditional: "etag",
        answers: SHOWN,
      }),
    );
}

/** Throws `not_found` for a private page, which has no feeds and takes no subscribers. */
function requirePublic({ document }: Snapshot): void {
  if (document.page.visibility !== "public") throw notFound("page");
}
