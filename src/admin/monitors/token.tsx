import type { MonitorRecord } from "../../features/monitors";
import { Actions, ButtonLink, Card, CodeBlock, Notice, PageHead, Secret } from "../../ui";
import { MONITORS_PATH, monitorPath } from "../paths";
import { cronTimes } from "./cron";
import { timeInWords } from "./words";

/** Screen that shows the heartbeat URL of a job once, with instructions. */
export function RevealedToken(props: {
  title: string;
  record: MonitorRecord;
  token: string;
  baseUrl: string;
}) {
  const { title, record, token, baseUrl } = props;
  const { id, name, intervalSeconds } = record.row;
  const url = `${baseUrl}/api/v1/heartbeats/${token}`;
  const curl = `curl -fsS -m 10 --retry 3 -o /dev/null ${url}`;
  const times = cronTimes(intervalSeconds);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: MONITORS_PATH, label: "Monitors" },
          { href: monitorPath(id), label: name },
        ]}
      />
      <Notice tone="warning" title="You will see this only once">
        Copy it before you leave this page. Allclear keeps only a hash; if you lose it, rotate the
        token.
      </Notice>
      <Card title={name}>
        <Secret text={url} copyLabel="Copy address" />
        <p class="muted">
          The job calls this address by GET or POST, every {timeInWords(intervalSeconds * 1_000)}.
          Anyone who has the address can report that the job has run.
        </p>
      </Card>
      <Card title="At the end of a script">
        <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        <p class="muted">
          With <code>?status=down&amp;msg=…</code> the job reports a failure.
        </p>
      </Card>
      {times === undefined ? null : (
        <Card title="A line for cron">
          <CodeBlock text={`${times} ${curl}`} copyLabel="Copy line" isSecret />
          <p class="muted">
            This line reports that the machine is up. To report that a job succeeded, write the job
            and <code>&amp;&amp;</code> before <code>curl</code>.
          </p>
        </Card>
      )}
      <Actions>
        <ButtonLink href={monitorPath(id)} kind="primary">
          Open the monitor
        </ButtonLink>
      </Actions>
    </>
  );
}

/** Response to a repeated form after a minute, when the token is no longer available. */
export function ShownBefore({ title, monitorId }: { title: string; monitorId: string }) {
  return (
    <>
      <PageHead title={title} crumbs={[{ href: MONITORS_PATH, label: "Monitors" }]} />
      <p>
        You already sent this form. The address was shown then and cannot be shown again. Nothing
        changed this time.
      </p>
      <p>If you did not copy the address, rotate the token to get a new one.</p>
      <Actions>
        <ButtonLink href={monitorPath(monitorId)} kind="primary">
          Open the monitor
        </ButtonLink>
        <ButtonLink href={MONITORS_PATH}>Monitors</ButtonLink>
      </Actions>
    </>
  );
}
