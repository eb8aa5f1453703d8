import type { MonitorRecord } from "../../features/monitors";
import { Actions, ButtonLink, Card, CodeBlock, Notice, PageHead, Secret } from "../../ui";
import { MONITORS_PATH, monitorPath } from "../paths";
import { cronTimes } from "./cron";
import { timeInWords } from "./words";

/** The one showing of where a job calls, with what to do with it now. */
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
          The job calls it by GET or POST, every {timeInWords(intervalSeconds * 1_000)}. Whoever has
          this address can say that the job has run.
        </p>
      </Card>
      <Card title="At the end of a script">
        <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        <p class="muted">
          With <code>?status=down&amp;msg=…</code> the job says itself that it failed.
        </p>
      </Card>
      {times === undefined ? null : (
        <Card title="A line for cron">
          <CodeBlock text={`${times} ${curl}`} copyLabel="Copy line" isSecret />
          <p class="muted">
            As it stands it tells that the machine is up. To tell that a job went well, write the
            job and <code>&amp;&amp;</code> before <code>curl</code>.
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

/** The same form once more, after its minute: the token is forgotten. */
export function ShownBefore({ title, monitorId }: { title: string; monitorId: string }) {
  return (
    <>
      <PageHead title={title} crumbs={[{ href: MONITORS_PATH, label: "Monitors" }]} />
      <p>
        You already sent this form. The address was shown then and cannot be shown again. Nothing
        changed this time.
      </p>
      <p>If it was not copied, rotate the token: the monitor gets a new address.</p>
      <Actions>
        <ButtonLink href={monitorPath(monitorId)} kind="primary">
          Open the monitor
        </ButtonLink>
        <ButtonLink href={MONITORS_PATH}>Monitors</ButtonLink>
      </Actions>
    </>
  );
}
