import { setImmediate } from "node:timers/promises";
import { parseStoredAddress } from "../../base/mail-address";
import { invalidFields } from "../../base/errors";
import { getPage } from "../../features/pages/pages";
import { eraseAddress } from "../../features/subscribers/erase";
import {
  exportSubscribers,
  listSubscribedPages,
  recordExport,
} from "../../features/subscribers/export";
import { findSubscriber } from "../../features/subscribers/store";
import { actorOf, sessionOf } from "../../http/request-context";
import { NO_STORE } from "../../http/representation";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { FormDefinition, StateOf, ValuesOf } from "../../ui/forms/form";
import { choosePage, NoPageYet } from "../../ui/frame/page-choice";
import { SUBSCRIBERS_PATH } from "../../ui/frame/paths";
import type { Screen } from "../../ui/frame/render";
import { rejectionOf } from "../../ui/screens/rejection";
import { type AreaRoutes, createAreaRoutes, type SentAt } from "../../ui/screens/routes";
import { runImport } from "./run-import";
import {
  describeCounts,
  EraseScreen,
  ExportScreen,
  type ImportOutcome,
  ImportScreen,
} from "./transfer";
import { ERASE_PATH, IMPORT_FILE_MAX_BYTES, IMPORT_PATH } from "./subscriber-paths";
import { ERASE_FORM, EXPORT_FORM, IMPORT_FORM, type TransferContext } from "./transfer-forms";

/** Largest form with a file: the file, the other fields, and what is around them. */
const IMPORT_BODY_MAX_BYTES = IMPORT_FILE_MAX_BYTES + 16 * 1024;

const TITLE = "Import and export";

/** Import, export and erasure of subscribers, for owners. */
export function subscriberTransferRoutes(deps: AdminDependencies) {
  const { ctx, writeAs } = deps;
  const routes = createAreaRoutes(deps, SUBSCRIBERS_PATH, "owner");
  const contextOf = (): TransferContext => ({ pages: listSubscribedPages(ctx.db) });

  function importScreen(state: StateOf<typeof IMPORT_FORM>, outcome?: ImportOutcome): Screen {
    return {
      title: TITLE,
      isStill: true,
      children: <ImportScreen state={state} outcome={outcome} />,
    };
  }

  routes.get("/import", "Show the form for importing subscribers", ({ query, requestContext }) => {
    const context = contextOf();
    const page = choosePage(context.pages, query["page"]);
    if (page)
      return importScreen(IMPORT_FORM.state(IMPORT_FORM.initial({ page: page.id }), context));
    const { role } = sessionOf(requestContext).user;
    return { title: TITLE, children: <NoPageYet title={TITLE} role={role} /> };
  });

  routes.post(
    "/import",
    "Import subscribers",
    (at) => {
      const values = IMPORT_FORM.read(at.sent);
      const show = (state: StateOf<typeof IMPORT_FORM>) => importScreen(state);
      return answerForm(
        routes,
        at,
        { form: IMPORT_FORM, values, contextOf, show },
        async (body) => {
          const outcome = await runImport(deps, at, body);
          const { counts, badCount, isDryRun } = outcome;
          if (counts && badCount === 0 && !isDryRun) {
            const text = `The file was imported: ${describeCounts(counts, 0)}`;
            return routes.redirect(at, { path: IMPORT_PATH, text });
          }
          const state = IMPORT_FORM.state({ ...values, file: undefined }, contextOf());
          return routes.answer(at, importScreen(state, outcome));
        },
      );
    },
    { takesFiles: true, maxBytes: IMPORT_BODY_MAX_BYTES },
  );

  function exportScreen(state: StateOf<typeof EXPORT_FORM>): Screen {
    return { title: TITLE, isStill: true, children: <ExportScreen state={state} /> };
  }

  routes.get("/export", "Show the form for exporting subscribers", ({ query }) => {
    const context = contextOf();
    const page = context.pages.find(({ slug }) => slug === query["page"])?.id ?? "";
    return exportScreen(EXPORT_FORM.state(EXPORT_FORM.initial({ page }), context));
  });

  routes.post("/export", "Download subscribers as CSV", (at) => {
    const values = EXPORT_FORM.read(at.sent);
    const form = { form: EXPORT_FORM, values, contextOf, show: exportScreen };
    return answerForm(routes, at, form, async ({ page: pageId, what }) => {
      const { requestContext } = at;
      const page = pageId === "" ? undefined : getPage(ctx.db, pageId);
      const selection = { page, isSuppressed: what === "suppressed" };
      await writeAs(requestContext, (tx) =>
        recordExport(ctx, tx, selection, actorOf(requestContext)),
      );
      const day = toIso(requestContext.now).slice(0, 10);
      const name = `${page?.slug ?? "allclear"}-${what}-${day}.csv`;
      return new Response(streamOf(exportSubscribers(ctx.db, selection)), {
        headers: {
          "Content-Type": "text/csv;charset=utf-8",
          "Content-Disposition": `attachment; filename="${name}"`,
          "Cache-Control": NO_STORE,
        },
      });
    });
  });

  function eraseScreen(state: StateOf<typeof ERASE_FORM>): Screen {
    return { title: TITLE, isStill: true, children: <EraseScreen state={state} /> };
  }

  routes.get("/erase", "Show the form for erasing an address", ({ query }) => {
    const { subscriber: id } = query;
    const email = (id === undefined ? undefined : findSubscriber(ctx.db, { id })?.address) ?? "";
    return eraseScreen(ERASE_FORM.state(ERASE_FORM.initial({ email }), contextOf()));
  });

  routes.post("/erase", "Erase an address", (at) => {
    const values = ERASE_FORM.read(at.sent);
    const form = { form: ERASE_FORM, values, contextOf, show: eraseScreen };
    return answerForm(routes, at, form, async ({ email }) => {
      const address = parseStoredAddress(email, { allowUtf8Local: true });
      if ("error" in address) {
        throw invalidFields([{ pointer: "#/email", detail: address.error }]);
      }
      const { requestContext } = at;
      const { subscriptions, requests } = await writeAs(requestContext, (tx) =>
        eraseAddress(ctx, tx, address, undefined, actorOf(requestContext)),
      );
      const counts = `${plural(subscriptions, "subscription")}, ${plural(requests, "sign-up")}`;
      const text = `The address was erased: ${counts}.`;
      return routes.redirect(at, { path: ERASE_PATH, text });
    });
  });

  return routes.elysia;
}

/** Answers a form. A rejected one is shown again with what was typed. */
function answerForm<Body, Fields>(
  routes: AreaRoutes,
  at: SentAt<string>,
  {
    form,
    values,
    contextOf,
    show,
  }: {
    form: FormDefinition<Body, TransferContext, Fields>;
    values: ValuesOf<Fields>;
    contextOf: () => TransferContext;
    show: (state: ReturnType<typeof form.state<TransferContext>>) => Screen;
  },
  act: (body: Body) => Promise<Response>,
): Promise<Response> {
  const run = async () => {
    const { body, errors } = form.parse(values, contextOf());
    if (errors.length > 0) throw invalidFields([...errors]);
    return act(body);
  };
  return routes.attempt(at, run, (error) => {
    const rejection = rejectionOf(error, form, values, undefined);
    if (!rejection) return undefined;
    const { status, ...shown } = rejection;
    return { ...show({ ...form.state(values, contextOf()), ...shown }), status };
  });
}

/** Returns a stream of texts. Other work runs before each. */
function streamOf(texts: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      let text: IteratorResult<string>;
      do {
        await setImmediate();
        text = texts.next();
      } while (text.value === "");
      if (text.done) controller.close();
      else controller.enqueue(encoder.encode(text.value));
    },
  });
}
