import type { ImportReport } from "../../base/import-report";
import { findImportSource, type ImportSource } from "../../base/import-sources";
import { invalidFields, notFound } from "../../base/errors";
import {
  countPaused,
  type Started,
  startedInWords,
  startImport,
} from "../../features/imports/start";
import { findImport, listImports } from "../../features/imports/store";
import type { ImportJob } from "../../features/imports/jobs";
import { actorOf, sessionOf } from "../../http/request-context";
import { isLiveRefresh } from "../../http/live-refresh";
import { NO_STORE } from "../../http/representation";
import { linksOf } from "../../features/activity/screens/target-links";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import { importReportPath, IMPORTS_PATH } from "../../ui/frame/paths";
import type { Screen } from "../../ui/frame/render";
import { addConfirmation } from "../../ui/screens/action-routes";
import { rejectionOf } from "../../ui/screens/rejection";
import { type At, createAreaRoutes, type ScreenOrPath } from "../../ui/screens/routes";
import {
  BODY_MAX_BYTES,
  createImportForm,
  type FormContext,
  ImportFormScreen,
  type ImportFormState,
  optionsAsTyped,
} from "./form";
import { ImportHome } from "./home";
import { importPlanPath } from "./import-paths";
import { listItems } from "./listing";
import { createPlanning } from "./planning";
import { FailedScreen, ProgressScreen } from "./progress";
import { NoPlan, PlanScreen, ReportScreen, StartScreen } from "./report";

/** Settings → Import: for owners. */
export function importAdminRoutes(deps: AdminDependencies) {
  const { ctx, imports } = deps;
  const routes = createAreaRoutes(deps, IMPORTS_PATH, "owner");
  const { plan, wait } = createPlanning(ctx, imports);

  /** Returns the parts of a screen that shows a plan or a report. */
  function reportProps(at: At<string>, report: ImportReport, home: string) {
    const { requestContext, query } = at;
    const list = listItems(report, home, query);
    const ids = list.items.flatMap(({ target }) => target?.id ?? []);
    const links = linksOf(ctx.db, ids, sessionOf(requestContext).user.role);
    return { report, list, links, now: requestContext.now };
  }

  routes.get("", "Show the sources and the earlier imports", ({ requestContext: { now } }) => ({
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

  routes.get("/from/:kind", "Show the form for importing from a source", async (at) => {
    const source = requireSource(at.params.kind);
    const form = createImportForm(source);
    const job = imports.find(at.query["plan"] ?? "");
    const values = form.initial(job && optionsAsTyped(job.options));
    return formScreen(source, form.state(values, await contextOf(source)));
  });

  routes.post(
    "/from/:kind",
    "Plan an import",
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

  routes.get("/plans/:id", "Show the plan or the progress of an import", (at) => {
    const job = imports.find(at.params.id);
    return job ? jobScreen(at, job) : noPlan;
  });

  routes.post("/plans/:id", "Import what was planned", async (at) => {
    const { id } = at.params;
    const job = imports.find(id);
    if (!job) return routes.answer(at, noPlan);
    // A form that is sent twice shows the import that the first one began.
    if (job.state !== "importing" && job.state !== "done") {
      await wait(imports.start(id, actorOf(at.requestContext)).settled);
    }
    return routes.answer(at, { path: importPlanPath(id) });
  });

  routes.get("/plans/:id/discard", "Redirect to the plan", ({ params }) => ({
    path: importPlanPath(params.id),
  }));

  routes.post("/plans/:id/discard", "Discard a plan", async (at) => {
    if (!imports.find(at.params.id)) return routes.answer(at, noPlan);
    await imports.discard(at.params.id);
    return routes.redirect(at, { path: IMPORTS_PATH, text: "The plan was discarded." });
  });

  function requireReport(id: string): ImportReport {
    const row = findImport(ctx.db, { id });
    if (!row) throw notFound("import");
    return row.report;
  }

  routes.get("/reports/:id", "Show the report of an import", (at) => {
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
    routes.declare("Download the report of an import", {}),
  );

  addConfirmation(routes, "/reports/:id/start", {
    showSummary: "Ask before the objects of an import are started",
    summary: "Start the objects of an import",
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
