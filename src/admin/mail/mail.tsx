import type { Delivery } from "../../features/mail/delivery";
import type { MailReadiness, MailSettings } from "../../features/mail/settings";
import { Actions, DialogForm, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { Columns } from "../../ui/blocks";
import { DetailCard } from "../../ui/detail";
import { PageHead } from "../../ui/navigation";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { GENERAL_PATH, MAIL_PATH } from "../../ui/frame/paths";
import { FixedSettings, ReadinessCard, TestCard, type TestOutcome } from "./cards";
import { QueueCard, RelayFacts, ReturnsCard } from "./delivery-cards";
import { MAIL_FORM } from "./forms";
import { MAIL_REMOVE_PATH } from "./mail-paths";

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

/** Mail settings: the relay, its state, and test mails. */
export function Mail(props: MailProps) {
  const { readiness, delivery, settings, setters, form, address, test, now } = props;
  return (
    <>
      <PageHead title="Mail settings" crumbs={[{ href: GENERAL_PATH, label: "General" }]}>
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
export function RemoveRelay({ host }: { host: string }) {
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
