import { setImmediate } from "node:timers/promises";
import type { ComponentChildren } from "preact";
import { within } from "../../../base/clock";
import { invalidFields, Problem } from "../../../base/errors";
import { parseStoredAddress } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { NO_STORE } from "../../../http/representation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { Notice } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, FileField, Form } from "../../../ui/form";
import {
  choiceField,
  FormFields,
  selectField,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import {
  defineForm,
  type Field,
  type FormDefinition,
  InvalidInput,
  type StateOf,
  type ValuesOf,
} from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choosePage, labelAmong, NoPageYet } from "../../../ui/frame/page-choice";
import { SUBSCRIBERS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { Cell, Row, Table } from "../../../ui/list";
import { PageHead, Tabs } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { rejectionOf } from "../../../ui/screens/form-routes";
import type { AreaRoutes, SentAt } from "../../../ui/screens/routes";
import { activityPath } from "../../activity/screens/activity";
import { relayTakesUtf8 } from "../../mail/settings";
import { getPage } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { findSubscriber } from "../store";
import { CONSENT_MAX, eraseAddress, readConsent } from "../subscribers";
import {
  type BadLine,
  exportSubscribers,
  IMPORT_COLUMNS,
  IMPORT_RESULTS,
  type ImportCounts,
  importSubscribers,
  listSubscribedPages,
  readImportFile,
  recordExport,
  requireImportable,
  RESULT_WORDS,
} from "../transfer";
import { ERASE_PATH, EXPORT_PATH, IMPORT_FILE_MAX_BYTES, IMPORT_PATH } from "./list";

const TABS = [
  { href: IMPORT_PATH, label: "Import" },
  { href: EXPORT_PATH, label: "Export" },
  { href: ERASE_PATH, label: "Erase" },
];

/** Result of a file that was checked or imported. */
interface ImportOutcome {
  isDryRun: boolean;
  /** Undefined while it goes on. */
  counts: ImportCounts | undefined;
  /** The first bad lines, and the number of all. */
  badLines: readonly BadLine[];
  badCount: number;
}

function ImportScreen(props: {
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

function ExportScreen({ state }: { state: StateOf<typeof EXPORT_FORM> }) {
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

function EraseScreen({ state }: { state: StateOf<typeof ERASE_FORM> }) {
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
function describeCounts(counts: ImportCounts, badCount: number): string {
  const parts = IMPORT_RESULTS.flatMap((result) =>
    counts[result] > 0 ? `${counts[result].toLocaleString("en")} ${RESULT_WORDS[result]}` : [],
  );
  if (badCount > 0) parts.push(`${badCount.toLocaleString("en")} not valid`);
  return parts.length > 0 ? `${parts.join(", ")}.` : "No addresses.";
}

/** Screen data of the forms: the pages that can have subscribers. */
interface TransferContext {
  pages: readonly PageRow[];
}

interface ImportBody {
  page: string;
  file: Uint8Array;
  kind: "confirm" | "consent";
  consent: string;
}

function pageSelect(options: { empty?: string } = {}) {
  return selectField<string, TransferContext>({
    label: "Page",
    ...options,
    options: ({ pages }) =>
      pages.map((page) => ({ value: page.id, label: labelAmong(pages, page) })),
  });
}

const csvField: Field<Uint8Array | undefined, Uint8Array, TransferContext> = {
  label: "File",
  initial: undefined,
  read: (sent, name) => sent.file(name)?.bytes,
  toBody: (bytes) => bytes ?? new InvalidInput("Select a file."),
  fromStored: () => undefined,
  Input: ({ name, errors }) => (
    <FileField
      label="File"
      name={name}
      accept={[".csv", "text/csv"]}
      maxBytes={IMPORT_FILE_MAX_BYTES}
      hint={`CSV in UTF-8 or UTF-16 whose first line names the columns: ${IMPORT_COLUMNS.join(",")}. Only email is required, and others are ignored. Several refs or kinds in a cell are separated by semicolons.`}
      error={errors[name]}
    />
  ),
};

const IMPORT_FORM = defineForm<ImportBody, TransferContext>()({
  page: pageSelect(),
  file: csvField,
  kind: choiceField<ImportBody["kind"]>({
    label: "Consent",
    initial: "confirm",
    invalid: "Select one of the two.",
    options: [
      {
        value: "confirm",
        label: "Ask each person",
        hint: "Each person gets a mail and is subscribed by its button.",
      },
      {
        value: "consent",
        label: "They have agreed already",
        hint: "Each person is subscribed at once. Say below how they agreed.",
      },
    ],
  }),
  consent: textAreaField({
    label: "How they agreed",
    hint: "Only if they have agreed already. Stored with each subscriber.",
    rows: 3,
    maxlength: CONSENT_MAX,
  }),
});

interface ExportBody {
  page: string;
  what: "subscribers" | "suppressed";
}

const EXPORT_FORM = defineForm<ExportBody, TransferContext>()({
  page: pageSelect({ empty: "Every page" }),
  what: choiceField<ExportBody["what"]>({
    label: "Content",
    initial: "subscribers",
    invalid: "Select one of the two.",
    options: [
      {
        value: "subscribers",
        label: "Subscribers",
        hint: "Addresses, choices and consent. The file can be imported again.",
      },
      {
        value: "suppressed",
        label: "Suppressed addresses",
        hint: "Those that a subscriber still has, with the reason. The file cannot be imported.",
      },
    ],
  }),
});

const ERASE_FORM = defineForm<{ email: string }, TransferContext>()({
  email: textField({
    label: "Address",
    type: "email",
    hint: "The whole address. It may also be one that has not confirmed.",
    isRequired: true,
  }),
});

/** Largest form with a file: the file, the other fields, and what is around them. */
const IMPORT_BODY_MAX_BYTES = IMPORT_FILE_MAX_BYTES + 16 * 1024;

const TITLE = "Import and export";

/** Import, export and erasure of subscribers, for owners. */
export function subscriberTransferRoutes(deps: AdminDependencies) {
  const { ctx, writeAs } = deps;
  const routes = createArea(deps, SUBSCRIBERS_PATH, "owner");
  const contextOf = (): TransferContext => ({ pages: listSubscribedPages(ctx.db) });

  function importScreen(state: StateOf<typeof IMPORT_FORM>, outcome?: ImportOutcome): Screen {
    return {
      title: TITLE,
      isStill: true,
      children: <ImportScreen state={state} outcome={outcome} />,
    };
  }

  routes.get("/import", ({ query, requestContext }) => {
    const context = contextOf();
    const page = choosePage(context.pages, query["page"]);
    if (page)
      return importScreen(IMPORT_FORM.state(IMPORT_FORM.initial({ page: page.id }), context));
    const { role } = sessionOf(requestContext).user;
    return { title: TITLE, children: <NoPageYet title={TITLE} role={role} /> };
  });

  routes.post(
    "/import",
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

  routes.get("/export", ({ query }) => {
    const context = contextOf();
    const page = context.pages.find(({ slug }) => slug === query["page"])?.id ?? "";
    return exportScreen(EXPORT_FORM.state(EXPORT_FORM.initial({ page }), context));
  });

  routes.post("/export", (at) => {
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

  routes.get("/erase", ({ query }) => {
    const { subscriber: id } = query;
    const email = (id === undefined ? undefined : findSubscriber(ctx.db, { id })?.address) ?? "";
    return eraseScreen(ERASE_FORM.state(ERASE_FORM.initial({ email }), contextOf()));
  });

  routes.post("/erase", (at) => {
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

/** Bad lines that the screen lists. */
const BAD_LINES_MAX = 200;
/** Time of a transaction, before its commit. */
const CHUNK_MS = 2;
/** Time after which the answer does not wait for the end. Many proxies wait for half a minute. */
const ANSWER_AFTER_MS = 10_000;

/**
 * Checks or imports the file of a form. An import that takes longer goes on after the answer, and its audit entry
 * says how far it has come. Throws `payload_too_large`, `validation_failed` and `conflict`.
 */
async function runImport(
  { ctx, writeAs }: Pick<AdminDependencies, "ctx" | "writeAs">,
  { requestContext, sent }: SentAt<string>,
  { page: pageId, file: bytes, kind, consent: words }: ImportBody,
): Promise<ImportOutcome> {
  if (bytes.byteLength > IMPORT_FILE_MAX_BYTES) {
    const limit = `${IMPORT_FILE_MAX_BYTES / 1_024} KiB`;
    throw new Problem("payload_too_large", `The file is larger than ${limit}.`);
  }
  const page = getPage(ctx.db, pageId);
  const consent = kind === "consent" ? readConsent(words) : null;
  requireImportable(ctx, page, consent === null);
  const options = { badLinesMax: BAD_LINES_MAX, allowUtf8Local: relayTakesUtf8(ctx) };
  const file = await readImportFile(ctx.db, page, [bytes], options);
  const isDryRun = sent.text("intent") !== "import";
  const running = importSubscribers(
    ctx,
    { page, file, consent, source: "import", isDryRun },
    {
      chunkMs: CHUNK_MS,
      write: (change) => writeAs(requestContext, change),
      // Other requests are read before the next transaction.
      between: () => setImmediate(),
    },
    actorOf(requestContext),
  );
  const counts = await within(ctx.clock, ANSWER_AFTER_MS, running, (err) =>
    ctx.log.warn({ err }, "an import of subscribers broke off"),
  );
  return { isDryRun, counts, badLines: file.badLines, badCount: file.badCount };
}
