/*
 * Settings → Webhooks: the list, the routes of its forms, the screens that show a secret once, and examples of receivers.
 * One endpoint is in `detail.tsx`, one delivery in `delivery.tsx`.
 */
import { maskAddress } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { SECOND_MS, toIso } from "../../../base/time";
import { composed, validate } from "../../../base/validation";
import { ANY_EVENT, type DeliveryStatus, isForPeople } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Card, CodeBlock, EmptyState, Notice, Secret } from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { Actions } from "../../../ui/form";
import { defineForm } from "../../../ui/forms/form";
import { newFormToken, type Reveal } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { readPages } from "../../../ui/frame/page-choice";
import {
  NEW_WEBHOOK_PATH,
  pagePath,
  webhookPath,
  WEBHOOKS_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, inOrder, OneLine, RowLink } from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { ManagedByFile, shownBefore } from "../../../ui/screens/form-screen";
import { NoOlder, OrderedTable, readOrder } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import type { PageRow } from "../../pages/store";
import { makeOnce } from "../../repeats/store";
import { describeQuestion, findQuestion, type Question } from "../alerts/confirmation";
import { getDelivery, sendTestEvent } from "../deliveries";
import { FORMATS } from "../formats/index";
import { deliveryHealth } from "../health";
import { recipientOf } from "../recipient";
import { type DeliveryRecord, getWebhookRecord, webhookName } from "../records";
import { signatureHeaders } from "../signing";
import { listAllWebhooks, type WebhookRow } from "../store";
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from "../webhooks";
import { CreateWebhookBody, presentWebhook, UpdateWebhookBody } from "../wire";
import { addDeliveryRoutes } from "./delivery";
import {
  addConfirmationRoutes,
  DisabledNotice,
  LastError,
  SuccessRate,
  Waiting,
  WebhookDetail,
  WebhookState,
} from "./detail";
import { formatNamed, readFormContext, shownFormat, WEBHOOK_FORM } from "./forms";
import { type ListedWebhook, type ListPosition, readWebhookView, withHealth } from "./read";

/** Settings → Webhooks: for admins and owners. */
export function webhookAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, WEBHOOKS_PATH, "admin");

  function rowOf(reader: Reader, id: string): WebhookRow {
    return getWebhookRecord(reader, id, ctx.clock.now()).row;
  }

  /** Shows a new secret under `title`, or says that it was already shown. */
  function showSecret(reveal: Reveal<WebhookRow>, title: string): Screen {
    if ("shownBefore" in reveal) {
      return shownBefore({
        secret: "secret",
        ifLost: "rotate it to get a new one",
        object: { href: webhookPath(reveal.shownBefore), label: "Open webhook" },
        list: WEBHOOKS_PATH,
      });
    }
    const row = reveal.revealed;
    const page = { row, formToken: newFormToken(ctx), now: ctx.clock.now() };
    if (row.format === "email") {
      return madeWithoutSecret({ ...page, question: findQuestion(ctx.db, row) });
    }
    return { title, isSecret: true, children: <RevealedSecret title={title} {...page} /> };
  }

  area.screen("", ({ query, requestContext: { now } }) => {
    const list = readWebhookList(ctx.db, query, now);
    return { title: "Webhooks", children: <WebhookList list={list} now={now} /> };
  });

  area.secretForm("/new", {
    form: WEBHOOK_FORM,
    load: (reader, { query, sent }) =>
      readFormContext(
        reader,
        sent ? shownFormat(sent, "standard") : (formatNamed(query["format"]) ?? "standard"),
        { sent },
      ),
    initial: (_, { format }) => ({ format }),
    show: () => ({
      title: "Create webhook",
      // The typed URL may be a secret.
      isSecret: true,
      crumbs: crumbsTo(WEBHOOKS_PATH),
      button: "Create webhook",
    }),
    create(tx, body, actor) {
      const { row } = createWebhook(ctx, tx, validate(CreateWebhookBody, body), actor);
      return { made: row, subjectId: row.id };
    },
    reveal: (reveal) => showSecret(reveal, "Your new secret"),
  });

  area.screen("/:id", ({ params, query, requestContext: { now } }) => {
    const view = readWebhookView(ctx.db, params.id, query, now);
    const page = { view, formToken: newFormToken(ctx), now };
    return { title: webhookName(view.record.row), children: <WebhookDetail {...page} /> };
  });

  area.editForm("/:id/edit", {
    form: WEBHOOK_FORM,
    load(reader, { params, sent }) {
      const record = getWebhookRecord(reader, params.id, ctx.clock.now());
      const { row } = record;
      const webhook = presentWebhook(record);
      const format = sent ? shownFormat(sent, row.format) : row.format;
      // Another format starts without settings.
      const settings = format === row.format ? webhook.settings : {};
      return {
        resource: { ...webhook, settings, page: row.pageId },
        version: row.version,
        context: { ...readFormContext(reader, format, { row, sent }), row },
      };
    },
    show({ context: { row } }) {
      const name = webhookName(row);
      return {
        title: `Edit “${name}”`,
        heading: "Edit webhook",
        // The typed URL may be a secret.
        isSecret: true,
        crumbs: [...crumbsTo(WEBHOOKS_PATH), { href: webhookPath(row.id), label: name }],
        above: row.managedBy === "apply" ? <ManagedByFile what="webhook" /> : null,
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }, { row }) {
      const body = validate(UpdateWebhookBody, changes);
      const after = updateWebhook(ctx, tx, params.id, body, actor);
      return after.row.version !== row.version;
    },
    done: ({ params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was changed.",
    }),
  });

  area.action("/:id/test", {
    run(tx, { params, requestContext, sent }, actor) {
      const form = { sessionId: sessionOf(requestContext).id, digest: sent.digest };
      return makeOnce(ctx, tx, form, () => {
        const { row } = sendTestEvent(ctx, tx, params.id, actor);
        return { made: row, subjectId: row.id };
      });
    },
    async done({ subjectId }, { params }) {
      const { row } = await awaitFirstTry(ctx, params.id, subjectId);
      return {
        path: webhookPath(params.id, "deliveries", subjectId),
        text: TEST_RESULTS[row.status],
      };
    },
  });

  area.secretForm("/:id/rotate", {
    form: CONFIRM_FORM,
    load: (reader, { params }) => rowOf(reader, params.id),
    show: ({ context: row }) => ({
      title: `Rotate the secret of “${webhookName(row)}”`,
      button: "Rotate secret",
      dialog: (
        <>
          <p>
            The webhook gets a new secret, which is shown once. For 24 hours, requests are signed
            with the new and the current secret, so that you can update the receiver in time.
          </p>
          {row.previousSecret === null ? null : (
            <p>The previous secret, from an earlier rotation, stops signing requests at once.</p>
          )}
        </>
      ),
    }),
    create(tx, _, actor, { params }) {
      const { row } = rotateSecret(ctx, tx, params.id, actor);
      return { made: row, subjectId: row.id };
    },
    reveal: (reveal) => showSecret(reveal, "Your new secret"),
  });

  area.confirmation("/:id/disable", {
    show({ params }) {
      const row = rowOf(ctx.db, params.id);
      if (!row.enabled) return { path: webhookPath(row.id) };
      return {
        title: `Disable “${webhookName(row)}”`,
        button: "Disable webhook",
        isDanger: true,
        dialog: (
          <p>
            No events are sent until you enable the webhook again. Pending deliveries are cancelled.
            You can redeliver them later.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) =>
      updateWebhook(ctx, tx, params.id, composed({ enabled: false }), actor),
    done: (_, { params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was disabled.",
    }),
  });

  area.action("/:id/enable", {
    run: (tx, { params }, actor) =>
      updateWebhook(ctx, tx, params.id, composed({ enabled: true }), actor),
    done: (_, { params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was enabled. To send cancelled deliveries, redeliver them.",
    }),
  });

  area.deletion({
    noun: "webhook",
    find: rowOf,
    nameOf: webhookName,
    consequences: () => (
      <p>
        No more events are sent, pending deliveries are cancelled, and the secret is deleted. This
        cannot be undone. To pause the webhook, disable it instead.
      </p>
    ),
    remove: (tx, { id }, actor) => deleteWebhook(ctx, tx, id, actor),
  });

  addConfirmationRoutes(area, deps);
  addDeliveryRoutes(area, deps);
  return area.routes;
}

/** Settings → Webhooks. */
function WebhookList({ list, now }: { list: WebhookListing; now: number }) {
  const { webhooks, order, nextBefore, isContinued } = list;
  const isFirstUse = webhooks.length === 0 && !isContinued;
  const first = withQuery(WEBHOOKS_PATH, { sort: order });
  return (
    <>
      <PageHead
        title="Webhooks"
        crumbs={crumbsAbove(WEBHOOKS_PATH)}
        isList
        actions={isFirstUse ? undefined : <CreateLink />}
      >
        Endpoints that receive events: your programs, or channels such as Slack.
      </PageHead>
      {webhooks
        .filter(({ record: { row } }) => row.disabledReason !== null)
        .map(({ record: { row } }) => (
          <DisabledNotice key={row.id} row={row} now={now} isLink />
        ))}
      {webhooks.length > 0 ? (
        <OrderedTable
          home={WEBHOOKS_PATH}
          order={order}
          usual="Newest first"
          valuesBy={ORDERS}
          caption="Webhooks"
          columns={columnsOf(list, now)}
          entries={webhooks}
          isOver={({ record: { row } }) => !row.enabled}
        />
      ) : isFirstUse ? (
        <EmptyState title="No webhooks yet" action={<CreateLink />}>
          A webhook sends events of incidents, maintenance, components and monitors to your program,
          or to a channel in Slack, Discord, Teams or Telegram.
        </EmptyState>
      ) : (
        <NoOlder what="webhooks" newest={first} isOrdered={order !== undefined} />
      )}
      <Pagination
        newestHref={isContinued ? first : undefined}
        olderHref={nextBefore && withQuery(WEBHOOKS_PATH, { sort: order, before: nextBefore })}
        isOrdered={order !== undefined}
      />
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={NEW_WEBHOOK_PATH} kind="primary">
      <Icon name="plus" />
      Create webhook
    </ButtonLink>
  );
}

/** Parts of an endpoint by which the list can be ordered. */
interface OrderedWebhook {
  record: Pick<ListedWebhook["record"], "row">;
  backlog: ListedWebhook["backlog"];
}

const ORDERS: Readonly<Record<string, (webhook: OrderedWebhook) => string | number | null>> = {
  name: ({ record }) => webhookName(record.row),
  state: ({ record: { row } }) =>
    row.disabledReason !== null ? 3 : row.failingSince !== null ? 2 : row.enabled ? 0 : 1,
  pending: ({ backlog }) => backlog?.count ?? 0,
};

function columnsOf(list: WebhookListing, now: number): DataColumn<ListedWebhook>[] {
  return [
    {
      label: "Webhook",
      sort: { key: "name" },
      cell: ({ record: { row } }) => (
        <>
          <RowLink href={webhookPath(row.id)}>{webhookName(row)}</RowLink>
          <CellNote>{FORMATS[row.format].label}</CellNote>
        </>
      ),
    },
    {
      label: "Events",
      cell: ({ record: { row } }) => (
        <>
          <OneLine>{describeEvents(row)}</OneLine>
          {row.pageId === null ? null : (
            <CellNote>
              <a href={pagePath(row.pageId)}>{pageNameOf(row.pageId, list)}</a>
            </CellNote>
          )}
        </>
      ),
    },
    {
      label: "State",
      sort: { key: "state", kind: "state" },
      cell: ({ record }) => <WebhookState record={record} />,
    },
    {
      label: "Succeeded, 24\u00a0h",
      cell: ({ record }) => <SuccessRate rate={record.successRate} />,
    },
    {
      label: "Pending",
      sort: { key: "pending", kind: "number" },
      cell: ({ backlog }) => <Waiting backlog={backlog} now={now} />,
    },
    { label: "Last error", cell: ({ failure }) => <LastError failure={failure} now={now} /> },
  ];
}

/** Returns "All events", or the number of event types. */
function describeEvents({ events }: WebhookRow): string {
  return events.includes(ANY_EVENT) ? "All events" : plural(events.length, "event");
}

function pageNameOf(id: string, { pages }: WebhookListing): string {
  return pages.find((page) => page.id === id)?.name ?? id;
}

/** Number of endpoints on one screen, and of deliveries of one endpoint. */
const WEBHOOKS_PER_SCREEN = 50;

/** One screen of the list of endpoints. */
interface WebhookListing extends ListPosition {
  webhooks: readonly ListedWebhook[];
  /** Order that the address names; undefined for the newest first. */
  order: string | undefined;
  pages: readonly PageRow[];
}

/**
 * Reads the endpoints for a query, by default the newest first, after the one with the id `before`. All rows are read,
 * as for the overview; the figures only of those shown. `now` is in unix ms.
 */
function readWebhookList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): WebhookListing {
  const order = readOrder(query, Object.keys(ORDERS));
  const before = query["before"] || undefined;
  const { backlogs } = deliveryHealth(reader, now);
  const backlogBy = new Map(backlogs.map((backlog) => [backlog.webhookId, backlog]));
  const rows = listAllWebhooks(reader, {}).toReversed();
  const all = inOrder(
    rows.map((row) => ({ record: { row }, backlog: backlogBy.get(row.id) })),
    order,
    ORDERS,
  ).map(({ record }) => record.row.id);
  const start =
    order === undefined && before !== undefined
      ? all.filter((id) => id >= before).length
      : all.indexOf(before ?? "") + 1;
  const shown = all.slice(start, start + WEBHOOKS_PER_SCREEN);
  return {
    webhooks: shown.map((id) => withHealth(reader, getWebhookRecord(reader, id, now), backlogs)),
    order,
    pages: readPages(reader),
    nextBefore: start + WEBHOOKS_PER_SCREEN < all.length ? shown.at(-1) : undefined,
    isContinued: start > 0,
  };
}

interface RevealedSecretProps {
  title: string;
  /** Endpoint with the new secret. */
  row: WebhookRow;
  /**
   * Identifies this rendering of the test button, so that a repeated click sends one test event.
   */
  formToken: string;
  now: number;
}

/** Screen that shows an endpoint's secret once, with instructions. */
function RevealedSecret({ title, row, formToken, now }: RevealedSecretProps) {
  const { secret, previousSecretEndsAt } = row;
  const { label } = FORMATS[row.format];
  const name = webhookName(row);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[...crumbsTo(WEBHOOKS_PATH), { href: webhookPath(row.id), label: name }]}
      />
      <Notice tone="degraded" title="This secret is shown only once">
        {isForPeople(row.format)
          ? `Every request is signed with this secret. ${label} does not check signatures, so you need it only for a program in between that does.`
          : "Every request is signed with this secret, so that your program can verify it. If you lose the secret, rotate it."}
      </Notice>
      <Card title={name}>
        <Secret text={secret} copyLabel="Copy secret" />
        {previousSecretEndsAt === null ? null : (
          <p class="muted">
            The previous secret also signs requests, and stops{" "}
            <RelativeTime at={toIso(previousSecretEndsAt)} now={now} />. Update the receiver before
            that.
          </p>
        )}
      </Card>
      <Card title="Verify in a shell">
        <p class="muted">
          Signatures follow Standard Webhooks. standardwebhooks.com lists libraries for most
          languages. Like these libraries, reject timestamps that are more than five minutes old.
        </p>
        <CodeBlock text={shellSnippet(secret, now)} copyLabel="Copy" isSecret />
      </Card>
      <Card title="Verify in JavaScript">
        <CodeBlock text={javaScriptSnippet(secret)} copyLabel="Copy" isSecret />
      </Card>
      <Actions>
        <PostButton action={webhookPath(row.id, "test")} name="form" value={formToken}>
          Send test event
        </PostButton>
        <ButtonLink href={webhookPath(row.id)}>Open webhook</ButtonLink>
      </Actions>
    </>
  );
}

interface MadeWithoutSecret {
  row: WebhookRow;
  /** Question to the address; undefined if it needs no answer. */
  question: Question | undefined;
  formToken: string;
  now: number;
}

/** Screen after the creation of an endpoint for e-mail, which has no secret. */
function madeWithoutSecret({ row, question, formToken, now }: MadeWithoutSecret): Screen {
  const address = maskAddress(recipientOf(row.url));
  const title = "Webhook created";
  return {
    title,
    children: (
      <>
        <PageHead title={title} crumbs={crumbsTo(WEBHOOKS_PATH)} />
        <Card title={webhookName(row)}>
          <p>
            {question
              ? `Events are sent once the owner of ${address} has opened a link and confirmed. ${describeQuestion(question, now)}`
              : `Events are mailed to ${address} from now on.`}
          </p>
        </Card>
        <Actions>
          <ButtonLink href={webhookPath(row.id)} kind="primary">
            Open webhook
          </ButtonLink>
          {question ? null : (
            <PostButton action={webhookPath(row.id, "test")} name="form" value={formToken}>
              Send test event
            </PostButton>
          )}
        </Actions>
      </>
    ),
  };
}

/** Time for which a screen waits for the result of a test, in milliseconds. */
const WAIT_MS = 2 * SECOND_MS;

/** Messages about a test event by the status of its delivery. */
const TEST_RESULTS: Readonly<Record<DeliveryStatus, string>> = {
  pending: "The test event is queued. No result yet.",
  delivered: "The test event was delivered.",
  failed: "The test event was not delivered. The response shows the reason.",
  cancelled: "The test event was cancelled.",
  superseded: "The test event was not sent, because a newer message arrived first.",
};

/**
 * Returns a new delivery after its first attempt, or after two seconds without a result. Does not wait if
 * nothing delivers in this process.
 */
async function awaitFirstTry(
  { clock, db, signals }: Ctx,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRecord> {
  const read = () => getDelivery(db, webhookId, deliveryId);
  if (!signals.deliveriesQueued.hasListeners) return read();
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = signals.deliveryTried.on((id) => {
    if (id === deliveryId) resolve();
  });
  const timer = clock.after(WAIT_MS, resolve);
  try {
    if (read().row.tries === 0) await promise;
    return read();
  } finally {
    timer.cancel();
    unsubscribe();
  }
}

/** Form of a confirmation without fields. */
const CONFIRM_FORM = defineForm<object>()({});

/**
 * Returns a shell script that verifies a message, with an example whose signature is valid. The
 * script needs OpenSSL only. `now` is in unix ms.
 */
export function shellSnippet(secret: string, now: number): string {
  const id = "evt_example";
  const body = '{"type":"webhook.test","timestamp":"2026-01-01T12:00:00.000Z","data":{}}';
  const headers = signatureHeaders({ id, at: now, body, secrets: [secret] });
  return `secret='${secret}'
# An example. Replace it with the three headers and the body that you received.
id='${id}' timestamp='${headers["webhook-timestamp"]}'
signature='${headers["webhook-signature"]}'
body='${body}'

key=$(printf %s "\${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
expected=$(printf %s.%s.%s "$id" "$timestamp" "$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
case " $signature " in
  *" v1,$expected "*) echo 'The signature is valid.' ;;
  *) echo 'The signature is not valid.'; false ;;
esac`;
}

/** Returns a server for Node.js or Bun that accepts only messages signed with the secret. */
export function javaScriptSnippet(secret: string): string {
  return `// npm install standardwebhooks, then save this as receiver.mjs and run it.
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook("${secret}");

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = webhook.verify(Buffer.concat(chunks), request.headers);
    console.log(event.type, event.data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(3000);`;
}
