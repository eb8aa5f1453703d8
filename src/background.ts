import type { Timer } from "./base/clock";
import { Problem } from "./base/errors";
import { repeatWithRests } from "./base/in-slices";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./base/time";
import type { Ctx } from "./context";
import { returnFreePages } from "./db/database";
import type { Tx } from "./db/statements";
import { createEgress, type Egress } from "./egress/egress";
import { deleteAuditAddresses, deleteOldAudits } from "./events/audit";
import { type Alarms, createAlarms } from "./features/alarms/alarms";
import type { Fleet } from "./features/alarms/fleet";
import { sweepAuth } from "./features/auth/sessions";
import { type Backups, createBackups } from "./features/backups/backups";
import { trimKeyUse } from "./features/keys/usage";
import { CheckRequests } from "./features/locations/check-requests";
import { startSending } from "./features/mail/sending/sender";
import { trimMails } from "./features/mail/waiting";
import { createMailingTemplate } from "./features/mailings/letters";
import { MAILING_TEMPLATE, startMailings } from "./features/mailings/mailings";
import { startMaintenanceClock } from "./features/maintenance/clock";
import {
  alarmFamilies,
  checkFamilies,
  deliveryFamilies,
  mailFamilies,
  subscriberFamilies,
} from "./features/metrics/families";
import type { MetricFamily } from "./features/metrics/metrics";
import { startNoticeClock } from "./features/pages/notices";
import { createMonitoring } from "./features/monitors/engine/engine";
import type { DockerLabels, LabelReport } from "./features/docker-labels/docker-labels";
import type { FindProbe } from "./features/monitors/engine/prober";
import { createIdleMonitoring, type Monitoring } from "./features/monitors/monitoring";
import { startRollUps } from "./features/monitors/rollup";
import { sweepAnswers, sweepSubmissions } from "./features/repeats/store";
import { REPORT_TEMPLATES } from "./features/reports/letters";
import { startReportMails } from "./features/reports/mails";
import { createLoadThrottle } from "./features/sending/throttle";
import { readHeadline } from "./features/status/snapshots";
import { SIGN_UP_TEMPLATES } from "./features/subscribers/mails";
import { startSignUps } from "./features/subscribers/sign-up";
import { sweepSubscribers } from "./features/subscribers/subscribers";
import { USER_TEMPLATES } from "./features/users/letters";
import { startUserMails, sweepUserMails } from "./features/users/mails";
import { ALERT_TEMPLATES } from "./features/webhooks/alerts/templates";
import { startDelivering } from "./features/webhooks/deliver/deliverer";
import { trimDeliveries } from "./features/webhooks/deliveries";
import { deletePausesBefore } from "./features/webhooks/store";
import { createImportJobs, type ImportJobs, type RunImport } from "./imports/jobs";
import type { Listener } from "./listening";

/**
 * Milliseconds that deliveries and mails in progress may take when the server stops. Those that are broken off are
 * repeated after the next start.
 */
const OUTGOING_DRAIN_MS = 750;

/** Parts of the server that work without requests and that routes use. */
export interface Background {
  monitoring: Monitoring;
  /** Checks that agents of locations are asked for; absent where none run. */
  checkRequests?: CheckRequests;
  backups: Backups;
  imports: ImportJobs;
  /** Outgoing connections of the process. */
  egress: Egress;
  /** Outcome of the labels of containers; undefined without a Docker host whose labels are read. */
  labels?: (() => LabelReport | undefined) | undefined;
  /** Alarms, and the parts for more than one machine that are set up; absent without a server. */
  fleet?: Fleet | undefined;
}

/** Parts that a demo replaces, so that no connection leaves the process. */
export interface Simulation {
  egress?: Egress;
  findProbe?: FindProbe;
  runImport?: RunImport;
}

interface RunningBackground extends Background {
  alarms: Alarms;
  metrics: readonly MetricFamily[];
  /**
   * Starts nothing new, drops running checks, gives deliveries and mails in progress `OUTGOING_DRAIN_MS`, and stores
   * results once `answered` resolves: until then jobs may report.
   */
  stop(answered: Promise<unknown>): Promise<void>;
}

/** Creates monitoring that runs no checks, for processes other than primary servers, which may replace parts of it. */
export function createIdleBackground(
  ctx: Ctx,
  ownMonitoring: Partial<Monitoring> = {},
): Background {
  const egress = createEgress(ctx);
  const imports = createImportJobs(ctx);
  const monitoring = { ...createIdleMonitoring(ctx), ...ownMonitoring };
  return { monitoring, backups: createBackups(ctx), imports, egress };
}

/** Starts checks, deliveries, mails, planned changes and the deletion of obsolete data. */
export function startBackground(
  ctx: Ctx,
  listener: Pick<Listener, "holdOpen">,
  observed: {
    /** Number of requests since the start. */
    requests(): number;
    /** Last moment, on the monotonic clock, at which clients may not have reached this server. */
    lastUnreachableAt(): number;
    /** Alarms of the primary of a fleet; those of this process if undefined. */
    alarms?: Alarms | undefined;
  },
  { egress = createEgress(ctx), findProbe, runImport }: Simulation = {},
): RunningBackground {
  const alarms = observed.alarms ?? createAlarms(ctx);
  // The connections are shared, since they limit the name look-ups of the process.
  const checkRequests = new CheckRequests(ctx.clock);
  const monitoring = createMonitoring(ctx, egress, {
    ...observed,
    checkRequests,
    detectsStalls: true,
    alarms,
    ...(findProbe && { findProbe }),
  });
  const backups = createBackups(ctx, { holdOpen: listener.holdOpen });
  void backups.sweep();
  const schedule =
    ctx.config.backupTo &&
    import("./features/backups/scheduler").then(({ startBackupSchedule }) =>
      startBackupSchedule({ ctx, backups, alarms }),
    );
  const imports = createImportJobs(ctx, runImport && { run: runImport });
  void imports.sweep();
  // Shared, so that both together leave the processor to requests.
  const throttle = createLoadThrottle(ctx.clock, observed);
  const deliverer = startDelivering(ctx, egress, readHeadline, throttle);
  const templates = {
    ...SIGN_UP_TEMPLATES,
    ...USER_TEMPLATES,
    ...ALERT_TEMPLATES,
    ...REPORT_TEMPLATES,
    [MAILING_TEMPLATE]: createMailingTemplate(),
  };
  const sender = startSending(ctx, egress, { templates, throttle });
  const signUps = startSignUps(ctx);
  const mailings = startMailings(ctx);
  monitoring.start();
  const labels = watchDockerLabels(ctx, egress);
  const timers = [
    startHousekeeping(ctx),
    startMaintenanceClock(ctx),
    startNoticeClock(ctx),
    startRollUps(ctx, monitoring),
    ...(labels ? [labels] : []),
    signUps,
    startUserMails(ctx),
    startReportMails(ctx),
  ];
  return {
    monitoring,
    checkRequests,
    backups,
    imports,
    egress,
    labels: labels && (() => labels.report()),
    alarms,
    metrics: [
      ...alarmFamilies(alarms),
      ...checkFamilies(() => monitoring.figures()),
      ...deliveryFamilies(ctx.db, () => deliverer.stats()),
      ...mailFamilies(ctx.db, ctx.clock, () => sender.stats()),
      ...subscriberFamilies(ctx.db, signUps),
    ],
    async stop(answered) {
      // Requests that wait for them are answered at once.
      monitoring.dropChecks();
      const scheduleStopped = schedule?.then((running) => running.stop());
      checkRequests.stop();
      backups.stop();
      imports.stop();
      for (const timer of timers) timer.cancel();
      await Promise.all([
        answered,
        deliverer.stop(OUTGOING_DRAIN_MS),
        sender.stop(OUTGOING_DRAIN_MS),
        mailings.stop(),
        scheduleStopped,
      ]);
      await monitoring.stop();
      if (!observed.alarms) await alarms.stop();
    },
  };
}

/** Reads labels of containers if there are Docker hosts. Their code is loaded then, which shortens all other starts. */
function watchDockerLabels(
  ctx: Ctx,
  egress: Egress,
): (Timer & { report(): LabelReport | undefined }) | undefined {
  const { dockerHosts, dockerLabels } = ctx.config;
  if (dockerHosts.size === 0 || dockerLabels === "off") return undefined;
  let isCancelled = false;
  let started: DockerLabels | undefined;
  void import("./features/docker-labels/docker-labels").then(({ startDockerLabels }) => {
    if (!isCancelled) started = startDockerLabels(ctx, egress);
  });
  return {
    report: () => started?.report(),
    cancel() {
      isCancelled = true;
      started?.cancel();
    },
  };
}

/** Time from the start to the first run, which should not compete with the first requests. */
const FIRST_RUN_MS = 5 * MINUTE_MS;

/** Deletes some rows in one transaction. Returns true if there may be more. */
type Step = (tx: Tx) => boolean;

/**
 * Deletes obsolete data five minutes after the start and then every hour: expired sessions and links, old forms and
 * stored responses, and data past its configured retention. Afterwards the file gives free space back.
 *
 * Each transaction changes a bounded number of rows, and a rest follows it. A run that is interrupted continues with
 * the next one, since what is left is found in the database.
 */
export function startHousekeeping(ctx: Ctx): Timer {
  let isCancelled = false;
  let timer = ctx.clock.after(FIRST_RUN_MS, () => void run());

  function warn(error: unknown): void {
    if (isCancelled) return;
    ctx.log.warn({ err: error }, "what has ended could not be cleared away; trying in an hour");
  }

  /** Runs a step. Returns false if it has failed, so that the others still run, and throws without the database. */
  async function runStep(step: Step): Promise<boolean> {
    try {
      return await ctx.db.write(step);
    } catch (error) {
      if (error instanceof Problem) throw error;
      warn(error);
      return false;
    }
  }

  async function run(): Promise<void> {
    try {
      const steps = stepsOf(ctx);
      await repeatWithRests(ctx.clock, async () => {
        const [step] = steps;
        if (isCancelled || !step) return false;
        if (!(await runStep(step))) steps.shift();
        return true;
      });
    } catch (error) {
      warn(error);
    }
    if (!isCancelled) timer = ctx.clock.after(HOUR_MS, () => void run());
  }

  return {
    cancel() {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/** Returns the steps of one run in order. Each is repeated until it returns false. */
function stepsOf({ clock, config }: Ctx): Step[] {
  const now = clock.now();
  const eventsUntil = now - config.keepEventsDays * DAY_MS;
  const auditsUntil = now - config.keepAuditDays * DAY_MS;
  const addressesUntil = now - config.keepAddressesDays * DAY_MS;
  const kept = {
    now,
    hoursDays: config.keepKeyHoursDays,
    addressesDays: config.keepAddressesDays,
  };
  let key: string | undefined = "";
  return [
    (tx) => sweepAuth(tx, now),
    (tx) => sweepSubmissions(tx, now),
    (tx) => sweepAnswers(tx, now),
    (tx) => trimDeliveries(tx, eventsUntil),
    // The digest of a deleted address is not kept.
    (tx) => deletePausesBefore(tx, { before: now }) > 0,
    (tx) => trimMails(tx, { before: eventsUntil, now }),
    (tx) => deleteOldAudits(tx, auditsUntil),
    (tx) => deleteAuditAddresses(tx, addressesUntil),
    (tx) => sweepSubscribers(tx, { now, addressesUntil }),
    (tx) => sweepUserMails(tx, now),
    (tx) => (key = trimKeyUse(tx, kept, key ?? "")) !== undefined,
    returnFreePages,
  ];
}
