import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { invalidFields, Problem } from "../base/errors";
import { lazy } from "../base/lazy";
import { maskAddress } from "../base/mail-address";
import { OneOf } from "../base/schema";
import { toIso } from "../base/time";
import type { Ctx } from "../context";
import type { Reader } from "../db/statements";
import type { RequestedChoices } from "../db/tables/mail";
import { logoPath } from "../features/pages/addresses";
import type { PageRow } from "../features/pages/store";
import { type HistoryEntry, readOpenIncidents } from "../features/status/entries";
import {
  choicesOf,
  type Choosable,
  existingChoices,
  parseChoices,
  readChoosable,
  type TypedChoices,
} from "../features/subscribers/choices";
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
import { confirmSignUp, consentText, declineSignUps } from "../features/subscribers/sign-up";
import type { SubscriberRow } from "../features/subscribers/store";
import { changeChoices, eraseSubscriber, unsubscribe } from "../features/subscribers/subscribers";
import {
  confirmAlerts,
  declineAlerts,
  openAlertLink,
} from "../features/webhooks/alerts/confirmation";
import { seeOther, sendHtml } from "../http/answers";
import { declareRoutes } from "../http/elysia";
import { type Form, formBody } from "../http/form-body";
import { type FindLink, type Operation, operation } from "../http/operation";
import { NO_STORE } from "../http/representation";
import type { RequestContext } from "../http/request-context";
import type { HtmlDocument } from "../ui/documents";
import { ringIconUrl } from "../ui/pictures";
import { minifyCss } from "../ui/style-sheet";
import input from "../ui/css/input.css" with { type: "text" };
import forms from "./css/forms.css" with { type: "text" };
import style from "./css/mail.css" with { type: "text" };
import { pathsOf } from "./page-context";
import { Logo, renderFramed } from "./page-document";
import { createPageTimes } from "./page-times";
import { HTML_ANSWER } from "./site";
import { directionOf } from "./subscribe";
import {
  ChoiceFields,
  ChoicesInWords,
  errorsByInput,
  InputErrorList,
  type InputErrors,
  readTypedChoices,
  SubscriptionFields,
} from "./subscription-form";

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
export function mailRoutes(ctx: Ctx) {
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

  return declareRoutes()
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

/** Renders the page that asks to confirm a sign-up. */
function renderConfirmation(props: {
  page: PageRow;
  address: string;
  choices: RequestedChoices;
  choosable: Choosable;
  isConfirmed: boolean;
}): HtmlDocument {
  const { page, address, choices, choosable, isConfirmed } = props;
  const title = isConfirmed ? "Subscription confirmed" : "Confirm your subscription";
  return renderMailDocument({
    page,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>
          {isConfirmed ? `This subscription to ${page.name} was confirmed.` : consentText(page)}
        </p>
        <dl>
          <Recipient address={address} />
          <ChoicesInWords choices={choices} choosable={choosable} />
        </dl>
        <form method="post" class="actions">
          <button class="button primary">
            {isConfirmed ? "Manage subscription" : "Confirm subscription"}
          </button>
        </form>
      </section>
    ),
  });
}

interface ManageProps {
  page: PageRow;
  subscriber: SubscriberRow;
  typed: TypedChoices;
  choosable: Choosable;
  errors: InputErrors;
  /** Open incidents of the page. */
  open: readonly HistoryEntry[];
}

/** Renders the page on which a person changes or ends a subscription. */
function renderManagement(props: ManageProps): HtmlDocument {
  const { page, subscriber } = props;
  const isEditable = isOpen(page);
  return renderMailDocument({
    page,
    title: "Your subscription",
    children: (
      <>
        <section class="card panel">
          <h1>
            {isEditable ? "You are subscribed to " : "Your subscription to "}
            <bdi>{page.name}</bdi>
          </h1>
          <dl>
            <Recipient address={subscriber.address ?? ""} />
            <div>
              <dt>Last changed</dt>
              <dd>
                {createPageTimes({ locale: page.locale, time_zone: page.timeZone }).moment(
                  toIso(subscriber.updatedAt),
                )}
              </dd>
            </div>
          </dl>
          {isEditable ? <OpenIncidents {...props} /> : <p>{NO_MESSAGES}</p>}
        </section>
        {isEditable ? <Choices {...props} /> : null}
        <section class="card panel">
          <h2>Unsubscribe</h2>
          <p class="muted">Ends all messages about {page.name}.</p>
          <ActionForm action="unsubscribe" label="Unsubscribe" />
        </section>
        <section class="card panel">
          <h2>Delete my data</h2>
          <p class="muted">
            Unsubscribes, and deletes your address, your choices and the record of messages sent to
            you. This cannot be undone.
          </p>
          <ActionForm action="erase" label="Delete my data" isDanger />
        </section>
      </>
    ),
  });
}

const NO_MESSAGES = "This status page is no longer public, so no messages are sent.";

function OpenIncidents({ page, open }: ManageProps) {
  if (open.length === 0) return <p>There are no open incidents.</p>;
  const paths = pathsOf(page.slug);
  return (
    <div>
      <h2>Open incidents</h2>
      <ul>
        {open.map(({ subject }) =>
          subject.kind === "incident" ? (
            <li key={subject.incident.id}>
              <a href={paths.incident(subject.incident.id)}>
                <bdi>{subject.incident.name}</bdi>
              </a>
            </li>
          ) : null,
        )}
      </ul>
    </div>
  );
}

function Choices({ typed, choosable, errors }: ManageProps) {
  const chosen = [...typed.components, ...typed.groups];
  const isEmpty = typed.scope === "selection" && chosen.length === 0;
  return (
    <section class="card panel">
      <h2>Choices</h2>
      <InputErrorList errors={errors} />
      {isEmpty && !errors["component"] ? (
        <p role="status">
          The components that you chose were removed, so you get no messages. Choose others, or
          everything on this page.
        </p>
      ) : null}
      <form class="form" method="post" noValidate>
        <input type="hidden" name="action" value="save" />
        <SubscriptionFields typed={typed} choosable={choosable} errors={errors} />
        <div class="actions">
          <button class="button primary">Save choices</button>
        </div>
      </form>
    </section>
  );
}

/** Renders the page that asks to unsubscribe. */
function renderUnsubscribing(page: PageRow | undefined): HtmlDocument {
  return renderMailDocument({
    page,
    title: "Unsubscribe",
    children: (
      <section class="card panel">
        <h1>Unsubscribe</h1>
        <p>
          {page
            ? `Press the button to get no more messages about ${page.name}.`
            : "Press the button to get no more messages."}
        </p>
        <ActionForm action="unsubscribe" label="Unsubscribe" />
      </section>
    ),
  });
}

/** Renders the page that asks to decline all further sign-up mails. */
function renderDecline(page: PageRow, address: string): HtmlDocument {
  return renderMailDocument({
    page,
    title: "Never send such mails",
    children: (
      <section class="card panel">
        <h1>Never send such mails to this address</h1>
        <p>
          After this, no subscription can be requested for this address, on any page of this server,
          and subscriptions that it has get no more messages.
        </p>
        <dl>
          <Recipient address={address} />
        </dl>
        <form method="post" class="actions">
          <button class="button primary">Never send such mails</button>
        </form>
      </section>
    ),
  });
}

/** Renders the page after an action that ended the link. */
function renderEnd(
  page: PageRow | undefined,
  { title, text }: { title: string; text: string },
): HtmlDocument {
  return renderMailDocument({
    page,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>{text}</p>
        {page && isOpen(page) ? (
          <p class="actions">
            <a class="button" href={pathsOf(page.slug).home}>
              Go to the status page
            </a>
            <a class="button" href={pathsOf(page.slug).subscribe}>
              Ways to subscribe
            </a>
          </p>
        ) : null}
      </section>
    ),
  });
}

function Recipient({ address }: { address: string }) {
  return (
    <div>
      <dt>Address</dt>
      <dd>
        <bdi>{maskAddress(address)}</bdi>
      </dd>
    </div>
  );
}

/** Form of one button, posted to the address of the page. */
function ActionForm(props: { action: string; label: string; isDanger?: boolean }) {
  const { action, label, isDanger } = props;
  return (
    <form method="post" class="actions">
      <input type="hidden" name="action" value={action} />
      <button class={isDanger ? "button danger" : "button"}>{label}</button>
    </form>
  );
}

const mailCss = lazy(() => minifyCss(`${input}\n${forms}\n${style}`));

interface MailDocumentProps {
  /** The page that the link is about; undefined if it is not known any more. */
  page: PageRow | undefined;
  title: string;
  children: ComponentChildren;
}

const NO_PAGE = { locale: "en", theme: "system", accent: null } as const;

/**
 * Renders a page to which a link in a mail leads, in the look of the status page. It shows nothing of the
 * status, since the status page may be private or deleted, and has no script, link or form with the token.
 */
function renderMailDocument({ page, title, children }: MailDocumentProps): HtmlDocument {
  const look = page ?? NO_PAGE;
  return renderFramed({
    page: look,
    css: mailCss(),
    dir: directionOf(look.locale),
    head: (
      <>
        <title>{page ? `${title} · ${page.name}` : title}</title>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={ringIconUrl("none")} />
      </>
    ),
    body: (
      <div class="column mail-page">
        {page ? (
          <header class="top">
            <Brand page={page} />
          </header>
        ) : null}
        <main id="main">{children}</main>
      </div>
    ),
  });
}

/** Name or logo of the page, with a link to it if everyone can see it. */
function Brand({ page }: { page: PageRow }) {
  if (!isOpen(page)) return <span class="brand">{page.name}</span>;
  const logo = logoPath(page);
  return (
    <a class="brand" href={pathsOf(page.slug).home}>
      {logo === null ? page.name : <Logo page={page} path={logo} />}
    </a>
  );
}

/** Returns true for a page that everyone can see. */
function isOpen(page: Pick<PageRow, "visibility" | "deletedAt">): boolean {
  return page.visibility === "public" && page.deletedAt === null;
}

/** Circumstances of the use of a link, as the gateway knows them. */
type LinkRoute = Parameters<FindLink>[1];

/**
 * Declares a route below `/mail` whose token `open` finds; it throws a Problem for any other token. Each token
 * has a bucket of its own.
 */
function linkOperation(
  db: Reader,
  { id, summary }: { id: string; summary: string },
  open: (reader: Reader, token: string, use: LinkRoute) => unknown,
  more: Pick<Operation, "form"> & { answers?: Operation["answers"] } = {},
) {
  return operation({
    id,
    tag: "E-mail",
    summary,
    description:
      "A link in a mail, whose token is the credential. Reading changes nothing, since programs that check mails follow all links.",
    access: {
      kind: "link",
      find(token, use) {
        try {
          open(db, token, use);
          return token;
        } catch (error) {
          if (error instanceof Problem) return error;
          throw error;
        }
      },
    },
    onCustomDomain: "shared",
    answers: { 200: HTML_ANSWER },
    ...more,
  });
}

const ENDS = {
  confirm: { title: "Alerts are on", text: "Alerts are sent to this address from now on." },
  decline: {
    title: "Alerts are off",
    text: "No alerts and no further questions about them are sent to this address. Subscriptions to status pages stay.",
  },
};

/** `/mail/alerts/…`: the link by which an address confirms alerts for the team. Only its buttons change anything. */
export function alertRoutes(ctx: Ctx) {
  const { db } = ctx;
  const declared = (id: string, summary: string, more?: Parameters<typeof linkOperation>[3]) =>
    linkOperation(db, { id, summary }, openAlertLink, more);

  return declareRoutes()
    .get(
      "/mail/alerts/:token",
      ({ params: { token }, request, requestContext: { domain } }) => {
        const { mail, isOn } = openAlertLink(db, token, { domain, now: ctx.clock.now() });
        const { host } = new URL(ctx.baseUrl);
        return sendHtml(request, renderQuestion({ host, address: mail.recipient, isOn }));
      },
      declared("showAlertLink", "Ask if an address wants alerts"),
    )
    .post(
      "/mail/alerts/:token",
      async ({ params: { token }, body: form, request, requestContext: { domain } }) => {
        const action = form.text("action");
        if (action !== "confirm" && action !== "decline") {
          const detail = "must be one of the actions of the form";
          throw invalidFields([{ pointer: "#/action", detail }]);
        }
        await db.write((tx) => {
          const link = openAlertLink(tx, token, { domain, now: ctx.clock.now() });
          const answer = action === "confirm" ? confirmAlerts : declineAlerts;
          answer(ctx, tx, link);
        });
        return sendHtml(request, renderEnd(undefined, ENDS[action]));
      },
      {
        ...formBody(),
        ...declared("answerAlertLink", "Confirm or decline alerts to an address", {
          form: Type.Object({ action: OneOf(["confirm", "decline"]) }),
        }),
      },
    );
}

interface Question {
  host: string;
  address: string;
  isOn: boolean;
}

function renderQuestion({ host, address, isOn }: Question): HtmlDocument {
  const title = isOn ? "Alerts are on" : "Confirm alerts by e-mail";
  return renderMailDocument({
    page: undefined,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>
          {isOn
            ? `Alerts from ${host} are sent to this address.`
            : `The team of ${host} wants to send alerts about incidents, maintenance and monitors to this address.`}
        </p>
        <dl>
          <div>
            <dt>Address</dt>
            <dd>
              <bdi>{maskAddress(address)}</bdi>
            </dd>
          </div>
        </dl>
        <p class="muted">
          {isOn ? "Stopping alerts" : "Declining"} does not end subscriptions of this address to
          status pages of {host}.
        </p>
        <form method="post" class="actions">
          {isOn ? null : (
            <button class="button primary" name="action" value="confirm">
              Send me alerts
            </button>
          )}
          <button class="button" name="action" value="decline">
            {isOn ? "Stop alerts" : "Decline"}
          </button>
        </form>
      </section>
    ),
  });
}
