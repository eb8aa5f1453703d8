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
import { linkedLanguage } from "../features/pages/language-links";
import { logoPath } from "../features/pages/addresses";
import { choosableLanguages, languageFor } from "../features/pages/rules";
import { findDefaultPage, type PageRow } from "../features/pages/store";
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
import { confirmSignUp, declineSignUps } from "../features/subscribers/sign-up";
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
import type { MessageKey } from "../languages/words";
import type { HtmlDocument } from "../ui/documents";
import { ringIconUrl } from "../ui/pictures";
import { minifyCss } from "../ui/style-sheet";
import { type PageWords, pageWordsOf, useWords } from "../ui/words";
import input from "../ui/css/input.css" with { type: "text" };
import forms from "./css/forms.css" with { type: "text" };
import style from "./css/mail.css" with { type: "text" };
import { offeredLanguages } from "./chosen-language";
import { type PagePaths, pathsOf } from "./page-context";
import { Logo, renderFramed } from "./page-document";
import { createPageTimes } from "./page-times";
import { HTML_ANSWER } from "./site";
import {
  ChoiceFields,
  ChoicesInWords,
  InputErrorList,
  type InputErrors,
  readTypedChoices,
  SubscriptionFields,
} from "./subscription-form";

/** Number of open incidents that the page for managing lists. */
const OPEN_SHOWN = 10;

/** Messages of a page after an action that ended the link. */
interface End {
  title: MessageKey;
  text: MessageKey;
}

const UNSUBSCRIBED: End = { title: "manage.unsubscribed", text: "manage.unsubscribed_text" };
const ERASED: End = { title: "manage.erased", text: "manage.erased_text" };
const DECLINED: End = { title: "decline.done", text: "decline.done_text" };

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
    const { targets, events, scope, language } = existingChoices(
      choicesOf(db, subscriber),
      choosable,
    );
    const stored = {
      scope,
      events,
      language: language ?? "",
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
      const parsed = parseChoices(typed, choosable, {
        needsEvents: true,
        languages: choosableLanguages(found.page),
      });
      if ("choices" in parsed) changeChoices(ctx, tx, found.subscriber, parsed.choices);
      return { link: found, errors: "errors" in parsed ? parsed.errors : {} };
    });
    if (Object.keys(errors).length === 0) return seeOther(`/mail/manage/${token}`);
    return managementPage(call, opened, { typed, errors });
  }

  async function manage(call: Call & { body: Form }): Promise<Response> {
    const { body: form, params, request } = call;
    const action = form.text("action");
    if (action === "save") return save(call, form);
    if (action !== "unsubscribe" && action !== "erase") throw unknownAction();
    const { page, subscriber } = await db.write((tx) => {
      const found = openManagement(tx, params.token, useOf(call));
      const end = action === "erase" ? eraseSubscriber : unsubscribe;
      end(ctx, tx, found.subscriber);
      return found;
    });
    const end = action === "erase" ? ERASED : UNSUBSCRIBED;
    return sendHtml(request, renderEnd(end, readerOf(page, subscriber.language)));
  }

  async function unsubscribeBy(call: Call & { body: Form }): Promise<Response> {
    const { body: form, params, request } = call;
    const isOneClick = form.text("List-Unsubscribe") === "One-Click";
    if (!isOneClick && form.text("action") !== "unsubscribe") throw unknownAction();
    const link = await db.write((tx) => {
      const found = openUnsubscribing(tx, params.token, useOf(call));
      if (found) unsubscribe(ctx, tx, found.subscriber);
      return found;
    });
    const reader = readerOf(link?.page, link?.subscriber.language);
    if (!isOneClick) return sendHtml(request, renderEnd(UNSUBSCRIBED, reader));
    return new Response(`${reader.words.t("mail.unsubscribed")}\n`, {
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
        return sendHtml(
          call.request,
          renderUnsubscribing(readerOf(found?.page, found?.subscriber.language)),
        );
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
        const reader = readerOf(page, signUp.choices.language);
        return sendHtml(call.request, renderDecline(signUp.address, reader));
      },
      link("showDecline", "Ask to decline sign-up mails", openDecline),
    )
    .post(
      "/mail/decline/:token",
      async (call) => {
        const { page, request } = await db.write((tx) => {
          const found = openDecline(tx, call.params.token, useOf(call));
          declineSignUps(ctx, tx, found.request);
          return found;
        });
        const reader = readerOf(page, request.choices.language);
        return sendHtml(call.request, renderEnd(DECLINED, reader));
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
  const reader = readerOf(page, choices.language);
  const { t, say } = reader.words;
  const title = t(isConfirmed ? "confirm.done" : "confirm.title");
  return renderMailDocument({
    reader,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>{say(isConfirmed ? "confirm.done_text" : "confirm.consent", { page: page.name })}</p>
        <dl>
          <Recipient address={address} />
          <ChoicesInWords choices={choices} choosable={choosable} />
        </dl>
        <form method="post" class="actions">
          <button class="button primary">
            {say(isConfirmed ? "confirm.manage" : "confirm.submit")}
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
  const reader = readerOf(page, subscriber.language);
  const { t, say } = reader.words;
  const times = createPageTimes({ locale: reader.locale, time_zone: page.timeZone });
  return renderMailDocument({
    reader,
    title: t("manage.title"),
    children: (
      <>
        <section class="card panel">
          <h1>
            {say(isEditable ? "manage.subscribed" : "manage.subscription", {
              page: <bdi>{page.name}</bdi>,
            })}
          </h1>
          <dl>
            <Recipient address={subscriber.address ?? ""} />
            <div>
              <dt>{say("manage.changed")}</dt>
              <dd lang={times.lang}>{times.moment(toIso(subscriber.updatedAt))}</dd>
            </div>
          </dl>
          {isEditable ? (
            <OpenIncidents {...props} paths={reader.paths} />
          ) : (
            <p>{say("manage.no_messages")}</p>
          )}
        </section>
        {isEditable ? <Choices {...props} language={reader.locale} /> : null}
        <section class="card panel">
          <h2>{say("manage.unsubscribe")}</h2>
          <p class="muted">{say("manage.unsubscribe_text", { page: page.name })}</p>
          <ActionForm action="unsubscribe" label="manage.unsubscribe" />
        </section>
        <section class="card panel">
          <h2>{say("manage.erase")}</h2>
          <p class="muted">{say("manage.erase_text")}</p>
          <ActionForm action="erase" label="manage.erase" isDanger />
        </section>
      </>
    ),
  });
}

function OpenIncidents({
  open,
  paths,
}: Pick<ManageProps, "open"> & { paths: PagePaths | undefined }) {
  const { say } = useWords();
  if (open.length === 0) return <p>{say("manage.no_incidents")}</p>;
  return (
    <div>
      <h2>{say("open.title")}</h2>
      <ul>
        {open.map(({ subject }) =>
          subject.kind === "incident" ? (
            <li key={subject.incident.id}>
              <a href={paths?.incident(subject.incident.id)}>
                <bdi>{subject.incident.name}</bdi>
              </a>
            </li>
          ) : null,
        )}
      </ul>
    </div>
  );
}

function Choices(props: ManageProps & { language: string }) {
  const { page, typed, choosable, language, errors } = props;
  const { say } = useWords();
  const chosen = [...typed.components, ...typed.groups];
  const isEmpty = typed.scope === "selection" && chosen.length === 0;
  return (
    <section class="card panel">
      <h2>{say("manage.choices")}</h2>
      <InputErrorList errors={errors} />
      {isEmpty && !errors["component"] ? <p role="status">{say("manage.empty")}</p> : null}
      <form class="form" method="post" noValidate>
        <input type="hidden" name="action" value="save" />
        <SubscriptionFields
          typed={typed}
          choosable={choosable}
          languages={offeredLanguages(page)}
          language={language}
          errors={errors}
        />
        <div class="actions">
          <button class="button primary">{say("manage.save")}</button>
        </div>
      </form>
    </section>
  );
}

/** Renders the page that asks to unsubscribe. */
function renderUnsubscribing(reader: LinkReader): HtmlDocument {
  const { page } = reader;
  const { t, say } = reader.words;
  return renderMailDocument({
    reader,
    title: t("manage.unsubscribe"),
    children: (
      <section class="card panel">
        <h1>{say("manage.unsubscribe")}</h1>
        <p>
          {page
            ? say("manage.unsubscribe_ask", { page: page.name })
            : say("manage.unsubscribe_ask_any")}
        </p>
        <ActionForm action="unsubscribe" label="manage.unsubscribe" />
      </section>
    ),
  });
}

/** Renders the page that asks to decline all further sign-up mails. */
function renderDecline(address: string, reader: LinkReader): HtmlDocument {
  const { t, say } = reader.words;
  return renderMailDocument({
    reader,
    title: t("decline.title"),
    children: (
      <section class="card panel">
        <h1>{say("decline.heading")}</h1>
        <p>{say("decline.text")}</p>
        <dl>
          <Recipient address={address} />
        </dl>
        <form method="post" class="actions">
          <button class="button primary">{say("decline.title")}</button>
        </form>
      </section>
    ),
  });
}

/** Renders the page after an action that ended the link. */
function renderEnd({ title, text }: End, reader: LinkReader): HtmlDocument {
  const { page, paths } = reader;
  const { t, say } = reader.words;
  return renderMailDocument({
    reader,
    title: t(title),
    children: (
      <section class="card panel">
        <h1>{say(title)}</h1>
        <p>{say(text)}</p>
        {page && isOpen(page) ? (
          <p class="actions">
            <a class="button" href={paths?.page}>
              {say("manage.to_page")}
            </a>
            <a class="button" href={paths?.subscribe}>
              {say("manage.to_subscribe")}
            </a>
          </p>
        ) : null}
      </section>
    ),
  });
}

function Recipient({ address }: { address: string }) {
  const { say } = useWords();
  return (
    <div>
      <dt>{say("confirm.address")}</dt>
      <dd>
        <bdi>{maskAddress(address)}</bdi>
      </dd>
    </div>
  );
}

/** Form of one button, posted to the address of the page. */
function ActionForm(props: { action: string; label: MessageKey; isDanger?: boolean }) {
  const { say } = useWords();
  const { action, label, isDanger } = props;
  return (
    <form method="post" class="actions">
      <input type="hidden" name="action" value={action} />
      <button class={isDanger ? "button danger" : "button"}>{say(label)}</button>
    </form>
  );
}

const mailCss = lazy(() => minifyCss(`${input}\n${forms}\n${style}`));

/** Person who has opened a link in a mail. */
interface LinkReader {
  /** The page that the link is about; undefined if it is not known any more. */
  page: PageRow | undefined;
  /** Tag of the person's language. */
  locale: string;
  words: PageWords;
  /** Paths of the page in the person's language; undefined without a page. */
  paths: PagePaths | undefined;
}

/** Returns the person with a link about a page, who reads English if the page is not known any more. */
function readerOf(page: PageRow | undefined, language: string | null | undefined): LinkReader {
  const locale = page === undefined ? "en" : languageFor(page, language);
  return {
    page,
    locale,
    words: pageWordsOf(locale),
    paths: page && pathsOf(page.slug, linkedLanguage(page, language)),
  };
}

interface MailDocumentProps {
  reader: LinkReader;
  title: string;
  children: ComponentChildren;
}

const NO_PAGE = { theme: "system", accent: null } as const;

/**
 * Renders a page to which a link in a mail leads, in the look of the status page. It shows nothing of the
 * status, since the status page may be private or deleted, and has no script, link or form with the token.
 */
function renderMailDocument({ reader, title, children }: MailDocumentProps): HtmlDocument {
  const { page, words } = reader;
  return renderFramed({
    page: page ?? NO_PAGE,
    words,
    css: mailCss(),
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
            <Brand page={page} href={reader.paths?.page} />
          </header>
        ) : null}
        <main id="main">{children}</main>
      </div>
    ),
  });
}

/** Name or logo of the page, with a link to it if everyone can see it. */
function Brand({ page, href }: { page: PageRow; href: string | undefined }) {
  if (!isOpen(page)) return <span class="brand">{page.name}</span>;
  const logo = logoPath(page);
  return (
    <a class="brand" href={href}>
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

const ENDS: Record<"confirm" | "decline", End> = {
  confirm: { title: "alerts.on", text: "alerts.on_done" },
  decline: { title: "alerts.off", text: "alerts.off_text" },
};

/** `/mail/alerts/…`: the link by which an address confirms alerts for the team. Only its buttons change anything. */
export function alertRoutes(ctx: Ctx) {
  const { db } = ctx;
  const declared = (id: string, summary: string, more?: Parameters<typeof linkOperation>[3]) =>
    linkOperation(db, { id, summary }, openAlertLink, more);
  /** Alerts belong to no page. The words are those of the default page, unless it is private. */
  const reader = (): LinkReader => {
    const page = findDefaultPage(db, {});
    const { locale, words } = readerOf(page?.visibility === "public" ? page : undefined, null);
    return { page: undefined, locale, words, paths: undefined };
  };

  return declareRoutes()
    .get(
      "/mail/alerts/:token",
      ({ params: { token }, request, requestContext: { domain } }) => {
        const { mail, isOn } = openAlertLink(db, token, { domain, now: ctx.clock.now() });
        const { host } = new URL(ctx.baseUrl);
        const question = { host, address: mail.recipient, isOn };
        return sendHtml(request, renderQuestion(question, reader()));
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
        return sendHtml(request, renderEnd(ENDS[action], reader()));
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

function renderQuestion({ host, address, isOn }: Question, reader: LinkReader): HtmlDocument {
  const { t, say } = reader.words;
  const title = isOn ? "alerts.on" : "alerts.title";
  return renderMailDocument({
    reader,
    title: t(title),
    children: (
      <section class="card panel">
        <h1>{say(title)}</h1>
        <p>{say(isOn ? "alerts.on_text" : "alerts.text", { host })}</p>
        <dl>
          <Recipient address={address} />
        </dl>
        <p class="muted">{say(isOn ? "alerts.stop_note" : "alerts.decline_note", { host })}</p>
        <form method="post" class="actions">
          {isOn ? null : (
            <button class="button primary" name="action" value="confirm">
              {say("alerts.confirm")}
            </button>
          )}
          <button class="button" name="action" value="decline">
            {say(isOn ? "alerts.stop" : "alerts.decline")}
          </button>
        </form>
      </section>
    ),
  });
}
