import type { RequestedChoices } from "../db/tables/mail";
import { maskAddress } from "../base/mail-address";
import type { PageRow } from "../features/pages/store";
import type { HistoryEntry } from "../features/status/history";
import type { Choosable, TypedChoices } from "../features/subscribers/choices";
import { consentText } from "../features/subscribers/confirm";
import type { SubscriberRow } from "../features/subscribers/store";
import { toIso } from "../base/time";
import type { HtmlDocument } from "../ui/documents";
import { isOpen, renderMailDocument } from "./mail-document";
import { pathsOf } from "./page-paths";
import { createPageTimes } from "./page-times";
import {
  ChoicesInWords,
  InputErrorList,
  type InputErrors,
  SubscriptionFields,
} from "./subscription-fields";

/** Renders the page that asks to confirm a sign-up. */
export function renderConfirmation(props: {
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
export function renderManagement(props: ManageProps): HtmlDocument {
  const { page, subscriber } = props;
  const isEditable = isOpen(page);
  return renderMailDocument({
    page,
    title: "Your subscription",
    children: (
      <>
        <section class="card panel">
          <h1>
            {isEditable
              ? `You are subscribed to ${page.name}`
              : `Your subscription to ${page.name}`}
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
export function renderUnsubscribing(page: PageRow | undefined): HtmlDocument {
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
export function renderDecline(page: PageRow, address: string): HtmlDocument {
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
export function renderEnd(
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
