import type { ImportJob } from "../../features/imports/jobs";
import { capitalised } from "../../base/text";
import { toIso } from "../../base/time";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { HeadFact, HeadFacts } from "../../ui/detail";
import { Notice } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { importReportPath, IMPORTS_PATH } from "../../ui/frame/paths";
import { importFormPath, importPlanPath } from "./import-paths";

/** Returns the name of the source of an import: "Healthchecks (default)". */
function sourceOf({ source, options }: ImportJob): string {
  return `${source.product} (${options.source})`;
}

/** Notice about the current import, with the link to it. Nothing for one that has ended well. */
export function JobNotice({ job }: { job: ImportJob }) {
  const { state, by, id } = job;
  if (state === "done") return null;
  const link = <a href={importPlanPath(id)}>{LINKS[state]}</a>;
  return (
    <Notice
      tone={state === "failed" ? "partial" : "maint"}
      title={`${TITLES[state]} ${sourceOf(job)}`}
    >
      {state === "failed" ? job.failure?.message : `By ${by}.`} {link}
    </Notice>
  );
}

const TITLES = {
  planning: "Planning an import from",
  planned: "A plan waits for confirmation: import from",
  importing: "Importing from",
  failed: "An import failed:",
} as const;

const LINKS = {
  planning: "Show progress",
  planned: "Show plan",
  importing: "Show progress",
  failed: "Show details",
} as const;

/** Screen of an import that is running. It may be left. */
export function ProgressScreen({ job, now }: { job: ImportJob; now: number }) {
  const isPlanning = job.state === "planning";
  return (
    <>
      <PageHead
        title={`${isPlanning ? "Planning the import from" : "Importing from"} ${job.source.product}`}
        crumbs={[{ href: IMPORTS_PATH, label: "Import" }]}
      />
      <JobFacts job={job} now={now} />
      <div id="import-progress" data-live="">
        <Ended job={job} />
        {job.state === "planning" || job.state === "importing" ? (
          <div role="status">
            <Notice
              tone="maint"
              title={isPlanning ? "The source is being read" : "The import is being written"}
            >
              <p>
                {job.progress
                  ? capitalised(job.progress)
                  : "This takes seconds, for a long history minutes."}
              </p>
              <p>
                You may leave this page: the import goes on, and Settings → Import leads back here.{" "}
                <a href={importPlanPath(job.id)}>Reload</a>
              </p>
              {isPlanning ? (
                <PostButton action={`${importPlanPath(job.id)}/discard`}>Cancel import</PostButton>
              ) : null}
            </Notice>
          </div>
        ) : null}
      </div>
    </>
  );
}

/** Result of an import that has ended while its progress was shown. */
function Ended({ job }: { job: ImportJob }) {
  const { state, id, report } = job;
  if (state === "planned") {
    return (
      <Notice tone="ok" title="The plan is ready">
        <a href={importPlanPath(id)}>Show plan</a>
      </Notice>
    );
  }
  if (state === "failed") return <FailureNotice job={job} />;
  if (state !== "done") return null;
  return (
    <Notice tone="ok" title="The import has ended">
      <a href={report?.id ? importReportPath(report.id) : importPlanPath(id)}>Show report</a>
    </Notice>
  );
}

/** Screen of an import that failed. */
export function FailedScreen({ job, now }: { job: ImportJob; now: number }) {
  return (
    <>
      <PageHead
        title={`Import from ${job.source.product}`}
        crumbs={[{ href: IMPORTS_PATH, label: "Import" }]}
        actions={
          <ButtonLink href={importFormPath(job.source.kind, job.id)} kind="primary">
            Try again
          </ButtonLink>
        }
      />
      <JobFacts job={job} now={now} />
      <FailureNotice job={job} />
    </>
  );
}

function FailureNotice({ job: { failure } }: { job: ImportJob }) {
  return (
    <div role="alert">
      <Notice tone="major" title="The import failed">
        <p>{failure?.message}</p>
        {failure && failure.fields.length > 0 ? (
          <ul class="plain-list">
            {failure.fields.map(({ pointer, detail }) => (
              <li key={pointer}>
                {pointer.slice(2)} {detail}
              </li>
            ))}
          </ul>
        ) : null}
      </Notice>
    </div>
  );
}

/** Line with the source, the file and the author of an import. */
export function JobFacts({ job, now }: { job: ImportJob; now: number }) {
  const { place, options, by, startedAt } = job;
  return (
    <HeadFacts>
      <HeadFact icon="archive">{place}</HeadFact>
      <HeadFact icon="tag">{options.source}</HeadFact>
      <HeadFact icon="users">{by}</HeadFact>
      <HeadFact icon="clock">
        <RelativeTime at={toIso(startedAt)} now={now} />
      </HeadFact>
    </HeadFacts>
  );
}
