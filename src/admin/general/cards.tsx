import type { Tone } from "../../base/status";
import { DEFAULT_RATE_LIMIT } from "../../features/keys/model";
import { DOMAINS_MAX } from "../../features/pages/address";
import { LOGO_MAX_BYTES } from "../../features/pages/logo";
import { UPDATES_MAX } from "../../features/timeline/updates";
import { BODY_MAX_BYTES } from "../../http/declared-body";
import type { Theme } from "../../http/cookies";
import { formatBytes, percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../base/time";
import { Button, safeHref } from "../../ui/buttons";
import { DetailCard, DetailRow } from "../../ui/detail";
import { duration, RelativeTime, shortDay } from "../../ui/times";
import { Facts, State } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { VERSION } from "../../version";
import type { MailReadiness } from "../../features/mail/settings";
import { ThemeForm } from "../account/theme";
import { ReadinessState } from "../mail/cards";
import { BACKUP_PATH, MAIL_PATH } from "../../ui/frame/paths";
import type { InstallationFacts } from "./facts";

/** Version of the program and of its database, and the time of the server. */
export function VersionCard({ facts }: { facts: InstallationFacts }) {
  const { now, startedAt, schemaVersion } = facts;
  return (
    <DetailCard title={`Allclear ${VERSION}`} liveId="general-version" isFlush>
      <Facts
        items={[
          { label: "Since", value: timeOf(startedAt) },
          { label: "Running for", value: span(now - startedAt) },
          { label: "Database", value: `Schema version ${schemaVersion}` },
          { label: "Server time", value: timeOf(now) },
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
export function DiskCard({ facts }: { facts: InstallationFacts }) {
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
  const used = totalBytes === 0 ? 0 : 1 - freeBytes / totalBytes;
  const tone = toneOf(used);
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

function toneOf(used: number): Tone {
  return used > ALMOST_FULL ? "major" : used > GETTING_FULL ? "degraded" : "ok";
}

/** Last backup, and the button that downloads a new one. */
export function BackupCard({ facts }: { facts: InstallationFacts }) {
  const { lastBackup, now } = facts;
  return (
    <DetailCard title="Backups" liveId="general-backups" isStill isFlush>
      <div id="general-last-backup" data-live="">
        {lastBackup ? (
          <ul class="detail-rows">
            <DetailRow
              shape={<Icon name="archive" />}
              title={timeOf(lastBackup.at)}
              note={
                <>
                  {formatBytes(lastBackup.bytes)} · {lastBackup.by} ·{" "}
                  <RelativeTime at={toIso(lastBackup.at)} now={now} />
                </>
              }
            />
          </ul>
        ) : (
          <p class="detail-body detail-note">
            The last backup from the dashboard or the command line appears here.
          </p>
        )}
      </div>
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

/** State of mail, with the link to its settings. */
export function MailCard({ readiness }: { readiness: MailReadiness }) {
  return (
    <DetailCard
      title="Mail"
      liveId="general-mail"
      end={<a href={safeHref(MAIL_PATH)}>Mail settings</a>}
    >
      <ReadinessState readiness={readiness} />
    </DetailCard>
  );
}

interface LimitsProps {
  facts: InstallationFacts;
  publicRateLimit: number;
}

/** Limits of this server, and counts without a limit. */
export function LimitsCard({ facts, publicRateLimit }: LimitsProps) {
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
export function ThemeCard({ theme }: { theme: Theme }) {
  return (
    <DetailCard title="Theme" liveId="general-theme" isStill>
      <ThemeForm theme={theme} back="general" />
    </DetailCard>
  );
}

/** Returns a time in unix ms as text: "22 Nov 2026, 08:11 UTC". */
function timeOf(at: number): string {
  const iso = toIso(at);
  return `${shortDay(iso)}, ${iso.slice(11, 16)} UTC`;
}

/** Returns a duration in ms as text: "3 days 6 h". */
function span(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  if (days === 0) return duration(Math.floor(ms / MINUTE_MS));
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return hours === 0 ? plural(days, "day") : `${plural(days, "day")} ${hours} h`;
}
