import type { ComponentChildren } from "preact";
import { CONNECTIONS_MAX, TLS_MODES, type TlsMode } from "../../../base/config/mail";
import { formatMailbox, type MailClass, parseMailAddress } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { seeOther } from "../../../http/answers";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { Columns, Facts, Shape, State } from "../../../ui/blocks";
import { Button, ButtonLink, safeHref } from "../../../ui/buttons";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { Actions, DialogForm, Form, TextField } from "../../../ui/form";
import {
  choiceField,
  FormFields,
  integerField,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import { defineForm, type Field, nullable, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { GENERAL_PATH, MAIL_PATH } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { newFormToken } from "../../../ui/frame/changes";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { screenOperation } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import {
  describeMissing,
  mailReadiness,
  type MailReadiness,
  mailSetters,
  type MailSettings,
  type MailSettingsInput,
  readMailSettings,
  readStoredMailSettings,
  type RelayRecord,
  removeMailSettings,
  setMailSettings,
  type StoredMailSettings,
} from "../settings";
import { beginTestMail, sendTestMail, type TestMailResult } from "../test-mail";
import { STEP_NAMES } from "../reply";
import { type Delivery, readDelivery, type WaitingMails } from "../waiting";
import {
  addReturnRoutes,
  foundAddress,
  MAIL_REMOVE_PATH,
  MAIL_REPORTS_PATH,
  MAIL_REVOKE_PATH,
  MAIL_TEST_PATH,
  MAIL_TOKEN_PATH,
  SUPPRESSIONS_PATH,
} from "./reports";

/** Settings → Mail: for owners. */
export function mailAdminRoutes(deps: AdminDependencies) {
  const { ctx, egress, render, writeAs } = deps;
  const area = createArea(deps, MAIL_PATH, "owner");
  const access = session("owner");

  function screen(
    { requestContext }: ScreenRequest,
    form: StateOf<typeof MAIL_FORM>,
    test?: TestOutcome,
  ): Screen {
    const { email } = sessionOf(requestContext).user;
    const shown = {
      readiness: mailReadiness(ctx),
      settings: readMailSettings(ctx),
      delivery: readDelivery(ctx.db),
      now: ctx.clock.now(),
    };
    const setters = mailSetters(ctx.config);
    const props = { ...shown, setters, form, address: email, test };
    return { title: "Mail", children: <Mail {...props} /> };
  }

  function contextOf() {
    return { hasPassword: (readStoredMailSettings(ctx.db)?.password ?? null) !== null };
  }

  function initial() {
    const stored = readStoredMailSettings(ctx.db);
    return stored ? shownSettings(stored) : MAIL_FORM.initial();
  }

  area.form("", {
    form: MAIL_FORM,
    load: () => contextOf(),
    initial,
    show: (state, at) => screen(at, state),
    submit(tx, input, actor) {
      setMailSettings(ctx, tx, input, actor);
      return "mail";
    },
    done: () => ({ path: MAIL_PATH, text: "The mail settings were saved." }),
  });

  area.confirmation("/remove", {
    show() {
      const stored = readStoredMailSettings(ctx.db);
      if (!stored || mailSetters(ctx.config).length > 0) return { path: MAIL_PATH };
      return { title: "Remove relay", children: <RemoveRelay host={stored.host} /> };
    },
    run: (tx, _at, actor) => removeMailSettings(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAIL_PATH,
      text: isChanged ? "The relay was removed." : undefined,
    }),
  });

  addReturnRoutes(area, deps);

  return area.routes
    .post(
      "/suppressions",
      async ({ request, requestContext, body }) =>
        render.screen({ request, requestContext }, foundAddress(ctx, body.text("address"))),
      {
        ...formBody(),
        ...screenOperation(access),
      },
    )
    .get("/test", () => seeOther(MAIL_PATH), screenOperation(access))
    .post(
      "/test",
      async ({ request, requestContext }) => {
        const at = { request, requestContext };
        const { email } = sessionOf(requestContext).user;
        const begun = await writeAs(requestContext, (tx) =>
          beginTestMail(ctx, tx, email, actorOf(requestContext)),
        );
        const result = await sendTestMail(ctx, egress, begun);
        const form = MAIL_FORM.state(initial(), contextOf(), { form: newFormToken(ctx) });
        return render.screen(at, screen(at, form, { result, address: begun.to.address }));
      },
      { ...formBody(), ...screenOperation(access) },
    );
}

interface MailProps {
  readiness: MailReadiness;
  delivery: Delivery;
  now: number;
  settings: MailSettings | undefined;
  /** Flags and variables that rule the settings. */
  setters: readonly string[];
  form: StateOf<typeof MAIL_FORM>;
  /** Address of the signed-in user, to which a test mail goes. */
  address: string;
  test?: TestOutcome | undefined;
}

/** Settings → Mail: the relay, its state, and test mails. */
function Mail(props: MailProps) {
  const { readiness, delivery, settings, setters, form, address, test, now } = props;
  return (
    <>
      <PageHead title="Mail" crumbs={crumbsAbove(MAIL_PATH)}>
        Mail to subscribers and to your team goes through an SMTP relay, such as that of your mail
        provider.
      </PageHead>
      <Columns
        isTall
        aside={
          <>
            <ReadinessCard readiness={readiness}>
              {readiness.ready ? <RelayFacts relay={delivery.relay} now={now} /> : null}
            </ReadinessCard>
            {readiness.ready ? <TestCard address={address} test={test} /> : null}
            <QueueCard waiting={delivery.waiting} now={now} />
            <ReturnsCard unmatched={delivery.unmatched} tokenAt={delivery.tokenAt} now={now} />
          </>
        }
      >
        {setters.length > 0 ? (
          <FixedSettings settings={settings} setters={setters} />
        ) : (
          <DetailCard title="Relay" liveId="mail-relay" isStill>
            <Form action={MAIL_PATH} hidden={form.hidden}>
              <FormFields form={MAIL_FORM} state={form} />
              <Actions>
                <Button kind="primary">Save mail settings</Button>
                {settings ? (
                  <ButtonLink href={MAIL_REMOVE_PATH} dialog>
                    Remove relay
                  </ButtonLink>
                ) : null}
              </Actions>
            </Form>
          </DetailCard>
        )}
      </Columns>
    </>
  );
}

/** Asks before the relay is removed. */
function RemoveRelay({ host }: { host: string }) {
  return (
    <DialogForm
      title="Remove relay"
      action={MAIL_REMOVE_PATH}
      button="Remove relay"
      isDanger
      cancelHref={MAIL_PATH}
    >
      <p>
        Mail is no longer sent through {host}, and the password is deleted. Subscribers are kept.
        What happens until another relay is set is not mailed later.
      </p>
    </DialogForm>
  );
}

/** State of mail: ready, or what is missing. */
function ReadinessCard({
  readiness,
  children,
}: {
  readiness: MailReadiness;
  children?: ComponentChildren;
}) {
  const isWithoutAddress = !readiness.ready && readiness.missing.includes("public_address");
  return (
    <DetailCard title="State" liveId="mail-state">
      <ReadinessState readiness={readiness} />
      {children}
      {isWithoutAddress ? (
        <p class="detail-note">
          The public address, to which links in mails lead, is set in{" "}
          <a href={safeHref(GENERAL_PATH)}>General</a>.
        </p>
      ) : null}
    </DetailCard>
  );
}

function ReadinessState({ readiness }: { readiness: MailReadiness }) {
  if (readiness.ready) {
    return (
      <p>
        <State tone="ok">Mail can be sent</State>
      </p>
    );
  }
  return (
    <>
      <p>
        <State tone="none">Mail cannot be sent</State>
      </p>
      <p class="detail-note">It needs {describeMissing(readiness.missing)}.</p>
    </>
  );
}

/** Settings that flags or variables rule, without a form. */
function FixedSettings(props: { settings: MailSettings | undefined; setters: readonly string[] }) {
  const { settings, setters } = props;
  return (
    <DetailCard title="Relay" liveId="mail-relay" isStill isFlush>
      {settings ? <Facts items={factsOf(settings)} /> : null}
      <p class="detail-foot hint">
        Set by{" "}
        {setters.map((name, index) => (
          <span key={name}>
            {index === 0 ? "" : ", "}
            <code>{name}</code>
          </span>
        ))}
        , so mail cannot be changed here.
      </p>
    </DetailCard>
  );
}

function factsOf(settings: MailSettings) {
  const { host, port, tls, user, password, from, replyTo, bounceAddress } = settings;
  const { ca, connections, ratePerMinute } = settings;
  return [
    { label: "Host", value: host },
    { label: "Port", value: String(port) },
    { label: "Encryption", value: TLS_LABELS[tls].label },
    { label: "User name", value: user ?? "None" },
    { label: "Password", value: password === undefined ? "None" : "Set" },
    { label: "From", value: formatMailbox(from) },
    { label: "Reply to", value: replyTo ?? "None" },
    { label: "Bounce address", value: bounceAddress ?? "None" },
    { label: "Connections", value: String(connections) },
    {
      label: "Mails per minute",
      value: ratePerMinute === 0 ? "No limit" : ratePerMinute.toLocaleString("en"),
    },
    { label: "Certificates", value: ca === undefined ? "None" : "Set" },
  ];
}

/** Result of a test mail, and the address that it was for. */
interface TestOutcome {
  result: TestMailResult;
  address: string;
}

/** Button that sends a test mail, and the steps of the last one. */
function TestCard({ address, test }: { address: string; test: TestOutcome | undefined }) {
  const parsed = parseMailAddress(address, { allowUtf8Local: true });
  if ("error" in parsed) {
    return (
      <DetailCard title="Test mail" liveId="mail-test" isStill>
        <p>
          No test mail can be sent to your address {address}: it {parsed.error}. Use{" "}
          <code>allclear mail test</code> with another one.
        </p>
      </DetailCard>
    );
  }
  return (
    <DetailCard title="Test mail" liveId="mail-test" isStill isFlush>
      {test ? <Outcome test={test} /> : null}
      <form class="detail-foot" method="post" action={safeHref(MAIL_TEST_PATH)}>
        <Button>Send test mail</Button>
        <p class="hint">
          To {address}, with the saved settings. Takes up to a minute; 10 an hour are possible.
        </p>
      </form>
    </DetailCard>
  );
}

function Outcome({ test }: { test: TestOutcome }) {
  const { isAccepted, steps } = test.result;
  return (
    <>
      <p class="detail-body" role="status">
        <State tone={isAccepted ? "ok" : "major"}>
          {isAccepted
            ? `Accepted by the relay for ${test.address}`
            : "The test mail was not accepted"}
        </State>
      </p>
      <ul class="detail-rows mail-steps">
        {steps.map(({ step, isOk, text }, index) => (
          <DetailRow
            key={`${index} ${step}`}
            shape={<Shape tone={isOk ? "ok" : "major"} />}
            title={STEP_NAMES[step]}
            note={text}
            end={isOk ? undefined : <span>Failed</span>}
          />
        ))}
      </ul>
    </>
  );
}

/** Names of the classes of mails, in the order in which they are sent. */
const CLASS_LABELS: Readonly<Record<MailClass, string>> = {
  1: "Accounts and sign-ups",
  2: "Alerts",
  3: "Mailings to subscribers",
};

/** State of the relay as the sender last saw it. */
function RelayFacts({ relay, now }: { relay: RelayRecord | undefined; now: number }) {
  if (!relay) return <p class="detail-note">Nothing was sent through the relay yet.</p>;
  const since = <RelativeTime at={toIso(relay.since)} now={now} />;
  if (relay.isAvailable) return <p class="detail-note">The relay is available since {since}.</p>;
  return (
    <>
      <p>
        <State tone="major">The relay is unavailable</State>
      </p>
      <p class="detail-note">
        Since {since}. {relay.reply}
      </p>
      <p class="detail-note">
        {relay.nextTryAt === null || relay.nextTryAt <= now ? (
          "The next mail is the next attempt."
        ) : (
          <>
            Next attempt <RelativeTime at={toIso(relay.nextTryAt)} now={now} />.
          </>
        )}{" "}
        Mails wait, and none is lost.
      </p>
    </>
  );
}

/** Mails that wait, by class. */
function QueueCard({ waiting, now }: { waiting: readonly WaitingMails[]; now: number }) {
  return (
    <DetailCard title="Queue" liveId="mail-queue" isFlush>
      <Facts
        items={waiting.map(({ class: one, count, oldestAt }) => ({
          label: CLASS_LABELS[one],
          value: <Waiting count={count} oldestAt={oldestAt} now={now} />,
        }))}
      />
    </DetailCard>
  );
}

function Waiting({ count, oldestAt, now }: Omit<WaitingMails, "class"> & { now: number }) {
  if (count === 0) return <>None</>;
  return (
    <>
      {count.toLocaleString("en")}
      {oldestAt === undefined ? null : (
        <>
          , oldest <RelativeTime at={toIso(oldestAt)} now={now} />
        </>
      )}
    </>
  );
}

interface ReturnsProps {
  /** Number of unmatched reports. */
  unmatched: number;
  /** Time at which the token was made (unix ms); undefined without one. */
  tokenAt: number | undefined;
  now: number;
}

/** Links about what came back: suppressed addresses, unmatched reports, and the token by which reports come. */
function ReturnsCard({ unmatched, tokenAt, now }: ReturnsProps) {
  return (
    <DetailCard title="Bounces and complaints" liveId="mail-returns" isStill isFlush>
      <ul class="detail-rows">
        <DetailRow
          shape={<Shape tone="none" />}
          href={SUPPRESSIONS_PATH}
          title="Suppressed addresses"
          note="Addresses that get no mail of some kinds, and why."
        />
        <DetailRow
          shape={<Shape tone={unmatched > 0 ? "degraded" : "none"} />}
          href={MAIL_REPORTS_PATH}
          title="Unmatched reports"
          note={
            unmatched === 0
              ? "None in the last 30 days."
              : `${plural(unmatched, "report")} in the last 30 days.`
          }
        />
      </ul>
      <div class="detail-foot">
        <TokenState tokenAt={tokenAt} now={now} />
      </div>
    </DetailCard>
  );
}

function TokenState({
  tokenAt,
  now,
}: {
  tokenAt: number | undefined;
  now: number;
}): ComponentChildren {
  if (tokenAt === undefined) {
    return (
      <>
        <p class="hint">
          With a token, a mail server or a provider reports bounces and complaints here. It grants
          nothing else.
        </p>
        <div class="actions">
          <ButtonLink href={MAIL_TOKEN_PATH} dialog>
            Create token
          </ButtonLink>
        </div>
      </>
    );
  }
  return (
    <>
      <p class="hint">
        Token for reports: created <RelativeTime at={toIso(tokenAt)} now={now} />.
      </p>
      <div class="actions">
        <ButtonLink href={MAIL_TOKEN_PATH} dialog>
          Replace token
        </ButtonLink>
        <ButtonLink href={MAIL_REVOKE_PATH} dialog>
          Revoke token
        </ButtonLink>
      </div>
    </>
  );
}

/** Names of the TLS modes. */
const TLS_LABELS: Readonly<Record<TlsMode, { label: string; hint: string }>> = {
  implicit: { label: "From the start", hint: "Usually on port 465. The certificate is verified." },
  starttls: {
    label: "STARTTLS",
    hint: "Usually on port 587. Required: without it, nothing is sent. The certificate is verified.",
  },
  opportunistic: {
    label: "If offered",
    hint: "STARTTLS without verification, or no encryption. No user name.",
  },
  none: { label: "None", hint: "Unencrypted, for a relay on this machine. No user name." },
};

/** Screen data of the form. */
interface MailContext {
  hasPassword: boolean;
}

/** Field for the relay's password, which is never shown. An empty one keeps the stored password. */
const passwordField: Field<string, string | null, MailContext> = {
  label: "Password",
  initial: "",
  read: (sent, name) => sent.text(name),
  toBody: (typed) => (typed === "" ? undefined : typed),
  fromStored: () => "",
  Input: ({ name, errors, context }) => (
    <TextField
      label="Password"
      name={name}
      type="password"
      autocomplete="off"
      hint={
        context.hasPassword
          ? "Set. Leave empty to keep it. With another host, user name or certificates, type it again."
          : "Stored as it is, since the relay needs it. Never shown again."
      }
      error={errors[name]}
    />
  ),
};

const MAIL_FORM = defineForm<MailSettingsInput, MailContext>()(
  {
    host: textField({
      label: "Host",
      hint: "Name or address of the SMTP relay, such as smtp.example.com.",
      isRequired: true,
    }),
    tls: choiceField<TlsMode>({
      label: "Encryption",
      initial: "starttls",
      options: TLS_MODES.map((value) => ({ value, ...TLS_LABELS[value] })),
    }),
    port: nullable(
      integerField({ label: "Port", hint: "If empty, 465, 587 or 25 by encryption." }),
    ),
    user: nullable(textField({ label: "User name" })),
    password: passwordField,
    from: textField({
      label: "From",
      hint: "Such as status@example.com or Northwind <status@example.com>.",
      isRequired: true,
    }),
    reply_to: nullable(textField({ label: "Reply to", hint: "An address to which replies go." })),
    bounce_address: nullable(
      textField({
        label: "Bounce address",
        hint: "An address to which reports about undelivered mail go, with at most 24 characters before the @. Each mail gets a sender of its own from it, such as bounces+eml_…@example.com.",
      }),
    ),
    connections: integerField({
      label: "Connections",
      hint: `At the same time, at most ${CONNECTIONS_MAX}.`,
      initial: 4,
      isRequired: true,
    }),
    rate_per_minute: integerField({
      label: "Mails per minute",
      hint: "0 for no limit.",
      initial: 600,
      isRequired: true,
    }),
    ca: nullable(
      textAreaField({
        label: "Certificates",
        hint: "Of private authorities to trust in addition, in PEM.",
        rows: 4,
      }),
    ),
  },
  { advanced: ["reply_to", "bounce_address", "connections", "rate_per_minute", "ca"] },
);

/** Returns what the form shows of the stored settings: everything but the password. */
function shownSettings(stored: StoredMailSettings) {
  return MAIL_FORM.stored({ ...stored, password: null });
}
