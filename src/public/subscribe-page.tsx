import type { ComponentChildren } from "preact";
import type { StatusDocument } from "../features/status/model";
import { lazy } from "../base/lazy";
import type { AssetSource } from "../ui/assets";
import type { HtmlDocument } from "../ui/documents";
import { Icon, type IconName } from "../ui/icons";
import { minifyCss } from "../ui/style-sheet";
import copyScript from "./copy.js" with { type: "text" };
import forms from "./css/forms.css" with { type: "text" };
import style from "./css/subscribe.css" with { type: "text" };
import { contextOf, liveUrl, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import { SubscribeForm, type SubscribeFormState, SubscribeLink } from "./subscribe-form";
import { choosableOf, directionOf } from "./subscription-parts";

/** Script that copies addresses. */
export const COPY_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "copy.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: copyScript },
};

const subscribeCss = lazy(() => minifyCss(`${forms}\n${style}`));

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
  const { page, paths, copy } = context;
  const at = (path: string) => page.url + path.slice(paths.home.length);
  const [atom, rss, calendar] = [at(paths.atom), at(paths.rss), at(paths.calendar)];
  return renderPage({
    context,
    title: "Subscribe",
    path: paths.subscribe,
    description: `Follow incidents and maintenance of ${page.name} ${form ? "by e-mail or feed" : "by feed"}, in Slack or in a calendar.`,
    current: "subscribe",
    script: COPY_SCRIPT,
    css: subscribeCss(),
    dir: directionOf(page.locale),
    children: (
      <>
        <header class="title">
          <h1>Subscribe to {page.name}</h1>
          <p>
            Follow incidents, their updates and maintenance in the program that you already use.
          </p>
        </header>
        <div class="ways">
          {form && copy ? (
            <SubscribeLink href={`${liveUrl(context, paths.subscribe)}#e-mail`} />
          ) : form ? (
            <SubscribeForm
              action={paths.subscribe}
              choosable={choosableOf(document)}
              state={form}
            />
          ) : null}
          <Way
            icon="rss"
            title="Feed reader"
            text="Paste either address into Feedly, NetNewsWire, Miniflux or Thunderbird."
          >
            <Address label="Atom" name="the Atom address" text={atom} />
            <Address label="RSS" name="the RSS address" text={rss} />
          </Way>
          <Way
            icon="hash"
            title="Slack"
            text="Send this message in the channel that should get the updates. Slack's RSS app reads the feed."
          >
            <Address label="In a channel" name="the message" text={`/feed subscribe ${rss}`} />
            <p class="muted">Teams and Discord: add the RSS address in their RSS app.</p>
          </Way>
          <Way
            icon="calendar"
            title="Calendar"
            text="Planned maintenance, in Apple Calendar, Google Calendar or Outlook."
          >
            <p>
              <a class="button" href={calendar.replace(/^https?:/, "webcal:")}>
                <Icon name="calendar-plus" />
                Open in calendar
              </a>
            </p>
            <Address label="Or add by address" name="the calendar address" text={calendar} />
          </Way>
          <Way
            icon="braces"
            title="Programs"
            text="The same data as JSON, also in Statuspage's format for clients that know it."
          >
            <Address label="JSON" name="the JSON address" text={at(paths.json)} />
            <Address
              label="Statuspage's format"
              name="the address in Statuspage's format"
              text={`${page.url}/api/v2/summary.json`}
            />
            <Address label="Badge" name="the badge address" text={`${page.url}/badge.svg`} />
          </Way>
        </div>
        <p class="unseen" role="status" data-copied />
      </>
    ),
  });
}

/** Renders the page after a sign-up, which is the same for every address. */
export function renderSentPage(document: StatusDocument): HtmlDocument {
  const context = contextOf(document);
  return renderPage({
    context,
    title: "Subscribe",
    path: `${context.paths.subscribe}/sent`,
    current: "subscribe",
    css: subscribeCss(),
    dir: directionOf(context.page.locale),
    children: (
      <section class="card way">
        <div class="way-head">
          <span class="tile">
            <Icon name="mail" />
          </span>
          <div>
            <h1>Open the mail to confirm</h1>
            <p>
              If this address can be subscribed, a mail is on its way. Open it within 7 days. If it
              does not arrive, look in your spam folder.
            </p>
          </div>
        </div>
        <p>
          <a class="button" href={context.paths.home}>
            Back to the status page
          </a>
        </p>
      </section>
    ),
  });
}

interface WayProps {
  icon: IconName;
  title: string;
  text: string;
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
  label: string;
  /** Name after "Copy". */
  name: string;
  text: string;
}

/** Text to copy. The button appears with the script. */
function Address({ label, name, text }: AddressProps) {
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
          <span data-word>Copy</span>
          <span class="unseen"> {name}</span>
        </button>
      </div>
    </div>
  );
}
