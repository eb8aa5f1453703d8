import { NEWEST } from "../../../base/ids";
import { MINUTE_MS } from "../../../base/time";
import { ANY_MONITOR, DELIVERY_STATUSES, type DeliveryStatus } from "../../../base/webhook";
import type { Reader } from "../../../db/statements";
import { pageIdOf } from "../../monitors/engine/transitions";
import { listComponentsOfMonitors } from "../../monitors/store";
import { findPage, type PageRow } from "../../pages/store";
import { findQuestion, type Question } from "../alerts/confirmation";
import { listDeliveries } from "../deliveries";
import { type Backlog, deliveryHealth, type Failure, lastFailure } from "../health";
import { listMonitorsById } from "../monitor-store";
import { listAllWebhooks, type WebhookRow } from "../store";
import { type DeliveryRecord, getWebhookRecord, webhookName, type WebhookRecord } from "../records";

const DELIVERIES_PER_SCREEN = 25;

/** Endpoint with its waiting deliveries and last failure. */
export interface ListedWebhook {
  record: WebhookRecord;
  backlog: Backlog | undefined;
  failure: Failure | undefined;
}

/** Position of one screen in a list. */
export interface ListPosition {
  /** Last id of this screen if more follow. */
  nextBefore: string | undefined;
  /** True for every screen but the first. */
  isContinued: boolean;
}

interface SelectedMonitor {
  id: string;
  name: string;
  /** True if the endpoint is for a page to which the events of the monitor do not belong. */
  isOutside: boolean;
}

/** Endpoint with one screen of its deliveries. */
export interface WebhookView extends ListedWebhook, ListPosition {
  /** Page whose events the endpoint receives; null for all pages. */
  page: PageRow | null;
  /** Question to the address of an endpoint for e-mail; undefined if it needs no answer. */
  question: Question | undefined;
  /** Monitors whose events the endpoint receives, by name; null for all. */
  monitors: readonly SelectedMonitor[] | null;
  deliveries: readonly DeliveryRecord[];
  /** Status of the listed deliveries; undefined for all of them. */
  status: DeliveryStatus | undefined;
}

/**
 * Reads an endpoint and the deliveries for a query. Invalid parameters are ignored. Throws
 * `not_found`.
 */
export function readWebhookView(
  reader: Reader,
  id: string,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): WebhookView {
  const record = getWebhookRecord(reader, id, now);
  const { pageId, monitors } = record.row;
  const status = DELIVERY_STATUSES.find((one) => one === query["show"]);
  const before = query["before"] || undefined;
  const rows = listDeliveries(reader, {
    webhookId: id,
    status: status ?? null,
    before: before ?? NEWEST,
    limit: DELIVERIES_PER_SCREEN + 1,
  });
  const deliveries = rows.slice(0, DELIVERIES_PER_SCREEN);
  return {
    ...withHealth(reader, record, deliveryHealth(reader, now).backlogs),
    page: (pageId !== null && findPage(reader, { id: pageId })) || null,
    question: findQuestion(reader, record.row),
    monitors: monitors.includes(ANY_MONITOR)
      ? null
      : readSelectedMonitors(reader, monitors, pageId),
    deliveries,
    status,
    nextBefore: rows.length > DELIVERIES_PER_SCREEN ? deliveries.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}

/** Reads the selected monitors of an endpoint for a page, or for all pages (null), by name. */
function readSelectedMonitors(
  reader: Reader,
  ids: readonly string[],
  pageId: string | null,
): SelectedMonitor[] {
  const monitorIds = JSON.stringify(pageId === null ? [] : ids);
  const components = Map.groupBy(
    listComponentsOfMonitors(reader, { monitorIds }),
    ({ monitorId }) => monitorId,
  );
  const isOutside = (id: string) =>
    pageId !== null && pageIdOf({ components: components.get(id) ?? [] }) !== pageId;
  return listMonitorsById(reader, ids)
    .map(({ id, name }) => ({ id, name, isOutside: isOutside(id) }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

export function withHealth(
  reader: Reader,
  record: WebhookRecord,
  backlogs: readonly Backlog[],
): ListedWebhook {
  const { id } = record.row;
  const backlog = backlogs.find(({ webhookId }) => webhookId === id);
  return { record, backlog, failure: lastFailure(reader, id) };
}

/**
 * Waiting time in ms above which a delivery has failed more than twice, so that the failure is not
 * brief.
 */
const LONG_WAIT_MS = 10 * MINUTE_MS;

/** Endpoint that receives no events. */
export interface DeliveryTrouble {
  id: string;
  name: string;
  /** Time since which events do not reach it, in unix ms. */
  since: number;
  /** Reason for the automatic disabling; undefined if enabled. */
  disabledReason?: string;
  /** Number of waiting deliveries, and the time of the oldest in unix ms. */
  waiting?: { count: number; oldestAt: number };
}

/**
 * Reads the endpoints that were disabled automatically, and those with a delivery older than
 * `LONG_WAIT_MS`.
 */
export function readDeliveryTroubles(reader: Reader, now: number): DeliveryTrouble[] {
  const { backlogs } = deliveryHealth(reader, now);
  const long = backlogs.filter(({ oldestAt }) => now - oldestAt > LONG_WAIT_MS);
  return listAllWebhooks(reader, {}).flatMap((row) =>
    troubleOf(
      row,
      long.find(({ webhookId }) => webhookId === row.id),
    ),
  );
}

function troubleOf(row: WebhookRow, waiting: DeliveryTrouble["waiting"]): DeliveryTrouble[] {
  const { id, enabled, disabledReason, disabledAt, failingSince, updatedAt } = row;
  const name = webhookName(row);
  if (enabled) {
    return waiting ? [{ id, name, since: failingSince ?? waiting.oldestAt, waiting }] : [];
  }
  if (disabledReason === null) return [];
  return [{ id, name, since: disabledAt ?? updatedAt, disabledReason }];
}
