import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { notFound } from "../base/errors";
import { lazy } from "../base/lazy";
import { parseMailAddress } from "../base/mail-address";
import type { Ctx } from "../context";
import { mailReadiness, relayTakesUtf8 } from "../features/mail/settings";
import { takesSubscribers } from "../features/pages/mail";
import { choosableLanguages } from "../features/pages/rules";
import { findPageBySlug, type PageRow } from "../features/pages/store";
import type { StatusDocument } from "../features/status/wire";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { type Choosable, parseChoices, readChoosable } from "../features/subscribers/choices";
import { requestSubscription } from "../features/subscribers/sign-up";
import { seeOther, sendHtml, toProblem } from "../http/answers";
import { declareRoutes } from "../http/elysia";
import { type Form, formBody } from "../http/form-body";
import { operation } from "../http/operation";
import type { RequestContext } from "../http/request-context";
import type { AssetSource } from "../ui/assets";
import type { HtmlDocument } from "../ui/documents";
import { Icon, type IconName } from "../ui/icons";
import { minifyCss } from "../ui/style-sheet";
import { useWords } from "../ui/words";
import copyScript from "./copy.js" with { type: "text" };
import input from "../ui/css/input.css" with { type: "text" };
import tile from "../ui/css/tile.css" with { type: "text" };
import forms from "./css/forms.css" with { type: "text" };
import style from "./css/subscribe.css" with { type: "text" };
import { inLanguage, languageOfRequest, languageRendering } from "./chosen-language";
import { contextOf, liveUrl, pathsOf, type Rendering } from "./page-context";
import { renderPage, type ScriptWords, withEnglishWords } from "./page-document";
import { createSite, HTML_ANSWER, MOVED } from "./site";
import {
  ChoiceFields,
  EMPTY_FORM,
  readTypedChoices,
  SubscribeForm,
  type SubscribeFormState,
  SubscribeLink,
} from "./subscription-form";
import type { Visitors } from "./visitors";

const PAGE = {
  tag: "Pages",
  access: { kind: "public" },
  onCustomDomain: "page",
  errors: ["not_found"],
} as const;
const SHOWN = { 200: HTML_ANSWER, 308: MOVED };

/** `/status/{slug}/subscribe`: all ways to subscribe to a page, and the form for e-mail. */
export function subscribeRoutes(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  const site = createSite(ctx, snapshots, visitors);

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
    const language = languageOfRequest(call.request, snapshot.document.page);
    const shown = inLanguage(snapshot, language);
    const html = renderSubscribePage(shown.document, form, languageRendering(shown));
    return sendHtml(call.request, html, more);
  }

  async function signUp(call: {
    params: { slug: string };
    body: Form;
    request: Request;
    requestContext: RequestContext;
  }): Promise<Response> {
    const { params, body: form, requestContext } = call;
    const page = findPageBySlug(ctx.db, { slug: params.slug });
    requestContext.isSealed = page?.visibility !== "public";
    if (!hasForm(page)) throw notFound("form for e-mail");
    const email = form.text("email");
    const typed = readTypedChoices(form);
    const address = parseMailAddress(email, { allowUtf8Local: relayTakesUtf8(ctx) });
    const parsed = parseChoices(typed, readChoosable(ctx.db, page.id), {
      needsEvents: false,
      languages: choosableLanguages(page),
    });
    if ("error" in address || "errors" in parsed) {
      const errors = {
        ...("error" in address ? { email: `form.wrong.${address.reason}` as const } : {}),
        ...("errors" in parsed ? parsed.errors : {}),
      };
      return answerRejected(call, page, { email, typed, errors }, { status: 422 });
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
      const notice = "form.not_stored";
      const { status, headers } = failure;
      return answerRejected(call, page, { email, typed, errors: {}, notice }, { status, headers });
    }
    return seeOther(pathsOf(page.slug, languageOfRequest(call.request, page)).subscribed);
  }

  function formOf(snapshot: Snapshot): SubscribeFormState | undefined {
    return hasForm(findPageBySlug(ctx.db, { slug: snapshot.document.page.slug }))
      ? EMPTY_FORM
      : undefined;
  }

  return declareRoutes()
    .get(
      "/status/:slug/subscribe",
      ({ params: { slug }, request, requestContext }) => {
        // A page with a form and one without are cached separately.
        const variant = isMailReady() ? "with form" : "";
        return site.answer(
          { slug, rest: "/subscribe", variant, isPublicOnly: true, request, requestContext },
          (snapshot) => {
            const form = variant === "" ? undefined : formOf(snapshot);
            return renderSubscribePage(snapshot.document, form, languageRendering(snapshot));
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
        site.answer(
          { slug, rest: "/subscribe/sent", isPublicOnly: true, request, requestContext },
          (snapshot) => renderSentPage(snapshot.document, languageRendering(snapshot)),
        ),
      operation({
        ...PAGE,
        id: "showSubscribed",
        summary: "Show the page after a sign-up",
        conditional: "etag",
        answers: SHOWN,
      }),
    );
}

const COPY_WORDS = {
  copied: "subscribe.copied",
  selected: "subscribe.selected",
  help: "subscribe.selected_help",
} as const satisfies ScriptWords;

/** Script that copies addresses. */
export const COPY_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "copy.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: withEnglishWords(copyScript, COPY_WORDS) },
};

const subscribeCss = lazy(() => minifyCss([input, tile, forms, style].join("\n")));

/**
 * Renders the page with all ways to follow a public page, each with its full address. Without `form` it has no
 * form for e-mail. A copy has a link to the live form instead.
 */
export function renderSubscribePage(
  document: StatusDocument,
  form?: SubscribeFormState,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { page, paths, copy, words } = context;
  const { t, say } = words;
  const at = (path: string) => page.url + path.slice(paths.home.length);
  const [atom, rss, calendar] = [at(paths.atom), at(paths.rss), at(paths.calendar)];
  return renderPage({
    context,
    title: t("page.subscribe"),
    path: paths.subscribe,
    description: t(form ? "subscribe.description_mail" : "subscribe.description", {
      page: page.name,
    }),
    current: "subscribe",
    script: COPY_SCRIPT,
    scriptWords: COPY_WORDS,
    css: subscribeCss(),
    children: (
      <>
        <header class="title">
          <h1>{say("subscribe.title", { page: <bdi>{page.name}</bdi> })}</h1>
          <p>{say("subscribe.text")}</p>
        </header>
        <div class="ways">
          {form && copy ? (
            <SubscribeLink href={`${liveUrl(context, paths.subscribe)}#e-mail`} />
          ) : form ? (
            <SubscribeForm
              action={paths.subscribe}
              choosable={choosableOf(document)}
              languages={context.languages}
              language={context.page.locale}
              state={form}
            />
          ) : null}
          <Way icon="rss" title={say("subscribe.reader")} text={say("subscribe.reader_text")}>
            <Address label="Atom" name={say("subscribe.what.atom")} text={atom} />
            <Address label="RSS" name={say("subscribe.what.rss")} text={rss} />
          </Way>
          <Way icon="hash" title="Slack" text={say("subscribe.slack_text")}>
            <Address
              label={say("subscribe.slack_label")}
              name={say("subscribe.what.message")}
              text={`/feed subscribe ${rss}`}
            />
            <p class="muted">{say("subscribe.slack_others")}</p>
          </Way>
          <Way
            icon="calendar"
            title={say("subscribe.calendar")}
            text={say("subscribe.calendar_text")}
          >
            <p>
              <a class="button" href={calendar.replace(/^https?:/, "webcal:")}>
                <Icon name="calendar-plus" />
                {say("subscribe.calendar_open")}
              </a>
            </p>
            <Address
              label={say("subscribe.calendar_label")}
              name={say("subscribe.what.calendar")}
              text={calendar}
            />
          </Way>
          <Way
            icon="braces"
            title={say("subscribe.programs")}
            text={say("subscribe.programs_text")}
          >
            <Address label="JSON" name={say("subscribe.what.json")} text={at(paths.json)} />
            <Address
              label={say("subscribe.statuspage")}
              name={say("subscribe.what.statuspage")}
              text={`${page.url}/api/v2/summary.json`}
            />
            <Address
              label={say("subscribe.badge")}
              name={say("subscribe.what.badge")}
              text={at(paths.badge)}
            />
          </Way>
        </div>
        <p class="unseen" role="status" data-copied />
      </>
    ),
  });
}

/** Renders the page after a sign-up, which is the same for every address. */
function renderSentPage(document: StatusDocument, rendering: Rendering): HtmlDocument {
  const context = contextOf(document, rendering);
  const { t, say } = context.words;
  return renderPage({
    context,
    title: t("page.subscribe"),
    path: context.paths.subscribed,
    current: "subscribe",
    css: subscribeCss(),
    children: (
      <section class="card way">
        <div class="way-head">
          <span class="tile">
            <Icon name="mail" />
          </span>
          <div>
            <h1>{say("sent.title")}</h1>
            <p>{say("sent.text")}</p>
          </div>
        </div>
        <p>
          <a class="button" href={context.paths.page}>
            {say("sent.back")}
          </a>
        </p>
      </section>
    ),
  });
}

interface WayProps {
  icon: IconName;
  title: ComponentChildren;
  text: ComponentChildren;
  children: ComponentChildren;
}

function Way({ icon, title, text, children }: WayProps) {
  return (
    <section class="card way">
      <div class="way-head">
        <span class="tile">
          <Icon name={icon} />
        </span>
        <div>
          <h2>{title}</h2>
          <p>{text}</p>
        </div>
      </div>
      {children}
    </section>
  );
}

interface AddressProps {
  label: ComponentChildren;
  /** Name after "Copy". */
  name: ComponentChildren;
  text: string;
}

/** Text to copy. The button appears with the script. */
function Address({ label, name, text }: AddressProps) {
  const { say } = useWords();
  return (
    <div class="address">
      <span>{label}</span>
      <div>
        <code dir="ltr">
          {text.split(/(?<=\/)/).map((piece) => (
            <>
              {piece}
              <wbr />
            </>
          ))}
        </code>
        <button type="button" data-copy hidden>
          <Icon name="copy" />
          <span data-word>{say("subscribe.copy")}</span>
          <span class="unseen"> {name}</span>
        </button>
      </div>
    </div>
  );
}

/** Returns the components and groups of a page that its visitors see and can choose. */
function choosableOf({ components, groups }: StatusDocument): Choosable {
  return {
    components: components.map(({ id, name, group_id: groupId }) => ({ id, name, groupId })),
    groups: groups.filter(({ id }) => components.some(({ group_id: groupId }) => groupId === id)),
  };
}
