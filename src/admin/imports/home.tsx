import { type ImportReport, PRODUCTS } from "../../base/import-report";
import { IMPORT_SOURCES } from "../../base/import-sources";
import type { ImportJob } from "../../features/imports/jobs";
import type { listImports } from "../../features/imports/store";
import { verdictsInWords } from "../../features/imports/words";
import { capitalised } from "../../base/text";
import { toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { Cell, CellNote, Row, RowLink, Table } from "../../ui/list";
import { DetailCard, DetailRow } from "../../ui/detail";
import { EmptyState } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { importReportPath } from "../../ui/frame/paths";
import { importFormPath } from "./import-paths";
import { JobNotice } from "./progress";

interface ImportHomeProps {
  job: ImportJob | undefined;
  imports: ReturnType<typeof listImports>;
  /** Unix ms. */
  now: number;
}

/** Settings → Import: the sources, the current import, and earlier ones. */
export function ImportHome({ job, imports, now }: ImportHomeProps) {
  return (
    <>
      <PageHead title="Import">
        Monitors, pages and webhooks from another product. Jobs and clients keep their addresses.
      </PageHead>
      <div id="import-job" data-live="">
        {job ? <JobNotice job={job} /> : null}
      </div>
      <DetailCard title="Sources" liveId="import-sources" isStill isFlush>
        <ul class="detail-rows">
          {IMPORT_SOURCES.map(({ kind, product, content }) => (
            <DetailRow
              key={kind}
              shape={<Icon name="download" />}
              title={product}
              note={`From ${content}.`}
              end={
                <ButtonLink href={importFormPath(kind)}>
                  Import<span class="visually-hidden"> from {product}</span>
                </ButtonLink>
              }
            />
          ))}
        </ul>
      </DetailCard>
      {imports.length === 0 ? (
        <EmptyState title="No imports yet">
          Each import appears here with its report, which is kept. The command{" "}
          <code>allclear import</code> does the same without a browser.
        </EmptyState>
      ) : (
        <DetailCard title="Earlier imports" liveId="import-list" isTable>
          <Table
            caption="Earlier imports, newest first"
            isInCard
            columns={[{ label: "Source" }, { label: "Result" }, { label: "Finished" }]}
          >
            {imports.map((row) => (
              <Row key={row.id}>
                <Cell label="Source">
                  <RowLink href={importReportPath(row.id)}>{PRODUCTS[row.kind]}</RowLink>
                  <CellNote>{row.name}</CellNote>
                </Cell>
                <Cell label="Result">{capitalised(verdictsInWords(countsOf(row)))}</Cell>
                <Cell label="Finished">
                  <RelativeTime at={toIso(row.finishedAt)} now={now} />
                </Cell>
              </Row>
            ))}
          </Table>
        </DetailCard>
      )}
    </>
  );
}

function countsOf({ counts }: { counts: string }): ImportReport["counts"] {
  return JSON.parse(counts) as ImportReport["counts"];
}
