import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { FieldErrors } from "../../base/validation";
import type { Actor } from "../../base/actor";
import { listAllPages, type PageRow } from "../pages/store";
import { ANY_EVENT, GROUP_SECONDS } from "../../base/webhook";
import { createWebhook } from "./create";
import { type DeclaredWebhook, formatOf, isDisabledByPerson } from "./declared";
import { desiredConnection } from "./declared-secrets";
import { rotateSecret, updateWebhook } from "./update";
import { listAllWebhooks, type WebhookRow } from "./store";

/** A stored endpoint with its page. */
export interface StoredWebhook {
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

/** Identity of a file's endpoint, and the page and the monitors whose events it receives. */
interface WebhookAssignment {
  ref: string;
  /** Null for every page. */
  page: PageRow | null;
  /** Ids of monitors, or `ANY_MONITOR`. */
  monitorIds: string[];
  /** Returns the refs of monitors. */
  refsOf: (ids: readonly string[]) => string[];
}

/**
 * Desired state of an endpoint by field, for comparison and display, with the functions that create
 * and change it.
 */
interface WebhookPlan {
  /** Secrets are replaced by a marker. */
  current: Readonly<Record<string, unknown>>;
  desired: Readonly<Record<string, unknown>>;
  /** Throws as `createWebhook` does. */
  create(ctx: Ctx, tx: Tx, actor: Actor): WebhookRow;
  /**
   * Throws as `updateWebhook` does. A changed secret is rotated: the earlier one signs for 24
   * hours.
   */
  update(ctx: Ctx, tx: Tx, actor: Actor): WebhookRow;
}

/**
 * Returns the plan for a new or existing endpoint. One that was disabled automatically stays
 * disabled. Throws `validation_failed` for a secret to keep that is not stored.
 */
export function planWebhook(
  webhook: DeclaredWebhook,
  { ref, page, monitorIds, refsOf }: WebhookAssignment,
  stored: StoredWebhook | undefined,
): WebhookPlan {
  const row = stored?.row;
  const connection = desiredConnection(webhook, row);
  const errors = new FieldErrors();
  errors.addAll([], connection.missing);
  errors.throwIfAny();
  const format = formatOf(webhook);
  const {
    description = null,
    events = [ANY_EVENT],
    group_seconds = GROUP_SECONDS.default,
  } = webhook;
  const isDisabledAutomatically = row !== undefined && !row.enabled && !isDisabledByPerson(row);
  const enabled = isDisabledAutomatically ? false : (webhook.enabled ?? true);
  const open = { description, events, format, group_seconds, enabled };
  const input = {
    ...open,
    page: page?.id ?? null,
    monitors: monitorIds,
    ...(connection.url !== undefined && { url: connection.url }),
  };
  return {
    current: stored
      ? { ...currentOf(stored), monitors: refsOf(stored.row.monitors), ...connection.current }
      : {},
    desired: {
      ref,
      ...open,
      page: page?.slug ?? null,
      monitors: refsOf(monitorIds),
      ...connection.desired,
    },
    create(ctx, tx, actor) {
      const { url } = connection;
      if (url === undefined) throw new Error("an endpoint cannot be created without its URL");
      const secret = connection.secret === undefined ? {} : { secret: connection.secret };
      const made = { ...input, url, settings: connection.creation, ...secret };
      return createWebhook(ctx, tx, made, actor, { ref, managedBy: "apply" }).row;
    },
    update(ctx, tx, actor) {
      if (!row) throw new Error("a missing endpoint cannot be changed");
      const change = { ...input, settings: connection.change };
      const changed = updateWebhook(ctx, tx, row.id, change, actor, { ref }).row;
      const { secret } = connection;
      if (secret === undefined || secret === changed.secret) return changed;
      return rotateSecret(ctx, tx, row.id, actor, secret).row;
    },
  };
}

function currentOf({ row, page }: StoredWebhook): Record<string, unknown> {
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
