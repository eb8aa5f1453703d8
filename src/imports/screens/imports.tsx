import type { Actor } from "../../base/actor";
import { within } from "../../base/clock";
import { type FieldError, invalidFields, notFound } from "../../base/errors";
import { type ImportReport, PRODUCTS, verdictsInWords } from "../../base/import-report";
import { parseWebUrl } from "../../base/web-url";
import type { ImportJob, ImportJobs, JobPlace, OfferedFile } from "../jobs";
import {
  findImportSource,
  IMPORT_PARTS,
  IMPORT_SOURCES,
  type ImportSource,
  type OptionValues,
  parseOptions,
  type SourceOption,
  validateOptions,
} from "../sources";
import { formatBytes } from "../../base/numbers";
import { capitalised } from "../../base/text";
import { toIso } from "../../base/time";
import type { Ctx } from "../../context";
import { linksOf } from "../../features/activity/screens/target-links";
import { isLiveRefresh } from "../../http/answers";
import { NO_STORE } from "../../http/representation";
import { actorOf, sessionOf } from "../../http/request-context";
import { EmptyState } from "../../ui/blocks";
import { Button, ButtonLink } from "../../ui/buttons";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Actions, FileField, Form, TextField } from "../../ui/form";
import { checkboxField, FormFields, selectField, textField } from "../../ui/forms/fields";
import {
  defineForm,
  type Field,
  type FormDefinition,
  type FormState,
  optional,
  type ValuesOf,
} from "../../ui/forms/form";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { importReportPath, IMPORTS_PATH } from "../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../ui/frame/places";
import type { Screen } from "../../ui/frame/render";
import { Icon } from "../../ui/icons";
import { Cell, CellNote, Row, RowLink, Table } from "../../ui/list";
import { PageHead } from "../../ui/navigation";
import { createArea } from "../../ui/screens/area";
import { rejectionOf } from "../../ui/screens/form-routes";
import { session } from "../../http/operation";
import { type At, type ScreenOrPath, screenOperation } from "../../ui/screens/routes";
import { RelativeTime } from "../../ui/times";
import { countPaused, type Started, startedInWords, startImport } from "../start";
import { findImport, listImports } from "../store";
import {
  FailedScreen,
  importFormPath,
  importPlanPath,
  JobNotice,
  listItems,
  NoPlan,
  PlanScreen,
  ProgressScreen,
  ReportScreen,
  StartScreen,
} from "./report";

/** Settings → Import: for owners. */
export function importAdminRoutes(deps: AdminDependencies) {
  const { ctx, imports } = deps;
  const routes = createArea(deps, IMPORTS_PATH, "owner");
  const { plan, wait } = createPlanning(ctx, imports);

  /** Returns the parts of a screen that shows a plan or a report. */
  function reportProps(at: At<string>, report: ImportReport, home: string) {
    const { requestContext, query } = at;
    const list = listItems(report, home, query);
    const ids = list.items.flatMap(({ target }) => target?.id ?? []);
    const links = linksOf(ctx.db, ids, sessionOf(requestContext).user.role);
    return { report, list, links, now: requestContext.now };
  }

  routes.get("", ({ requestContext: { now } }) => ({
    title: "Import",
    children: <ImportHome job={imports.current()} imports={listImports(ctx.db, {})} now={now} />,
  }));

  const contextOf = async (source: ImportSource): Promise<FormContext> => ({
    offered: await imports.files.list(source),
    folder: imports.files.folder,
  });

  function formScreen(source: ImportSource, state: ImportFormState): Screen {
    const form = createImportForm(source);
    const title = `Import from ${source.product}`;
    const children = <ImportFormScreen source={source} form={form} state={state} />;
    return { title, isStill: true, children };
  }

  routes.get("/from/:kind", async (at) => {
    const source = requireSource(at.params.kind);
    const form = createImportForm(source);
    const job = imports.find(at.query["plan"] ?? "");
    const values = form.initial(job && optionsAsTyped(job.options));
    return formScreen(source, form.state(values, await contextOf(source)));
  });

  routes.post(
    "/from/:kind",
    async (at) => {
      const source = requireSource(at.params.kind);
      const form = createImportForm(source);
      const values = form.read(at.sent);
      const context = await contextOf(source);
      const run = async () => {
        const { body, errors } = form.parse(values, context);
        if (errors.length > 0) throw invalidFields([...errors]);
        const job = await plan(source, body, actorOf(at.requestContext));
        return routes.answer(at, { path: importPlanPath(job.id) });
      };
      return routes.attempt(at, run, (error) => {
        const rejection = rejectionOf(error, form, values, undefined);
        if (!rejection) return undefined;
        const { status, ...shown } = rejection;
        return { ...formScreen(source, { ...form.state(values, context), ...shown }), status };
      });
    },
    { takesFiles: true, maxBytes: BODY_MAX_BYTES },
  );

  /** Returns the screen of the current import in its state. */
  function jobScreen(at: At<string>, job: ImportJob): ScreenOrPath {
    const { now } = at.requestContext;
    const title = `Import from ${job.source.product}`;
    const { state, report } = job;
    // A progress screen that is open is refreshed in its own form, and then leads on.
    const isOpen = isLiveRefresh(at.request);
    if (isOpen || state === "planning" || state === "importing") {
      return { title, children: <ProgressScreen job={job} now={now} /> };
    }
    if (!report || state === "failed") {
      return { title, isStill: true, children: <FailedScreen job={job} now={now} /> };
    }
    if (state === "done" && report.id !== null) return { path: importReportPath(report.id) };
    const props = reportProps(at, report, importPlanPath(job.id));
    return { title, isStill: true, children: <PlanScreen job={job} {...props} /> };
  }

  const noPlan: Screen = { title: "Import", status: 404, children: <NoPlan /> };

  routes.get("/plans/:id", (at) => {
    const job = imports.find(at.params.id);
    return job ? jobScreen(at, job) : noPlan;
  });

  routes.post("/plans/:id", async (at) => {
    const { id } = at.params;
    const job = imports.find(id);
    if (!job) return routes.answer(at, noPlan);
    // A form that is sent twice shows the import that the first one began.
    if (job.state !== "importing" && job.state !== "done") {
      await wait(imports.start(id, actorOf(at.requestContext)).settled);
    }
    return routes.answer(at, { path: importPlanPath(id) });
  });

  routes.get("/plans/:id/discard", ({ params }) => ({
    path: importPlanPath(params.id),
  }));

  routes.post("/plans/:id/discard", async (at) => {
    if (!imports.find(at.params.id)) return routes.answer(at, noPlan);
    await imports.discard(at.params.id);
    return routes.redirect(at, { path: IMPORTS_PATH, text: "The plan was discarded." });
  });

  function requireReport(id: string): ImportReport {
    const row = findImport(ctx.db, { id });
    if (!row) throw notFound("import");
    return row.report;
  }

  routes.get("/reports/:id", (at) => {
    const { id } = at.params;
    const props = reportProps(at, requireReport(id), importReportPath(id));
    const pausedCount = countPaused(ctx.db, id);
    return {
      title: "Import",
      // It hardly changes, and its items may be megabytes.
      isStill: true,
      children: <ReportScreen {...props} pausedCount={pausedCount} />,
    };
  });

  routes.elysia.get(
    "/reports/:id/json",
    ({ params: { id } }) =>
      new Response(`${JSON.stringify(requireReport(id), null, 2)}\n`, {
        headers: {
          "Content-Type": "application/json",
          "Content-Disposition": `attachment; filename="allclear-${id}.json"`,
          "Cache-Control": NO_STORE,
        },
      }),
    screenOperation(session("owner")),
  );

  routes.confirmation("/reports/:id/start", {
    show({ params: { id } }) {
      requireReport(id);
      const children = <StartScreen id={id} count={countPaused(ctx.db, id)} />;
      return { title: "Start what was imported", isStill: true, children };
    },
    run: (tx, { params }, actor) => startImport(ctx, tx, params.id, actor),
    done: (outcome, { params }) => ({
      path: importReportPath(params.id),
      text: startedText(outcome),
    }),
  });

  return routes.elysia;
}

/** Returns the source of a path. Throws `not_found`. */
function requireSource(kind: string): ImportSource {
  const source = findImportSource(kind);
  if (!source) throw notFound("source");
  return source;
}

/** Returns the confirmation after objects were started; undefined if there was nothing to start. */
function startedText(outcome: Started): string | undefined {
  const { started, kept } = outcome;
  if (started.length + kept.length === 0) return undefined;
  const names = kept.map(({ name }) => name).join(", ");
  const left = names === "" ? "" : ` Edited since, and left: ${names}.`;
  return `Started ${startedInWords(outcome)}.${left}`;
}

interface ImportHomeProps {
  job: ImportJob | undefined;
  imports: ReturnType<typeof listImports>;
  /** Unix ms. */
  now: number;
}

/** Settings → Import: the sources, the current import, and earlier ones. */
function ImportHome({ job, imports, now }: ImportHomeProps) {
  return (
    <>
      <PageHead title="Import" crumbs={crumbsAbove(IMPORTS_PATH)}>
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

/** Limit of a file in the form. The body also has the other fields, and its parts. */
const FILE_MAX_BYTES = 768 * 1024;
const BODY_MAX_BYTES = FILE_MAX_BYTES + 32 * 1024;

/** Screen data: the files that are offered by name, and the folder in which they are. */
interface FormContext {
  offered: readonly OfferedFile[];
  folder: string;
}

/** Typed place and options. Those of the importer have the names that it declares. */
interface ImportBody {
  file?: { bytes: Uint8Array; name: string };
  offered?: string;
  url?: string;
  source?: string;
  only?: string;
  internal_page?: string;
  paused?: boolean;
  take_domains?: boolean;
  history_days?: string;
  [option: string]: unknown;
}

// oxlint-disable-next-line typescript/no-explicit-any
type Fields = Record<string, Field<any, any, FormContext>>;
type ImportForm = FormDefinition<ImportBody, FormContext, Fields>;
type ImportFormState = FormState<ValuesOf<Fields>, FormContext>;

/** Parts to which an import can be limited, in words. */
const PARTS: Readonly<Record<(typeof IMPORT_PARTS)[number], string>> = {
  pages: "Only pages",
  monitors: "Only monitors",
  webhooks: "Only webhooks",
  history: "Only the history",
};

/** Returns the form of a source, with the options that its importer declares. */
function createImportForm(source: ImportSource): ImportForm {
  const { takes, options } = source;
  const takesFiles = takes.includes("file") || takes.includes("folder");
  const fields: Fields = {
    ...(takes.includes("url") && {
      url: optional(
        textField({
          label: "Address",
          type: "url",
          hint: "Address that begins with https://, in the place of a file.",
        }),
      ),
    }),
    ...(takesFiles && { file: uploadField(source), offered: offeredField() }),
    ...Object.fromEntries(
      options.flatMap((option) => {
        const field = optionField(option);
        return field ? [[option.name, field]] : [];
      }),
    ),
    paused: checkboxField({
      label: "Create everything paused",
      hint: "Nothing is checked or sent until you start it, so that both systems can run side by side. The report has a button for that.",
    }),
    source: textField({
      label: "Name of the source",
      initial: "default",
      hint: `Tells several installations of ${source.product} apart. Give the same name each time, since the next import from this source updates what the first one created.`,
    }),
    only: optional(
      selectField({
        label: "Parts",
        empty: "Everything",
        options: IMPORT_PARTS.map((value) => ({ value, label: PARTS[value] })),
      }),
    ),
    history_days: optional(
      textField({
        label: "Days of history",
        initial: "all",
        hint: "Results of checks before today, for bars and uptime: a number of days, all, or none. Sources without a history have none.",
        isShort: true,
      }),
    ),
    internal_page: textField({
      label: "Internal page",
      initial: "internal",
      hint: "Slug of the private page for monitors that are on no page, so that they have bars and uptime. Empty for none.",
    }),
    take_domains: checkboxField({
      label: "Take over custom domains",
      hint: "Gives pages the host names that they have in the source. Otherwise these are only listed, since the source still answers there.",
    }),
  };
  return defineForm<ImportBody, FormContext>()(fields, {
    advanced: ["source", "only", "history_days", "internal_page", "take_domains"],
  });
}

function uploadField({
  content,
  accept,
}: ImportSource): Field<ImportBody["file"], NonNullable<ImportBody["file"]>, FormContext> {
  return {
    label: "File",
    initial: undefined,
    read: (sent, name) => sent.file(name),
    toBody: (file) => file,
    fromStored: () => undefined,
    Input: ({ name, errors, context: { offered, folder } }) => (
      <FileField
        label="File"
        name={name}
        accept={accept}
        maxBytes={FILE_MAX_BYTES}
        hint={`Takes ${content}, up to ${FILE_MAX_BYTES / 1_024} KiB. It is deleted after the import, and after 24 hours at the latest.${
          offered.length === 0
            ? ` For a larger one, put it into ${folder} on the server and reload this page.`
            : ""
        }`}
        error={errors[name]}
      />
    ),
  };
}

function offeredField(): Field<string, string, FormContext> {
  const field = selectField<string, FormContext>({
    label: "Or a file on the server",
    hint: "Files of any size in the folder “import” of the data directory. They are only read.",
    empty: "None",
    options: ({ offered }) => offered.map(optionOf),
  });
  const shown = optional(field);
  // Without files there is nothing to choose; the hint of the upload names the folder.
  return {
    ...shown,
    Input: (props) => (props.context.offered.length === 0 ? null : shown.Input(props)),
  };
}

function optionOf({ name, isFolder, bytes }: OfferedFile) {
  return { value: name, label: isFolder ? `${name} (folder)` : `${name} (${formatBytes(bytes)})` };
}

/** Returns the field of an importer's option; undefined for those of the command alone. */
function optionField(option: SourceOption): Field<never, never, FormContext> | undefined {
  const { type, label, help } = option;
  const field = {
    text: () => optional(textField({ label, hint: help })),
    secret: () => secretField(option),
    switch: () => checkboxField({ label, hint: help }),
    output: () => undefined,
    file: () =>
      optional(
        selectField<string, FormContext>({
          label,
          hint: `${help} It must be in the folder “import” of the data directory.`,
          empty: "None",
          options: ({ offered }) => offered.filter(({ isFolder }) => !isFolder).map(optionOf),
        }),
      ),
  }[type]();
  return field as Field<never, never, FormContext> | undefined;
}

/** Password field whose text is never shown again. */
function secretField({ label, help }: SourceOption): Field<string, string> {
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim() || undefined,
    fromStored: () => "",
    Input: ({ name, errors }) => (
      <TextField
        label={label}
        name={name}
        type="password"
        autocomplete="off"
        hint={`${help} Kept until the import has ended, and never shown.`}
        error={errors[name]}
      />
    ),
  };
}

/** Returns the options of a plan as they were typed, without its file and secrets. */
function optionsAsTyped(options: ImportJob["options"]): Partial<ValuesOf<Fields>> {
  const { source, only, historyDays: days, internalPage, isPaused, takesDomains } = options;
  return {
    source,
    only: only ?? "",
    history_days: days === null ? "all" : days === 0 ? "none" : String(days),
    internal_page: internalPage ?? "",
    paused: isPaused,
    take_domains: takesDomains,
  };
}

/** Returns the values of the importer's options. Files are still names. */
function optionValues({ options }: ImportSource, body: ImportBody): OptionValues {
  return Object.fromEntries(
    options.flatMap(({ name, type }) => {
      const value = body[name];
      if (type === "switch") return value === true ? [[name, "yes"]] : [];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

interface ImportFormScreenProps {
  source: ImportSource;
  form: ImportForm;
  state: ImportFormState;
}

/** Form for importing from a source. */
function ImportFormScreen({ source, form, state }: ImportFormScreenProps) {
  return (
    <>
      <PageHead title={`Import from ${source.product}`} crumbs={crumbsTo(IMPORTS_PATH)}>
        You see the plan first. Nothing is changed before you confirm it, and nobody is notified.
      </PageHead>
      <Form action={importFormPath(source.kind)} hidden={state.hidden} sendsFiles>
        <FormFields form={form} state={state} />
        <Actions>
          <Button kind="primary">Show plan</Button>
          <ButtonLink href={IMPORTS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}

/** Time after which the answer does not wait for a plan or an import. Many proxies wait for half a minute. */
const ANSWER_AFTER_MS = 10_000;

/** Error of a name that no offered file has. */
const GONE = "This file is not in the folder, or it has symbolic links. Select another one.";

/** Returns functions that make the plan of a form, and that wait for a plan or an import. */
function createPlanning(ctx: Ctx, imports: ImportJobs) {
  /** Waits for work, which goes on without the answer. */
  async function wait(settled: Promise<void>): Promise<void> {
    await within(ctx.clock, ANSWER_AFTER_MS, settled, (err) =>
      ctx.log.error({ err }, "an import broke off"),
    );
  }

  /** Makes the plan that a form asks for. Throws `validation_failed` and `conflict`. */
  async function plan(source: ImportSource, body: ImportBody, author: Actor): Promise<ImportJob> {
    const values = optionValues(source, body);
    const { options, errors } = parseOptions({
      source: body.source,
      only: body.only,
      history_days: body.history_days,
      internal_page: body.internal_page || "none",
      isPaused: body.paused ?? false,
      takesDomains: body.take_domains ?? false,
      isDryRun: true,
    });
    const place = await placeOf(source, body);
    const paths = { ...values };
    for (const { name, type } of source.options) {
      const file = values[name];
      if (type !== "file" || file === undefined) continue;
      const path = await imports.files.find(source, file);
      if (path === undefined) errors.push({ pointer: `#/${name}`, detail: GONE });
      else paths[name] = path;
    }
    errors.push(...validateOptions(source, values));
    if ("detail" in place) errors.unshift(place);
    if ("detail" in place || errors.length > 0) throw invalidFields(errors);
    const request = { source, place: place.place, values: paths, options };
    const { job, settled } = await imports.plan(request, author);
    await wait(settled);
    // Somebody may have discarded or replaced it meanwhile.
    if (job.state !== "failed" || !imports.find(job.id)) return job;
    const { message = "", fields = [] } = job.failure ?? {};
    await imports.discard(job.id);
    // The slug is the only value of the form that services validate. Others are of the source.
    const slug = fields.find((field) => field.pointer === "#/slug");
    throw invalidFields([
      slug ? { ...slug, pointer: "#/internal_page" } : { pointer: place.pointer, detail: message },
    ]);
  }

  /** Returns the one place that a form names, and its field, or the error of the field. */
  async function placeOf(
    source: ImportSource,
    { file, offered, url }: ImportBody,
  ): Promise<{ place: JobPlace; pointer: string } | FieldError> {
    const wrong = (field: string, detail: string) => ({ pointer: `#/${field}`, detail });
    const first = source.takes.includes("url") ? "url" : "file";
    const given = [file, offered, url].filter((each) => each !== undefined);
    if (given.length === 0) {
      return wrong(
        first,
        first === "url" ? "Enter an address, or select a file." : "Select a file.",
      );
    }
    if (given.length > 1) return wrong(first, "Give one place only: clear the others.");
    if (file) {
      if (file.bytes.byteLength > FILE_MAX_BYTES) {
        return wrong(
          "file",
          `The file is larger than ${FILE_MAX_BYTES / 1_024} KiB. Put it into ${imports.files.folder} on the server, or run the command “allclear import ${source.kind}”.`,
        );
      }
      return { place: { name: file.name || "File", bytes: file.bytes }, pointer: "#/file" };
    }
    if (offered !== undefined) {
      const path = await imports.files.find(source, offered);
      if (path === undefined) {
        // Without any file, the form has no such field.
        const { length } = await imports.files.list(source);
        return wrong(length > 0 ? "offered" : "file", GONE);
      }
      return { place: { name: offered, path }, pointer: "#/offered" };
    }
    const parsed = parseWebUrl(url ?? "");
    if (!parsed) return wrong("url", "Enter an address that begins with https://.");
    return { place: { name: parsed.host, url: parsed.href }, pointer: "#/url" };
  }

  return { plan, wait };
}
