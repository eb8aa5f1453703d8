import type { ComponentChildren } from "preact";
import type { BadLine } from "../../features/subscribers/import-file";
import { IMPORT_RESULTS, type ImportCounts, RESULT_WORDS } from "../../features/subscribers/import";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { Cell, Row, Table } from "../../ui/list";
import { DetailCard } from "../../ui/detail";
import { Notice } from "../../ui/blocks";
import { PageHead, Tabs } from "../../ui/navigation";
import type { StateOf } from "../../ui/forms/form";
import { activityPath } from "../../features/activity/screens/activity";
import { FormFields } from "../../ui/forms/fields";
import { SUBSCRIBERS_PATH } from "../../ui/frame/paths";
import { ERASE_FORM, EXPORT_FORM, IMPORT_FORM } from "./transfer-forms";
import { ERASE_PATH, EXPORT_PATH, IMPORT_PATH } from "./subscriber-paths";

const TABS = [
  { href: IMPORT_PATH, label: "Import" },
  { href: EXPORT_PATH, label: "Export" },
  { href: ERASE_PATH, label: "Erase" },
];

/** Result of a file that was checked or imported. */
export interface ImportOutcome {
  isDryRun: boolean;
  /** Undefined while it goes on. */
  counts: ImportCounts | undefined;
  /** The first bad lines, and the number of all. */
  badLines: readonly BadLine[];
  badCount: number;
}

export function ImportScreen(props: {
  state: StateOf<typeof IMPORT_FORM>;
  outcome?: ImportOutcome | undefined;
}) {
  const { state, outcome } = props;
  return (
    <Frame current={IMPORT_PATH}>
      {outcome ? <Outcome outcome={outcome} /> : null}
      <Form
        action={IMPORT_PATH}
        hidden={state.hidden}
        sendsFiles
        enter={{ name: "intent", value: "check" }}
      >
        <FormFields form={IMPORT_FORM} state={state} />
        <p class="hint">
          Suppressed addresses are skipped. People who unsubscribed are subscribed again only by the
          button in a mail. For larger files run <code>allclear subscriber import</code>.
        </p>
        <Actions>
          <Button kind="primary" name="intent" value="import">
            Import
          </Button>
          <Button name="intent" value="check">
            Only check the file
          </Button>
        </Actions>
      </Form>
    </Frame>
  );
}

export function ExportScreen({ state }: { state: StateOf<typeof EXPORT_FORM> }) {
  return (
    <Frame current={EXPORT_PATH}>
      <Form action={EXPORT_PATH} hidden={state.hidden}>
        <FormFields form={EXPORT_FORM} state={state} />
        <p class="hint">
          The file has whole addresses: keep it as you keep a backup. The download is recorded in
          the activity.
        </p>
        <Actions>
          <Button kind="primary">Download CSV</Button>
        </Actions>
      </Form>
    </Frame>
  );
}

export function EraseScreen({ state }: { state: StateOf<typeof ERASE_FORM> }) {
  return (
    <Frame current={ERASE_PATH}>
      <Form action={ERASE_PATH} hidden={state.hidden}>
        <FormFields form={ERASE_FORM} state={state} />
        <p class="hint">
          Deletes the address from every page at once: subscriptions, sign-ups, mails and replies.
          It cannot be undone. Counts stay, and so do suppressions, which are kept without the
          address.
        </p>
        <Actions>
          <Button kind="danger">Erase address</Button>
        </Actions>
      </Form>
    </Frame>
  );
}

function Frame({ current, children }: { current: string; children: ComponentChildren }) {
  return (
    <>
      <PageHead
        title="Import and export"
        crumbs={[{ href: SUBSCRIBERS_PATH, label: "Subscribers" }]}
      />
      <Tabs
        label="Import, export and erase"
        items={TABS.map(({ href, label }) => ({ href, label, isCurrent: href === current }))}
      />
      {children}
    </>
  );
}

function Outcome({ outcome }: { outcome: ImportOutcome }) {
  const { isDryRun, counts, badLines, badCount } = outcome;
  const left = badCount - badLines.length;
  return (
    <>
      <div role="status">
        {counts ? <Result outcome={{ ...outcome, counts }} /> : <Unfinished isDryRun={isDryRun} />}
      </div>
      {badCount === 0 ? null : (
        <DetailCard title="Lines that are skipped" liveId="bad-lines" isStill isTable>
          <Table
            caption="Lines that are skipped"
            isInCard
            columns={[{ label: "Line", isNumeric: true }, { label: "Reason" }]}
          >
            {badLines.map(({ line, detail }) => (
              <Row key={line}>
                <Cell label="Line" isNumeric>
                  {line.toLocaleString("en")}
                </Cell>
                <Cell label="Reason">{detail}</Cell>
              </Row>
            ))}
          </Table>
          {left > 0 ? (
            <p class="detail-foot hint">
              And {left.toLocaleString("en")} more, which the command lists.
            </p>
          ) : null}
        </DetailCard>
      )}
    </>
  );
}

function Result({ outcome }: { outcome: ImportOutcome & { counts: ImportCounts } }) {
  const { isDryRun, counts, badCount } = outcome;
  const total = IMPORT_RESULTS.reduce((sum, result) => sum + counts[result], 0);
  return (
    <Notice
      tone={badCount > 0 ? "degraded" : "ok"}
      title={isDryRun ? "The file was checked, nothing was changed" : "The file was imported"}
    >
      {isDryRun ? "An import would give: " : ""}
      {describeCounts(counts, badCount)}
      {isDryRun && total > 0 ? " To import it, select it again." : ""}
    </Notice>
  );
}

function Unfinished({ isDryRun }: { isDryRun: boolean }) {
  return isDryRun ? (
    <Notice tone="degraded" title="Checking the file takes too long here">
      Run <code>allclear subscriber import --dry-run</code>.
    </Notice>
  ) : (
    <Notice tone="maint" title="The import goes on">
      Its entry in the <a href={activityPath({ action: "subscriber.import" })}>activity</a> says how
      far it has come. If it breaks off, import the file again: those who are subscribed already are
      skipped.
    </Notice>
  );
}

/** Returns the counts of an import as a sentence. */
export function describeCounts(counts: ImportCounts, badCount: number): string {
  const parts = IMPORT_RESULTS.flatMap((result) =>
    counts[result] > 0 ? `${counts[result].toLocaleString("en")} ${RESULT_WORDS[result]}` : [],
  );
  if (badCount > 0) parts.push(`${badCount.toLocaleString("en")} not valid`);
  return parts.length > 0 ? `${parts.join(", ")}.` : "No addresses.";
}
