import type { ComponentChildren } from "preact";
import { MAIL_OPTION_NAMES } from "../../../base/config/mail";
import { type OptionName, setterOf } from "../../../base/config/options";
import { formatNetwork } from "../../../base/config/parse";
import { conflict, type FieldError } from "../../../base/errors";
import { formatBytes, percent, sum } from "../../../base/numbers";
import type { Tone } from "../../../base/status";
import { describeStore } from "../../../base/store-address";
import { plural } from "../../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { SCHEMA_VERSION } from "../../../db/migrations";
import type { DiskSpace } from "../../../db/storage-watch";
import { seeOther } from "../../../http/answers";
import { BODY_MAX_BYTES } from "../../../http/body";
import { readTheme, sessionCookie, type Theme } from "../../../http/cookies";
import { declareRoutes } from "../../../http/elysia";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { NO_STORE } from "../../../http/representation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { Columns, Facts, Notice, State } from "../../../ui/blocks";
import { Button, safeHref } from "../../../ui/buttons";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { FormFields, textAreaField, textField } from "../../../ui/forms/fields";
import { defineForm, keptNotice, type StateOf } from "../../../ui/forms/form";
import { sessionOriginOf } from "../../../ui/frame/browser";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { BACKUP_PATH, GENERAL_PATH, NETWORKS_PATH } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import type { ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import { KEEPS_TYPED, screenOperation } from "../../../ui/screens/routes";
import { DateTime, dateTimeAt, duration, RelativeTime, useZone } from "../../../ui/times";
import { VERSION } from "../../../version";
import { isHttps } from "../../auth/rules";
import { endSession, startSession } from "../../auth/sessions";
import { type LastBackup, readLastBackup, recordBackup } from "../../backups/backups";
import { readScheduledBackups, type ScheduledBackup } from "../../backups/schedule";
import { countStatuses } from "../../components/store";
import { DEFAULT_RATE_LIMIT } from "../../keys/wire";
import { readMailSettings } from "../../mail/settings";
import { countMonitorsByState } from "../../monitors/store";
import { LOGO_MAX_BYTES } from "../../pages/logo";
import { DOMAINS_MAX } from "../../pages/addresses";
import { UPDATES_MAX } from "../../timeline/updates";
import { ThemeForm } from "../../users/screens/account";
import {
  readAllowedNetworks,
  readPublicAddress,
  setAllowedNetworks,
  setPublicAddress,
  validateAllowedNetworks,
  validatePublicAddress,
} from "../settings";
import { type SettingsInForce, SettingsTable, timeOfDay } from "./settings-table";

/** Text that a form shows again, with its errors or the message of a kept form. */
interface Typed {
  text: string;
  errors?: readonly FieldError[];
  kept?: string;
}

/** Forms that are shown again, or the reason why a backup failed. */
interface Again {
  address?: Typed;
  networks?: Typed;
  backup?: { message: string };
  status?: number;
}

/** Settings → General: for owners. */
export function generalAdminRoutes({
  ctx,
  render,
  flashes,
  sessions,
  backups,
  writeAs,
}: AdminDependencies) {
  const MAY_MANAGE = session("owner");

  function settingsInForce(): SettingsInForce {
    const stored = new Set<OptionName>();
    if (readPublicAddress(ctx.db) !== undefined) stored.add("baseUrl");
    if (readAllowedNetworks(ctx.db).length > 0) stored.add("outboundAllow");
    const mail = readMailSettings(ctx);
    if (mail?.origin === "dashboard") for (const name of MAIL_OPTION_NAMES) stored.add(name);
    const { baseUrl: publicAddress, config, allowedNetworks } = ctx;
    return { config, publicAddress, allowedNetworks, mail, stored };
  }

  async function show(at: ScreenRequest, again: Again = {}) {
    const { address, networks, backup, status = 200 } = again;
    const allowed = ctx.allowedNetworks.map(formatNetwork).join("\n");
    const addressValues = { public_address: address?.text ?? ctx.baseUrl };
    const networkValues = { allowed_networks: networks?.text ?? allowed };
    const addressState = ADDRESS_FORM.rejected(addressValues, address?.errors ?? [], {});
    const networksState = NETWORKS_FORM.rejected(networkValues, networks?.errors ?? [], {});
    return render.screen(at, {
      title: "General",
      status,
      children: (
        <General
          address={{ ...addressState, kept: address?.kept }}
          networks={{ ...networksState, kept: networks?.kept }}
          settings={settingsInForce()}
          facts={await readFacts(ctx)}
          theme={readTheme(at.request)}
          backupProblem={backup?.message}
        />
      ),
    });
  }

  /** Throws `conflict` if a flag or a variable sets an option. */
  function requireChangeable(name: OptionName, what: string): void {
    const setter = setterOf(ctx.config, name);
    if (setter !== undefined) throw conflict(`${what} set by ${setter}.`);
  }

  return declareRoutes(GENERAL_PATH)
    .get(
      "",
      async ({ request, requestContext }) => show({ request, requestContext }),
      screenOperation(MAY_MANAGE),
    )
    .post(
      "",
      async ({ request, requestContext, body: form }) => {
        requireChangeable("baseUrl", "The public address is");
        const text = form.text("public_address").trim();
        const kept = keptNotice(form);
        if (kept !== undefined)
          return show({ request, requestContext }, { address: { text, kept } });
        const errors = validatePublicAddress(text);
        if (errors.length > 0) {
          return show({ request, requestContext }, { address: { text, errors }, status: 422 });
        }
        const { id, user, identityId } = sessionOf(requestContext);
        const { isChanged, token } = await writeAs(requestContext, (tx) => {
          const before = readPublicAddress(tx);
          const baseUrl = setPublicAddress(ctx, tx, text, actorOf(requestContext));
          const isChanged = baseUrl !== before;
          if (isHttps(baseUrl) === isHttps(ctx.baseUrl)) return { isChanged };
          // The change ends all sessions. Its author gets a new one; reverting the change does not
          // restore the old one.
          endSession(tx, user.id, id);
          const origin = {
            ...sessionOriginOf(request, requestContext),
            ...(identityId === null ? {} : { identityId }),
          };
          return { isChanged, token: startSession({ ...ctx, baseUrl }, tx, user.id, origin) };
        });
        const current = token === undefined ? undefined : sessions.find(token, ctx.clock.now());
        const done = isChanged ? "The public address was changed." : undefined;
        const answer = flashes.redirect(current?.id ?? id, GENERAL_PATH, done);
        if (token !== undefined) answer.headers.set("Set-Cookie", sessionCookie(ctx, token));
        return answer;
      },
      { ...formBody(), ...screenOperation(MAY_MANAGE, KEEPS_TYPED) },
    )
    .get("/networks", () => seeOther(GENERAL_PATH), screenOperation(MAY_MANAGE))
    .post(
      "/networks",
      async ({ request, requestContext, body: form }) => {
        requireChangeable("outboundAllow", "The allowed networks are");
        const text = form.text("allowed_networks");
        const kept = keptNotice(form);
        if (kept !== undefined) {
          return show({ request, requestContext }, { networks: { text, kept } });
        }
        const errors = validateAllowedNetworks(text);
        if (errors.length > 0) {
          return show({ request, requestContext }, { networks: { text, errors }, status: 422 });
        }
        const isChanged = await writeAs(requestContext, (tx) =>
          setAllowedNetworks(ctx, tx, text, actorOf(requestContext)),
        );
        const done = isChanged ? "The allowed networks were changed." : undefined;
        return flashes.redirect(sessionOf(requestContext).id, GENERAL_PATH, done);
      },
      { ...formBody(), ...screenOperation(MAY_MANAGE, KEEPS_TYPED) },
    )
    .get("/backup", () => seeOther(GENERAL_PATH), screenOperation(MAY_MANAGE))
    .post(
      "/backup",
      async ({ request, requestContext }) => {
        const taken = await backups.take(request, (bytes) =>
          writeAs(requestContext, (tx) => recordBackup(ctx, tx, bytes, actorOf(requestContext))),
        );
        if ("message" in taken) {
          return show({ request, requestContext }, { backup: taken, status: taken.status });
        }
        return new Response(Bun.file(taken.path), {
          headers: {
            "Content-Type": "application/vnd.sqlite3",
            "Content-Length": String(taken.bytes),
            "Content-Disposition": `attachment; filename="${taken.name}"`,
            "Cache-Control": NO_STORE,
          },
        });
      },
      { ...formBody(), ...screenOperation(MAY_MANAGE) },
    );
}

const ADDRESS_FORM = defineForm<{ public_address: string }>()({
  public_address: textField({
    label: "Public address",
    type: "url",
    hint: "For example https://status.example.com, without a path. Used in links. Changing from http to https signs out all users. If a wrong address locks you out, start the server with --base-url.",
    isRequired: true,
  }),
});

const NETWORKS_FORM = defineForm<{ allowed_networks: string }>()({
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
  theme: Theme;
  /** Reason why the requested backup was not written. */
  backupProblem?: string | undefined;
}

/** Settings → General: settings of the whole installation, and facts about it. */
function General(props: GeneralProps) {
  const { address, networks, settings, facts, theme, backupProblem } = props;
  const { config } = settings;
  return (
    <>
      <PageHead title="General" crumbs={crumbsAbove(GENERAL_PATH)} />
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
            <BackupCard facts={facts} config={config} />
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

/** Version of the program and of its database, and the time of the server. */
function VersionCard({ facts }: { facts: InstallationFacts }) {
  const { now, startedAt, schemaVersion } = facts;
  return (
    <DetailCard title={`Allclear ${VERSION}`} liveId="general-version" isFlush>
      <Facts
        items={[
          { label: "Since", value: <DateTime at={startedAt} /> },
          { label: "Running for", value: span(now - startedAt) },
          { label: "Database", value: `Schema version ${schemaVersion}` },
          { label: "Server time", value: <DateTime at={now} /> },
        ]}
      />
      <p class="detail-foot">
        <a href="/docs/licences">Licences</a>
      </p>
    </DetailCard>
  );
}

/** Used shares of a disk above which the card warns. */
const GETTING_FULL = 0.85;
const ALMOST_FULL = 0.95;

/** Size of the database, and space of its file system. */
function DiskCard({ facts }: { facts: InstallationFacts }) {
  const { databaseBytes, logBytes, disk } = facts;
  const log = logBytes === 0 ? "" : `, and its log ${formatBytes(logBytes)}`;
  const sizes = `The database file takes ${formatBytes(databaseBytes)}${log}.`;
  if (!disk) {
    return (
      <DetailCard title="Disk" liveId="general-disk">
        <p class="detail-note">{sizes} The free space cannot be read.</p>
      </DetailCard>
    );
  }
  const { freeBytes, totalBytes } = disk;
  const { used, tone } = diskUse(disk);
  return (
    <DetailCard
      title="Disk"
      liveId="general-disk"
      end={
        <span class="muted">
          {formatBytes(freeBytes)} of {formatBytes(totalBytes)} free
        </span>
      }
    >
      <svg
        class={tone === "ok" ? "meter" : `meter t-${tone}`}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${percent(used, 0)} of the disk used`}
      >
        <rect width={Math.max(1, Math.round(used * 100))} height="6" />
      </svg>
      {tone === "ok" ? null : (
        <p class="disk-state">
          <State tone={tone}>{tone === "major" ? "Almost full" : "Getting full"}</State>
        </p>
      )}
      <p class="detail-note">{sizes}</p>
      {tone === "ok" ? null : (
        <p class="detail-note">Without free space, no change and no result can be stored.</p>
      )}
    </DetailCard>
  );
}

/** Returns the used share of a file system, and its tone. One whose space cannot be read counts as empty. */
export function diskUse(disk: DiskSpace | undefined): { used: number; tone: Tone } {
  const used = disk && disk.totalBytes > 0 ? 1 - disk.freeBytes / disk.totalBytes : 0;
  return { used, tone: used > ALMOST_FULL ? "major" : used > GETTING_FULL ? "degraded" : "ok" };
}

/** Scheduled backups that the card lists. */
const SCHEDULED_SHOWN = 5;

interface BackupCardProps {
  facts: InstallationFacts;
  config: Ctx["config"];
}

/** Last backups, the schedule, and the button that downloads a new one. */
function BackupCard({ facts, config }: BackupCardProps) {
  const { lastBackup, scheduledBackups, now } = facts;
  const rows = [...(lastBackup ? [lastBackup] : []), ...scheduledBackups.slice(0, SCHEDULED_SHOWN)];
  const zone = useZone();
  return (
    <DetailCard title="Backups" liveId="general-backups" isStill isFlush>
      <div id="general-last-backup" data-live="">
        {rows.length > 0 ? (
          <ul class="detail-rows">
            {rows
              .toSorted((a, b) => b.at - a.at)
              .map((row) => (
                <DetailRow
                  key={row.at}
                  shape={<Icon name="archive" />}
                  title={dateTimeAt(row.at, zone)}
                  note={
                    <>
                      {"by" in row ? (
                        `${formatBytes(row.bytes)} · ${row.by}`
                      ) : (
                        <ScheduledNote backup={row} />
                      )}{" "}
                      · <RelativeTime at={toIso(row.at)} now={now} />
                    </>
                  }
                />
              ))}
          </ul>
        ) : (
          <p class="detail-body detail-note">
            The last backup from the dashboard or the command line appears here.
          </p>
        )}
      </div>
      <p class="detail-foot hint">
        {config.backupTo ? (
          <>
            Daily at {timeOfDay(config.backupAt)} UTC to{" "}
            <code>{describeStore(config.backupTo)}</code>,{" "}
            {config.backupAgeRecipient.length > 0 ? "encrypted" : "not encrypted"}.
          </>
        ) : (
          <>
            <code>--backup-to</code> writes one every day into a folder or a bucket.
          </>
        )}
      </p>
      <form class="detail-foot" method="post" action={safeHref(BACKUP_PATH)}>
        <Button>
          <Icon name="download" />
          Back up now
        </Button>
        <p class="hint">
          Downloads one file with all data, password hashes, webhook secrets and the password of the
          mail relay.
        </p>
      </form>
    </DetailCard>
  );
}

/** Size and place of a scheduled backup, or the reason why it failed. */
function ScheduledNote({ backup }: { backup: ScheduledBackup }) {
  const { bytes, place, error, warning } = backup;
  if (error !== undefined) {
    return (
      <>
        <State tone="major">Failed</State> {error}
      </>
    );
  }
  return (
    <>
      {bytes === undefined ? "Not complete" : formatBytes(bytes)} · <code>{place}</code>
      {warning === undefined ? null : (
        <>
          {" "}
          · <State tone="degraded">{warning}</State>
        </>
      )}
    </>
  );
}

interface LimitsProps {
  facts: InstallationFacts;
  publicRateLimit: number;
}

/** Limits of this server, and counts without a limit. */
function LimitsCard({ facts, publicRateLimit }: LimitsProps) {
  const { monitors, components } = facts;
  const kib = (bytes: number) => `${bytes / 1_024} KiB`;
  const number = (value: number) => value.toLocaleString("en");
  return (
    <DetailCard title="Limits" liveId="general-limits" isFlush>
      <Facts
        items={[
          { label: "Monitors", value: `${number(monitors)}, no limit` },
          { label: "Components", value: `${number(components)}, no limit` },
          { label: "Updates", value: `${UPDATES_MAX} per incident or maintenance` },
          { label: "Custom domains", value: `${DOMAINS_MAX} per page` },
          {
            label: "API with a key",
            value: `${number(DEFAULT_RATE_LIMIT)} requests a minute by default`,
          },
          { label: "API without a key", value: `${number(publicRateLimit)} requests a minute` },
          { label: "Request body", value: kib(BODY_MAX_BYTES) },
          { label: "Logo", value: kib(LOGO_MAX_BYTES) },
        ]}
      />
    </DetailCard>
  );
}

/** Theme of the dashboard in this browser. */
function ThemeCard({ theme }: { theme: Theme }) {
  return (
    <DetailCard title="Theme" liveId="general-theme" isStill>
      <ThemeForm theme={theme} back="general" />
    </DetailCard>
  );
}

/** Returns a duration in ms as text: "3 days 6 h". */
function span(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days === 0) return duration(Math.floor(ms / MINUTE_MS));
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return hours === 0 ? plural(days, "day") : `${plural(days, "day")} ${hours} h`;
}

/** Facts about the installation and its server. Times are in unix ms, sizes in bytes. */
interface InstallationFacts {
  now: number;
  startedAt: number;
  schemaVersion: number;
  databaseBytes: number;
  /** Size of the write-ahead log. */
  logBytes: number;
  /** Undefined if it cannot be read. */
  disk: DiskSpace | undefined;
  lastBackup: LastBackup | undefined;
  /** Newest first. */
  scheduledBackups: readonly ScheduledBackup[];
  monitors: number;
  components: number;
}

async function readFacts({ clock, db, startedAt }: Ctx): Promise<InstallationFacts> {
  const disk = await db.disk();
  const { sizeBytes, walBytes } = db.figures();
  return {
    now: clock.now(),
    startedAt,
    schemaVersion: SCHEMA_VERSION,
    databaseBytes: sizeBytes,
    logBytes: walBytes,
    disk,
    lastBackup: readLastBackup(db),
    scheduledBackups: readScheduledBackups(db),
    monitors: sum(countMonitorsByState(db, {}).map(({ monitors }) => monitors)),
    components: sum(countStatuses(db, {}).map(({ count }) => count)),
  };
}
