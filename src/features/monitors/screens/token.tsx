import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import { Card, CodeBlock, Notice, Secret } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { Actions } from "../../../ui/form";
import { monitorPath, MONITORS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import type { Reveal } from "../../../ui/frame/changes";
import { PageHead } from "../../../ui/navigation";
import { shownBefore } from "../../../ui/screens/form-screen";
import type { NewMonitor } from "../monitors";
import { scheduleOf } from "../probes/push";
import { AlertAddresses } from "./alerts";
import { JobCommands } from "./job";
import { intervalInWords } from "./words";

/**
 * Returns a screen with the token of a push monitor, or one that says it was already shown. `notified` names those who are
 * notified about a new one, in a sentence.
 */
export function showToken(
  { baseUrl }: Ctx,
  reveal: Reveal<NewMonitor>,
  title: string,
  notified?: string,
): Screen {
  if ("shownBefore" in reveal) {
    return shownBefore({
      secret: "address",
      ifLost: "rotate the token to get a new one",
      object: { href: monitorPath(reveal.shownBefore), label: "Open monitor" },
      list: MONITORS_PATH,
    });
  }
  const { record, token = "" } = reveal.revealed;
  const page = { title, record, token, baseUrl, notified };
  return { title, isSecret: true, children: <RevealedToken {...page} /> };
}

/** Screen that shows the heartbeat URL of a job once, with instructions. */
function RevealedToken(props: {
  title: string;
  record: NewMonitor["record"];
  token: string;
  baseUrl: string;
  notified: string | undefined;
}) {
  const { title, record, token, baseUrl, notified } = props;
  const { row } = record;
  const { id, name } = row;
  const url = `${baseUrl}/api/v1/heartbeats/${token}`;
  const curl = `curl -fsS -m 10 --retry 3 -o /dev/null ${url}`;
  const schedule = scheduleOf(row.config);
  const times = row.type === "alert" ? undefined : crontabTimes(row);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: MONITORS_PATH, label: "Monitors" },
          { href: monitorPath(id), label: name },
        ]}
      />
      <Notice tone="degraded" title="This address is shown only once">
        Copy the address before you leave this page, since Allclear stores only a hash of its token.
        If you lose the address, rotate the token.
      </Notice>
      <Card title={name}>
        <Secret text={url} copyLabel="Copy address" />
        <p class="muted">
          {row.type === "alert"
            ? "A sender that can set no header reports alerts to this address by POST. Anyone who has the address can report alerts to this monitor."
            : `The job calls this address by GET or POST, ${intervalInWords(row)}. Anyone who has the address can report that the job has run.`}
        </p>
        {notified === undefined ? null : <p class="muted">{notified}</p>}
      </Card>
      {row.type === "alert" ? (
        <AlertAddresses baseUrl={baseUrl} />
      ) : (
        <Card title="Commands for a script">
          <JobCommands url={url} isSecret />
          <p class="muted">
            With <code>?msg=…</code> the job adds a message.
          </p>
        </Card>
      )}
      {times === undefined ? null : (
        <Card title="Crontab line">
          <CodeBlock text={`${times} ${curl}`} copyLabel="Copy line" isSecret />
          <p class="muted">
            This line reports that the machine is up. To report that a job succeeded, write the job
            and <code>&amp;&amp;</code> before <code>curl</code>.
            {schedule
              ? ` Cron uses the time zone of its machine, this schedule ${schedule.time_zone}.`
              : ""}
          </p>
        </Card>
      )}
      <Actions>
        <ButtonLink href={monitorPath(id)}>I have stored it</ButtonLink>
      </Actions>
    </>
  );
}

/** Characters of a schedule that cron does not know: `#`, `?`, and `L` and `W` outside names. */
const BEYOND_CRON = /[#?]|(?<![a-z])(?:l|w|lw)(?![a-z])/i;

/** Returns the times of the crontab line of a job; undefined if cron cannot express them. */
function crontabTimes({
  intervalSeconds,
  config,
}: NewMonitor["record"]["row"]): string | undefined {
  if (intervalSeconds !== null) return cronTimes(intervalSeconds);
  const { schedule = "#" } = scheduleOf(config) ?? {};
  return BEYOND_CRON.test(schedule) ? undefined : schedule;
}

const HOUR_MINUTES = HOUR_MS / MINUTE_MS;
const DAY_HOURS = DAY_MS / HOUR_MS;

/**
 * Returns the cron schedule for an interval, rounded to the next shorter one that cron can express.
 * Undefined for less than a minute, which is cron's shortest interval.
 */
export function cronTimes(intervalSeconds: number): string | undefined {
  const minutes = Math.floor((intervalSeconds * SECOND_MS) / MINUTE_MS);
  if (minutes < 1) return undefined;
  if (minutes < HOUR_MINUTES) return `${everyOf(minutes, HOUR_MINUTES)} * * * *`;
  const hours = Math.floor(minutes / HOUR_MINUTES);
  return hours < DAY_HOURS ? `0 ${everyOf(hours, DAY_HOURS)} * * *` : "0 0 * * *";
}

/** Returns a cron step of at most `most` that divides `whole`, so that all intervals are equal. */
function everyOf(most: number, whole: number): string {
  let step = most;
  while (whole % step !== 0) step -= 1;
  return step === 1 ? "*" : `*/${step}`;
}
