import type { ComponentChildren } from "preact";
import { type ImportReport, PRODUCTS } from "../../base/import-report";
import { hasWork, verdictsInWords } from "../../features/imports/words";
import type { ImportJob } from "../../features/imports/jobs";
import { capitalised, plural } from "../../base/text";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { DialogForm } from "../../ui/form";
import { HeadFact, HeadFacts } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { Notice } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { shortDay } from "../../ui/times";
import { importReportPath, IMPORTS_PATH } from "../../ui/frame/paths";
import { importFormPath, importPlanPath } from "./import-paths";
import { Items } from "./items";
import type { ItemListing } from "./listing";
import { JobFacts } from "./progress";
import { HistoryCard, Instructions } from "./report-cards";

interface ReportProps {
  report: ImportReport;
  list: ItemListing;
  links: ReadonlyMap<string, string>;
  now: number;
}

/** Plan that waits for confirmation, or the result of an import that changed nothing. */
export function PlanScreen({ job, ...props }: ReportProps & { job: ImportJob }) {
  const { report, now } = props;
  const isPlan = job.state === "planned";
  const canImport = isPlan && hasWork(report);
  return (
    <>
      <PageHead
        title={`${isPlan ? "Plan of the import" : "Import"} from ${job.source.product}`}
        crumbs={[{ href: IMPORTS_PATH, label: "Import" }]}
        actions={
          <>
            {canImport ? (
              <PostButton action={importPlanPath(job.id)} kind="primary">
                Import
              </PostButton>
            ) : null}
            <PostButton action={`${importPlanPath(job.id)}/discard`}>
              {canImport ? "Discard plan" : "Close"}
            </PostButton>
            <ButtonLink href={importFormPath(job.source.kind, job.id)}>Change options</ButtonLink>
          </>
        }
      />
      <JobFacts job={job} now={now} />
      {canImport ? (
        <Notice tone="maint" title="Nothing was changed yet">
          The plan: {verdictsInWords(report.counts)}. The import writes all of it or nothing, and
          notifies nobody.
        </Notice>
      ) : (
        <Notice tone="none" title="Nothing to change">
          {capitalised(verdictsInWords(report.counts))}. An import would change nothing here.
        </Notice>
      )}
      <Content {...props} />
    </>
  );
}

/** Report of an import. */
export function ReportScreen(props: ReportProps & { pausedCount: number }) {
  const { report, pausedCount } = props;
  const { source, finished_at: finishedAt } = report;
  const path = importReportPath(report.id ?? "");
  return (
    <>
      <PageHead
        title={`Import from ${PRODUCTS[source.kind]}`}
        crumbs={[{ href: IMPORTS_PATH, label: "Import" }]}
        actions={
          <>
            {pausedCount === 0 ? null : (
              <ButtonLink href={`${path}/start`} kind="primary" dialog>
                <Icon name="play" />
                Start {plural(pausedCount, "object")}
              </ButtonLink>
            )}
            <ButtonLink href={`${path}/json`}>
              <Icon name="download" />
              Download JSON
            </ButtonLink>
          </>
        }
      />
      <HeadFacts>
        <HeadFact icon="tag">{source.name}</HeadFact>
        <HeadFact icon="clock">
          {`${shortDay(finishedAt)}, ${finishedAt.slice(11, 16)} UTC`}
        </HeadFact>
        <HeadFact icon="check">{capitalised(verdictsInWords(report.counts))}</HeadFact>
      </HeadFacts>
      <Content {...props} />
    </>
  );
}

function Content({ report, list, links }: ReportProps) {
  return (
    <>
      <Instructions report={report} />
      {report.history ? <HistoryCard history={report.history} isPlan={report.dry_run} /> : null}
      <Items list={list} links={links} />
    </>
  );
}

/** Confirmation before the imported objects of an import are started. */
export function StartScreen({ id, count }: { id: string; count: number }) {
  const path = importReportPath(id);
  return (
    <DialogForm
      title={count === 0 ? "Nothing left to start" : "Start what was imported"}
      action={`${path}/start`}
      button="Start"
      cancelHref={path}
    >
      <p>
        {count === 0
          ? "Everything of this import was started or edited already."
          : `Starts ${plural(count, "object")} of this import. Those that were edited since stay as they are.`}
      </p>
    </DialogForm>
  );
}

/** Replacement of a plan that is no longer kept. */
export function NoPlan({ children }: { children?: ComponentChildren }) {
  return (
    <>
      <PageHead title="Plan" crumbs={[{ href: IMPORTS_PATH, label: "Import" }]} />
      <Notice tone="none" title="This plan is no longer kept">
        It was imported, discarded or replaced by a newer one, is older than 24 hours, or was lost
        by a restart of the server. If it was imported, its report is among the earlier imports.{" "}
        <a href={IMPORTS_PATH}>Show imports</a>
      </Notice>
      {children}
    </>
  );
}
