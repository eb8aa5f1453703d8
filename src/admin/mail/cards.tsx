import type { ComponentChildren } from "preact";
import { formatMailbox, parseMailAddress } from "../../base/mail-address";
import { describeMissing } from "../../features/mail/test-mail";
import type { MailReadiness, MailSettings } from "../../features/mail/settings";
import { STEP_NAMES } from "../../features/mail/smtp/reply";
import type { TestMailResult } from "../../features/mail/smtp/send-test-mail";
import { Button, safeHref } from "../../ui/buttons";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Facts, Shape, State } from "../../ui/blocks";
import { GENERAL_PATH } from "../../ui/frame/paths";
import { TLS_LABELS } from "./forms";
import { MAIL_TEST_PATH } from "./mail-paths";

/** State of mail: ready, or what is missing. */
export function ReadinessCard({
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

export function ReadinessState({ readiness }: { readiness: MailReadiness }) {
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
export function FixedSettings(props: {
  settings: MailSettings | undefined;
  setters: readonly string[];
}) {
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
export interface TestOutcome {
  result: TestMailResult;
  address: string;
}

/** Button that sends a test mail, and the steps of the last one. */
export function TestCard({ address, test }: { address: string; test: TestOutcome | undefined }) {
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
