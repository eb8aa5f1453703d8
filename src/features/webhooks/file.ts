/*
 * Webhooks in the configuration file: their schema, `validateDeclaredWebhook`, `applyWebhooks` and `exportWebhooks`. A
 * field that is left out has its default. A secret that is null or left out keeps its stored value.
 */
import { Kind, type Static, type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, invalidFields, pointer } from "../../base/errors";
import { Nullable, Text } from "../../base/schema";
import { RefText } from "../../base/texts";
import {
  ANOTHER_SECRET,
  concealedSecrets,
  declaredSchema,
  isSecret,
  isSecretField,
  mapSecrets,
  MISSING_SECRET,
  planSecrets,
  Secret,
  SECRET,
} from "../../base/secrets";
import { FieldErrors, schemaErrors, validate } from "../../base/validation";
import {
  ANY_EVENT,
  ANY_MONITOR,
  GROUP_SECONDS,
  isForPeople,
  type WebhookFormat,
} from "../../base/webhook";
import type { Reader, Tx } from "../../db/statements";
import { type ApplyRun, type Entry, PreviousRefs, RowsByRef } from "../apply/run";
import { findPageBySlug, listAllPages, type PageRow } from "../pages/store";
import { findQuestion } from "./alerts/confirmation";
import { ELLIPSIS, FORMATS, isUrlSecret } from "./formats/index";
import { monitorRefs } from "./monitors";
import { isDisabledByPerson } from "./rules";
import { findWebhook, listAllWebhooks, type WebhookRow } from "./store";
import {
  createWebhook,
  deleteWebhook,
  readMonitors,
  rotateSecret,
  storedUrl,
  updateWebhook,
  validateEvents,
  validateSecret,
} from "./webhooks";
import { CreateWebhookBody, UpdateWebhookBody } from "./wire";

const {
  url: Url,
  settings: _settings,
  secret: SigningSecret,
  ...Open
} = CreateWebhookBody.properties;

/**
 * A webhook in a file. It has no name: a missing ref is made from the description. The format's own settings are
 * validated separately.
 */
export const FileWebhook = Type.Object(
  {
    ref: Type.Optional(RefText),
    ...Open,
    url: Type.Optional(Nullable(Url)),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    secret: Type.Optional(Nullable(SigningSecret)),
    previous_refs: PreviousRefs,
  },
  { additionalProperties: false },
);
export type FileWebhook = Static<typeof FileWebhook>;

/** Returns the schema of settings as they are written: secrets can contain variables, or be empty to be removed. */
export function webhookSettingsSchema(format: WebhookFormat): TSchema {
  const fields = Object.entries<TSchema>(FORMATS[format].settings.properties).map(
    ([name, schema]) => {
      if (!isSecret(schema) || schema[Kind] === "Record") return [name, schema];
      const variable = Text({ pattern: "^$|\\$\\{" });
      return [name, Type.Optional(Type.Union([Nullable(schema), variable]))];
    },
  );
  return Type.Object(Object.fromEntries(fields), { additionalProperties: false });
}

/**
 * Returns errors that the schema of a declared endpoint cannot express. The addresses of its URL
 * are checked later.
 */
export function validateDeclaredWebhook(webhook: FileWebhook): readonly FieldError[] {
  const errors = new FieldErrors();
  const { url, settings = {}, secret, events = [ANY_EVENT] } = webhook;
  const format = formatOf(webhook);
  if (typeof url === "string" && url.includes(ELLIPSIS)) {
    errors.add(["url"], "is the shortened URL: enter the whole URL, or null to keep it");
  }
  if (typeof url !== "string" && !isUrlSecret(format)) {
    errors.add(["url"], "is required: only a secret URL can be left out to keep it");
  }
  errors.addAll(["settings"], schemaErrors(declaredSchema(FORMATS[format].settings), settings));
  validateSecret(errors, secret ?? undefined);
  validateEvents(errors, events);
  return errors.all;
}

function formatOf({ format = "standard" }: FileWebhook): WebhookFormat {
  return format;
}

/** Returns the endpoint with each secret replaced by the result of `change`, which receives the secret and its pointer. */
export function mapWebhookSecrets(
  webhook: FileWebhook,
  change: (text: string, at: string) => string,
): FileWebhook {
  const format = formatOf(webhook);
  const schema = Type.Object({
    url: isUrlSecret(format) ? Secret({}) : Url,
    secret: SigningSecret,
  });
  const mapped = mapSecrets(schema, webhook, change);
  // By themselves, since secrets of a template are a record.
  const { settings } = mapped;
  if (typeof settings !== "object") return mapped;
  const changeSetting = (text: string, at: string) =>
    change(text, pointer("settings") + at.slice(1));
  return { ...mapped, settings: mapSecrets(FORMATS[format].settings, settings, changeSetting) };
}

/** A stored endpoint with its page. */
interface StoredWebhook {
  row: WebhookRow;
  /** Page of its events; null for every page, undefined if this transaction deleted the page. */
  page: PageRow | null | undefined;
}

/** Lists all endpoints, oldest first. */
export function listStoredWebhooks(reader: Reader): StoredWebhook[] {
  const rows = listAllWebhooks(reader, {});
  if (rows.every(({ pageId }) => pageId === null)) return rows.map((row) => ({ row, page: null }));
  const pages = new Map(listAllPages(reader, {}).map((page) => [page.id, page]));
  return rows.map((row) => ({ row, page: row.pageId === null ? null : pages.get(row.pageId) }));
}

type WebhookWithRef = StoredWebhook & { ref: string };
type WebhookEntry = Entry<FileWebhook, WebhookWithRef>;

/** Applies webhooks, after the pages and monitors. `before` are those before monitors were deleted. */
export function applyWebhooks(
  run: ApplyRun,
  webhooks: readonly FileWebhook[],
  before: readonly StoredWebhook[],
): void {
  const stored = before.map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<WebhookWithRef>(stored);
  const entries = webhooks.map((item, index) => rows.match(item, ["webhooks", index]));
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("webhook", stored, entries, (id) =>
    deleteWebhook(run.ctx, run.tx, id, run.options.actor),
  );
  const known = new Set(entries.map(({ row }) => row?.row.id));
  for (const { row, ref } of stored) {
    if (known.has(row.id) || !findWebhook(run.tx, row)) continue;
    run.noteLostMonitors("webhook", ref, "monitors", row.monitors);
  }
  for (const entry of entries) applyWebhook(run, entry);
}

function applyWebhook(run: ApplyRun, { item, ref, path, row: stored }: WebhookEntry): void {
  const { ctx, tx, options } = run;
  const row = stored?.row;
  const { page, monitors, connection } = run.locatingErrors(path, () => {
    const page = pageOf(tx, item, stored);
    const errors = new FieldErrors();
    const monitors = readMonitors(tx, errors, item.monitors ?? [ANY_MONITOR]);
    errors.throwIfAny();
    const connection = desiredConnection(item, row);
    errors.addAll([], connection.missing);
    errors.throwIfAny();
    return { page, monitors, connection };
  });
  const { url, secret } = connection;
  const fields = desiredFields(item, row);
  const input = { ...fields, page: page?.id ?? null, monitors, ...(url !== undefined && { url }) };
  const applied = run.apply<WebhookRow, Record<string, unknown>>({
    noun: "webhook",
    label: stored?.ref ?? ref,
    address: ref,
    path,
    row,
    current: () => ({
      ...(stored && presentFields(stored)),
      monitors: row && run.refsOfMonitors(row.monitors),
      ...connection.current,
    }),
    desired: {
      ref,
      ...fields,
      page: page?.slug ?? null,
      monitors: run.refsOfMonitors(monitors),
      ...connection.desired,
    },
    create() {
      const { creation: settings } = connection;
      const made = { ...input, settings, ...(secret !== undefined && { secret }) };
      const body = validate(CreateWebhookBody, made);
      return createWebhook(ctx, tx, body, options.actor, { ref, managedBy: "apply" }).row;
    },
    update({ id }) {
      const body = validate(UpdateWebhookBody, { ...input, settings: connection.change });
      const changed = updateWebhook(ctx, tx, id, body, options.actor, { ref }).row;
      // The earlier secret signs for 24 hours.
      return secret === undefined || secret === changed.secret
        ? changed
        : rotateSecret(ctx, tx, id, options.actor, secret).row;
    },
  });
  const question = applied.enabled ? findQuestion(tx, applied) : undefined;
  if (question) run.outcome.unconfirmed.push({ webhook: applied.ref, question });
}

/** Returns the page of a webhook, also by an earlier slug; null for all pages. */
function pageOf(tx: Tx, { page: slug }: FileWebhook, stored?: WebhookWithRef): PageRow | null {
  if (slug === undefined || slug === null) return null;
  if (stored?.page?.slug === slug) return stored.page;
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
}

function presentFields({ row, page }: StoredWebhook): Record<string, unknown> {
  const { ref, description, events, format, groupSeconds, enabled, pageId } = row;
  return {
    ref,
    description,
    events,
    format,
    group_seconds: groupSeconds,
    enabled,
    page: page ? page.slug : pageId,
  };
}

/** Returns the desired fields that are no references and no secrets. One that was disabled automatically stays disabled. */
function desiredFields(webhook: FileWebhook, row: WebhookRow | undefined) {
  const isDisabledAutomatically = row !== undefined && !row.enabled && !isDisabledByPerson(row);
  return {
    description: webhook.description ?? null,
    events: webhook.events ?? [ANY_EVENT],
    format: formatOf(webhook),
    group_seconds: webhook.group_seconds ?? GROUP_SECONDS.default,
    enabled: isDisabledAutomatically ? false : (webhook.enabled ?? true),
  };
}

/**
 * Desired URL, settings and signing secret of an endpoint. `current` and `desired` hold both states
 * by field, without secrets, for comparison and display.
 */
interface DesiredConnection {
  /** New URL; undefined to keep it. */
  url: string | undefined;
  /** Settings to create a new endpoint with. */
  creation: Record<string, unknown>;
  /** Changed settings of an existing endpoint. */
  change: Record<string, unknown>;
  /** New signing secret; undefined to keep it, or to generate one that no receiver needs. */
  secret: string | undefined;
  current: Record<string, unknown>;
  desired: Record<string, unknown>;
  /** Errors for secrets to keep that are not stored. */
  missing: FieldError[];
}

/** Returns the desired state of a new endpoint, or of an existing one. */
function desiredConnection(webhook: FileWebhook, row: WebhookRow | undefined): DesiredConnection {
  const connection: DesiredConnection = {
    url: webhook.url ?? undefined,
    creation: {},
    change: {},
    secret: webhook.secret ?? undefined,
    current: {},
    desired: {},
    missing: [],
  };
  addUrl(connection, webhook, row);
  addSettings(connection, webhook, row);
  addSecret(connection, webhook, row);
  return connection;
}

function addUrl(
  connection: DesiredConnection,
  webhook: FileWebhook,
  row: WebhookRow | undefined,
): void {
  const { url, current, desired, missing } = connection;
  const isSecret = isUrlSecret(formatOf(webhook));
  current["url"] = row && (isUrlSecret(row.format) ? SECRET : row.url);
  if (url === undefined) {
    desired["url"] = current["url"];
    if (!row) missing.push({ pointer: pointer("url"), detail: MISSING_SECRET });
  } else if (!isSecret) desired["url"] = storedUrl(formatOf(webhook), url);
  else desired["url"] = url === row?.url ? current["url"] : ANOTHER_SECRET;
}

function addSettings(
  { creation, change, current, desired, missing }: DesiredConnection,
  webhook: FileWebhook,
  row: WebhookRow | undefined,
): void {
  const format = formatOf(webhook);
  const { settings: schema } = FORMATS[format];
  const { settings = {} } = webhook;
  // Another format starts without settings.
  const before: Readonly<Record<string, unknown>> = row?.format === format ? row.settings : {};
  const secrets = planSecrets(schema, settings, before);
  for (const name of Object.keys(schema.properties)) {
    const [declared, stored] = [settings[name], before[name]];
    if (isSecretField(schema, name)) {
      if (name in secrets.creation) creation[name] = secrets.creation[name];
      if (name in secrets.change) change[name] = secrets.change[name];
      continue;
    }
    current[`settings.${name}`] = stored ?? null;
    desired[`settings.${name}`] = declared ?? null;
    if (declared !== undefined) creation[name] = declared;
    if (!Bun.deepEquals(declared, stored)) change[name] = declared ?? null;
  }
  // By the path of each secret, such as `token` or `secrets.KEY`.
  for (const path of Object.keys(secrets.desired)) {
    current[`settings.${path}`] = secrets.current[path];
    desired[`settings.${path}`] = secrets.desired[path];
  }
  const errors = new FieldErrors();
  errors.addAll(["settings"], secrets.missing);
  missing.push(...errors.all);
}

function addSecret(
  { secret, current, desired, missing }: DesiredConnection,
  webhook: FileWebhook,
  row: WebhookRow | undefined,
): void {
  current["secret"] = SECRET;
  desired["secret"] = secret === undefined || secret === row?.secret ? SECRET : ANOTHER_SECRET;
  // A generated secret would be unknown to the receiver.
  const isNeeded = webhook.secret === null || isVerified(formatOf(webhook));
  if (!row && secret === undefined && isNeeded) {
    missing.push({ pointer: pointer("secret"), detail: MISSING_SECRET });
  }
}

/**
 * Returns true if receivers of this format verify signatures and need the signing secret. Formats
 * for people have none.
 */
function isVerified(format: WebhookFormat): boolean {
  return !isForPeople(format);
}

/**
 * Returns the webhooks of these pages for the file, oldest first, and with `every` those for all
 * pages.
 */
export function exportWebhooks(
  reader: Reader,
  pages: readonly PageRow[],
  { every }: { every: boolean },
): FileWebhook[] {
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  return listStoredWebhooks(reader).flatMap(({ row }) => {
    const slug = row.pageId === null ? null : slugs.get(row.pageId);
    if (slug === undefined || (slug === null && !every)) return [];
    return [
      {
        ref: row.ref,
        ...declareWebhook(row, slug, monitorRefs(reader, row.monitors)),
      },
    ];
  });
}

/**
 * Returns a stored endpoint as a configuration file describes it, with null for secrets. `monitors` are the
 * refs of its monitors, or `ANY_MONITOR`. An
 * endpoint that was disabled automatically is described as enabled, since the file holds intent,
 * not state.
 */
function declareWebhook(
  row: WebhookRow,
  pageSlug: string | null,
  monitors: readonly string[],
): FileWebhook {
  const { format, description, events, groupSeconds } = row;
  const concealed = concealedSecrets(FORMATS[format].settings, row.settings);
  const settings = { ...row.settings, ...concealed };
  const isDefault = events.length === 1 && events[0] === ANY_EVENT;
  return {
    url: isUrlSecret(format) ? null : row.url,
    ...(description !== null && { description }),
    ...(!isDefault && { events: events as NonNullable<FileWebhook["events"]> }),
    ...(pageSlug !== null && { page: pageSlug }),
    ...(!monitors.includes(ANY_MONITOR) && { monitors: [...monitors] }),
    ...(format !== "standard" && { format }),
    ...(groupSeconds !== GROUP_SECONDS.default && { group_seconds: groupSeconds }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(isDisabledByPerson(row) && { enabled: false }),
    ...(isVerified(format) && { secret: null }),
  };
}
