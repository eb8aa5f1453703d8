import type { ComponentChildren } from "preact";
import { setterOf } from "../../base/config/options";
import type { Theme } from "../../http/cookies";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { Columns, Notice } from "../../ui/blocks";
import { DetailCard } from "../../ui/detail";
import { PageHead } from "../../ui/navigation";
import { defineForm, type StateOf } from "../../ui/forms/form";
import { FormFields, textAreaField, textField } from "../../ui/forms/fields";
import { GENERAL_PATH, NETWORKS_PATH } from "../../ui/frame/paths";
import type { MailReadiness } from "../../features/mail/settings";
import { BackupCard, DiskCard, LimitsCard, MailCard, ThemeCard, VersionCard } from "./cards";
import type { InstallationFacts } from "./facts";
import { type SettingsInForce, SettingsTable } from "./settings-table";

export const ADDRESS_FORM = defineForm<{ public_address: string }>()({
  public_address: textField({
    label: "Public address",
    type: "url",
    hint: "For example https://status.example.com, without a path. Used in links. Changing from http to https signs out all users. If a wrong address locks you out, start the server with --base-url.",
    isRequired: true,
  }),
});

export const NETWORKS_FORM = defineForm<{ allowed_networks: string }>()({
  allowed_networks: textAreaField({
    label: "Networks and addresses",
    hint: "Private networks that webhooks may reach, such as 10.0.0.0/8 or 192.168.1.20, one per line. Monitors need no entry. Link-local and cloud metadata addresses are never reached.",
    rows: 4,
  }),
});

interface GeneralProps {
  address: StateOf<typeof ADDRESS_FORM>;
  networks: StateOf<typeof NETWORKS_FORM>;
  settings: SettingsInForce;
  facts: InstallationFacts;
  mail: MailReadiness;
  theme: Theme;
  /** Reason why the requested backup was not written. */
  backupProblem?: string | undefined;
}

/** Settings → General: settings of the whole installation, and facts about it. */
export function General(props: GeneralProps) {
  const { address, networks, settings, facts, mail, theme, backupProblem } = props;
  const { config } = settings;
  return (
    <>
      <PageHead title="General" />
      {backupProblem === undefined ? null : (
        <Notice tone="partial" title="No backup was written">
          {backupProblem}
        </Notice>
      )}
      <Columns
        isTall
        aside={
          <>
            <VersionCard facts={facts} />
            <DiskCard facts={facts} />
            <BackupCard facts={facts} />
            <MailCard readiness={mail} />
            <LimitsCard facts={facts} publicRateLimit={config.publicRateLimit} />
            <ThemeCard theme={theme} />
          </>
        }
      >
        <Address state={address} setter={setterOf(config, "baseUrl")} />
        <AllowedNetworks state={networks} setter={setterOf(config, "outboundAllow")} />
        <SettingsTable settings={settings} />
      </Columns>
    </>
  );
}

interface FormProps<State> {
  state: State;
  /** Flag or variable that sets the value. If there is one, the value cannot be changed here. */
  setter: string | undefined;
}

function Address({ state, setter }: FormProps<StateOf<typeof ADDRESS_FORM>>) {
  return (
    <DetailCard title="Address" liveId="general-address" isStill>
      {setter === undefined ? (
        <Form action={GENERAL_PATH}>
          <FormFields form={ADDRESS_FORM} state={state} />
          <Actions>
            <Button>Save address</Button>
          </Actions>
        </Form>
      ) : (
        <Fixed setter={setter}>
          The public address is <code>{state.values.public_address}</code>.
        </Fixed>
      )}
    </DetailCard>
  );
}

function AllowedNetworks({ state, setter }: FormProps<StateOf<typeof NETWORKS_FORM>>) {
  const networks = state.values.allowed_networks.split("\n").filter((line) => line !== "");
  return (
    <DetailCard title="Allowed networks" liveId="general-networks" isStill>
      {setter === undefined ? (
        <Form action={NETWORKS_PATH}>
          <FormFields form={NETWORKS_FORM} state={state} />
          <Actions>
            <Button>Save networks</Button>
          </Actions>
        </Form>
      ) : (
        <Fixed setter={setter}>
          {networks.length === 0 ? (
            "Webhooks reach only public addresses."
          ) : (
            <>
              Webhooks may also reach <code>{networks.join(", ")}</code>.
            </>
          )}
        </Fixed>
      )}
    </DetailCard>
  );
}

/** Value that a flag or variable sets, without a form. */
function Fixed({ setter, children }: { setter: string; children: ComponentChildren }) {
  return (
    <>
      <p>{children}</p>
      <p class="hint">
        Set by <code>{setter}</code>, so it cannot be changed here.
      </p>
    </>
  );
}
