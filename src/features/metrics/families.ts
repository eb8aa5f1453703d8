import type { Clock } from "../../base/clock";
import type { MailClass } from "../../base/mail-address";
import { sum } from "../../base/numbers";
import { CHECK_OUTCOMES, MONITOR_STATES, SUPPORTED_TYPES } from "../../base/status";
import { SECOND_MS } from "../../base/time";
import type { Db } from "../../db/database";
import type { Reader } from "../../db/statements";
import { VERSION } from "../../version";
import type { Alarms } from "../alarms/alarms";
import { ALARM_KINDS } from "../alarms/kinds";
import type { BucketFigures, Limiter } from "../limits/limiter";
import type { SenderFigures } from "../mail/sending/sender";
import { MAIL_RESULTS } from "../mail/sending/results";
import { countSuppressedAddresses } from "../mail/suppressions";
import { waitingMails } from "../mail/waiting";
import { listLocations } from "../locations/store";
import { DELAY_BOUNDS_MS, type MonitoringFigures } from "../monitors/engine/engine";
import type { Monitoring } from "../monitors/monitoring";
import { countMonitorsByState } from "../monitors/store";
import { SIGN_UP_RESULTS, type SignUpFigures } from "../subscribers/sign-up";
import { countSubscribers } from "../subscribers/store";
import { type DelivererFigures, TRY_OUTCOMES } from "../webhooks/deliver/deliverer";
import { deliveryHealth } from "../webhooks/health";
import { listAllWebhooks } from "../webhooks/store";
import { type MetricFamily, single } from "./metrics";

/** Metric of the alarms, each with 1 while its condition holds. */
export function alarmFamilies(alarms: Alarms): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_fleet_alarm",
      help: "1 for each kind of alarm whose condition holds, 0 for the others.",
      labelNames: ["kind"],
      *read() {
        const raised = new Set(alarms.list().map(({ kind }) => kind));
        for (const kind of ALARM_KINDS) yield { labels: { kind }, value: raised.has(kind) ? 1 : 0 };
      },
    },
  ];
}

/** Metric of the headers of identity proxies that were ignored, by reason. */
export function identityFamilies(figures: () => Readonly<Record<string, number>>): MetricFamily[] {
  return [
    {
      type: "counter",
      name: "allclear_identity_headers_ignored_total",
      help: "Requests to the dashboard whose identity headers were ignored, by reason: another peer than an identity proxy, or a missing or wrong secret.",
      labelNames: ["reason"],
      *read() {
        for (const [reason, value] of Object.entries(figures())) {
          yield { labels: { reason }, value };
        }
      },
    },
  ];
}

const CLASSES: readonly MailClass[] = [1, 2, 3];

/** Metrics of mails: the queue and suppressions, read from the database, and the sender's own counters. */
export function mailFamilies(
  reader: Reader,
  clock: Pick<Clock, "now">,
  figures: () => SenderFigures,
): MetricFamily[] {
  const readWaiting = () => CLASSES.map((one) => ({ one, ...waitingMails(reader, one) }));
  /** Counts of one scrape, which the family after the first one uses too. */
  let counted: ReturnType<typeof readWaiting> | undefined;
  return [
    {
      type: "gauge",
      name: "allclear_mail_waiting",
      help: "Pending mails, by class: 1 of accounts and sign-ups, 2 to the team, 3 of mailings.",
      labelNames: ["class"],
      *read() {
        counted = readWaiting();
        for (const { one, count } of counted) {
          yield { labels: { class: String(one) }, value: count };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_mail_oldest_age_seconds",
      help: "Age of the oldest pending mail, by class; 0 without one.",
      labelNames: ["class"],
      *read() {
        const waiting = counted ?? readWaiting();
        counted = undefined;
        for (const { one, oldestAt } of waiting) {
          const ageMs = oldestAt === undefined ? 0 : Math.max(0, clock.now() - oldestAt);
          yield { labels: { class: String(one) }, value: ageMs / SECOND_MS };
        }
      },
    },
    {
      type: "counter",
      name: "allclear_mail_results_total",
      help: "Results of mails, by class. retry: refused for now.",
      labelNames: ["class", "result"],
      *read() {
        const { results } = figures();
        for (const one of CLASSES) {
          for (const result of MAIL_RESULTS) {
            yield { labels: { class: String(one), result }, value: results(one, result) };
          }
        }
      },
    },
    single(
      "gauge",
      "allclear_mail_relay_available",
      "0 while the mail relay is unavailable and mails wait for it, otherwise 1.",
      () => Number(figures().relay.isAvailable),
    ),
    {
      type: "gauge",
      name: "allclear_mail_suppressions",
      help: "Addresses that get no mail of a kind, by reason.",
      labelNames: ["reason"],
      *read() {
        for (const { reason, count } of countSuppressedAddresses(reader)) {
          yield { labels: { reason }, value: count };
        }
      },
    },
  ];
}

/** Delay in ms from which a check counts as late; one of the bounds of the delays. */
const LATE_MS = 1_000;

/** Metrics of the monitors' states. */
export function monitorFamilies(
  reader: Reader,
  monitoring: Pick<Monitoring, "countByLocation">,
): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_monitors",
      help: "Monitors by state.",
      labelNames: ["state"],
      *read() {
        const counts = new Map(
          countMonitorsByState(reader, {}).map(({ state, monitors }) => [state, monitors]),
        );
        for (const state of MONITOR_STATES) {
          yield { labels: { state }, value: counts.get(state) ?? 0 };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_location_monitors",
      help: "Monitors by their state at a location, of those that other locations than the server check.",
      labelNames: ["location", "state"],
      *read() {
        const refs = new Map(listLocations(reader, {}).map(({ id, ref }) => [id, ref]));
        for (const { locationId, state, monitors } of monitoring.countByLocation()) {
          const location = refs.get(locationId) ?? locationId;
          yield { labels: { location, state }, value: monitors };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_location_contact_timestamp_seconds",
      help: "Time of the last call of the agent of a location, exact to 15 seconds.",
      labelNames: ["location"],
      *read() {
        for (const { ref, contactAt } of listLocations(reader, {})) {
          if (contactAt !== null) yield { labels: { location: ref }, value: contactAt / SECOND_MS };
        }
      },
    },
  ];
}

/** Metrics of the check engine's own counters. */
export function checkFamilies(figures: () => MonitoringFigures): MetricFamily[] {
  return [
    {
      type: "counter",
      name: "allclear_monitor_checks_total",
      help: "Finished checks, by monitor type and outcome.",
      labelNames: ["type", "outcome"],
      *read() {
        const { checksByType } = figures();
        for (const type of SUPPORTED_TYPES) {
          for (const outcome of CHECK_OUTCOMES) {
            yield { labels: { type, outcome }, value: checksByType[type][outcome] };
          }
        }
      },
    },
    single("gauge", "allclear_monitor_checks_running", "Running checks.", () => figures().underWay),
    single(
      "counter",
      "allclear_monitor_checks_begun_total",
      "Scheduled checks that were started.",
      () => sum(figures().delays),
    ),
    single(
      "counter",
      "allclear_monitor_checks_late_total",
      "Scheduled checks that started more than a second late.",
      () => sum(figures().delays.slice(DELAY_BOUNDS_MS.indexOf(LATE_MS) + 1)),
    ),
    single(
      "counter",
      "allclear_monitor_check_delay_seconds_total",
      "Total delay of scheduled checks.",
      () => figures().delaySumMs / 1_000,
    ),
    single(
      "gauge",
      "allclear_monitor_results_waiting",
      "Results that wait to be written.",
      () => figures().waiting,
    ),
    single(
      "counter",
      "allclear_monitor_results_dropped_total",
      "Results that were lost because the database could not be written.",
      () => figures().dropped,
    ),
    {
      type: "counter",
      name: "allclear_monitor_checks_discarded_total",
      help: "Results that were discarded and their checks repeated, by reason.",
      labelNames: ["reason"],
      read: () => [{ labels: { reason: "stall" }, value: figures().stalled }],
    },
    single(
      "counter",
      "allclear_monitor_checks_held_total",
      "Failed checks that were held because this server may have lost its network.",
      () => figures().held,
    ),
  ];
}

const STATUSES = ["active", "unsubscribed"] as const;

/** Metrics of subscribers, read from the database, and of sign-ups, by the results of this server's decisions. */
export function subscriberFamilies(reader: Reader, figures: SignUpFigures): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_subscribers",
      help: "Subscribers by e-mail, by status.",
      labelNames: ["status"],
      *read() {
        const counts = countSubscribers(reader);
        for (const status of STATUSES) yield { labels: { status }, value: counts[status] };
      },
    },
    {
      type: "counter",
      name: "allclear_mail_signups_total",
      help: "Sign-ups for e-mail, by the mail that was queued. none: no mail, because of a limit or a suppression.",
      labelNames: ["result"],
      *read() {
        for (const result of SIGN_UP_RESULTS) {
          yield { labels: { result }, value: figures.decided(result) };
        }
      },
    },
  ];
}

/** Metrics of pending deliveries, read from the database. */
export function webhookFamilies(reader: Reader, clock: Pick<Clock, "now">): MetricFamily[] {
  // Read once for both families, since counting a long queue takes time.
  const byWebhook = onceATurn(() => {
    const { backlogs } = deliveryHealth(reader, clock.now());
    return new Map(backlogs.map((backlog) => [backlog.webhookId, backlog]));
  });
  return [
    {
      type: "gauge",
      name: "allclear_webhook_deliveries_waiting",
      help: "Pending deliveries, by webhook id.",
      labelNames: ["webhook"],
      *read() {
        const backlogs = byWebhook();
        for (const webhook of idsOf(reader, backlogs)) {
          yield { labels: { webhook }, value: backlogs.get(webhook)?.count ?? 0 };
        }
      },
    },
    {
      type: "gauge",
      name: "allclear_webhook_oldest_delivery_age_seconds",
      help: "Age of the oldest pending delivery, by webhook id; 0 without one.",
      labelNames: ["webhook"],
      *read() {
        const backlogs = byWebhook();
        for (const webhook of idsOf(reader, backlogs)) {
          const { oldestAt = clock.now() } = backlogs.get(webhook) ?? {};
          const ageMs = Math.max(0, clock.now() - oldestAt);
          yield { labels: { webhook }, value: ageMs / SECOND_MS };
        }
      },
    },
  ];
}

/** Metrics of the deliverer's own counters. */
export function deliveryFamilies(reader: Reader, figures: () => DelivererFigures): MetricFamily[] {
  return [
    {
      type: "counter",
      name: "allclear_webhook_tries_total",
      help: "Finished attempts, by webhook id and outcome. Refused ones are repeated after a pause.",
      labelNames: ["webhook", "outcome"],
      *read() {
        const { tries } = figures();
        for (const webhook of idsOf(reader, tries)) {
          for (const outcome of TRY_OUTCOMES) {
            yield { labels: { webhook, outcome }, value: tries.get(webhook)?.[outcome] ?? 0 };
          }
        }
      },
    },
    single(
      "gauge",
      "allclear_webhook_tries_running",
      "Running attempts.",
      () => figures().underWay,
    ),
  ];
}

/**
 * Returns a function that reads at most once per turn of the event loop, in which all families are
 * read.
 */
function onceATurn<T>(read: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => {
    if (!cached) {
      cached = { value: read() };
      queueMicrotask(() => (cached = undefined));
    }
    return cached.value;
  };
}

/** Returns the ids of all endpoints and of those with counts. */
function idsOf(reader: Reader, counts: ReadonlyMap<string, unknown>): Set<string> {
  return new Set([...listAllWebhooks(reader, {}).map(({ id }) => id), ...counts.keys()]);
}

/** Metrics of the database's size and writes. */
export function databaseFamilies(db: Pick<Db, "figures" | "storage">): MetricFamily[] {
  return [
    single(
      "gauge",
      "allclear_database_writable",
      "1 if changes can be stored, 0 while they are refused.",
      () => (db.storage().fault === undefined ? 1 : 0),
    ),
    single(
      "gauge",
      "allclear_database_damaged",
      "1 if the database file was found damaged since the start.",
      () => (db.storage().isDamaged ? 1 : 0),
    ),
    single(
      "gauge",
      "allclear_database_size_bytes",
      "Size of the database, including free space.",
      () => db.figures().sizeBytes,
    ),
    single(
      "gauge",
      "allclear_database_free_bytes",
      "Free space within the database.",
      () => db.figures().freeBytes,
    ),
    single(
      "gauge",
      "allclear_database_wal_bytes",
      "Size of the write-ahead log.",
      () => db.figures().walBytes,
    ),
    single(
      "gauge",
      "allclear_database_changes_waiting",
      "Changes waiting to be written.",
      () => db.figures().waiting,
    ),
    single(
      "counter",
      "allclear_database_batches_total",
      "Committed transactions.",
      () => db.figures().batches,
    ),
    single(
      "counter",
      "allclear_database_changes_total",
      "Changes written in transactions.",
      () => db.figures().changes,
    ),
    single(
      "counter",
      "allclear_database_refusals_total",
      "Changes that could not be stored because the database was full, locked or failing.",
      () => db.figures().rejected,
    ),
  ];
}

/** Metrics of limited requests, by policy. */
export function limiterFamilies(limiter: Limiter): MetricFamily[] {
  const byPolicy = (
    type: MetricFamily["type"],
    name: string,
    help: string,
    of: (figures: BucketFigures) => number,
  ): MetricFamily => ({
    type,
    name,
    help,
    labelNames: ["policy"],
    read: () =>
      Object.entries(limiter.stats()).map(([policy, figures]) => ({
        labels: { policy },
        value: of(figures),
      })),
  });
  return [
    byPolicy(
      "gauge",
      "allclear_limiter_buckets",
      "Callers with a bucket in memory, including full ones.",
      ({ buckets }) => buckets,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_refusals_total",
      "Requests rejected because a limit was used up.",
      ({ rejected }) => rejected,
    ),
    byPolicy(
      "counter",
      "allclear_limiter_overflows_total",
      "Requests charged to a counter of several callers, because there was no room for a bucket of their own.",
      ({ overflowed }) => overflowed,
    ),
  ];
}

/** Metrics of the process's resources, under the names of Prometheus's own libraries. */
export function processFamilies(): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_build_info",
      help: "Always 1; the labels name version and runtime.",
      labelNames: ["version", "runtime"],
      read: () => [{ labels: { version: VERSION, runtime: `bun ${Bun.version}` }, value: 1 }],
    },
    single(
      "counter",
      "process_cpu_seconds_total",
      "User and system CPU time of the process.",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    ),
    single("gauge", "process_resident_memory_bytes", "Resident memory of the process.", () =>
      process.memoryUsage.rss(),
    ),
    single(
      "gauge",
      "process_start_time_seconds",
      "Start of the process in unix time.",
      () => performance.timeOrigin / 1_000,
    ),
  ];
}
