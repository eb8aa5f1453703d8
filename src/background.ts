import type { Ctx } from "./context";
import { createEgress, type Egress } from "./egress/egress";
import { type Alarms, createAlarms } from "./features/alarms/alarms";
import type { Fleet } from "./features/alarms/fleet";
import { type Backups, createBackups } from "./features/backups/backups";
import { createImportJobs, type ImportJobs, type RunImport } from "./imports/jobs";
import { createMailingTemplate } from "./features/mailings/letters";
import { MAILING_TEMPLATE, startMailings } from "./features/mailings/mailings";
import { startMaintenanceClock } from "./features/maintenance/clock";
import { startSending } from "./features/mail/sending/sender";
import {
  alarmFamilies,
  checkFamilies,
  deliveryFamilies,
  mailFamilies,
  subscriberFamilies,
} from "./features/metrics/families";
import type { MetricFamily } from "./features/metrics/metrics";
import { createIdleMonitoring, type Monitoring } from "./features/monitors/monitoring";
import { createMonitoring, type FindProbe } from "./features/monitors/engine/engine";
import { startRollUps } from "./features/monitors/rollup";
import { readHeadline } from "./features/status/snapshots";
import { createLoadThrottle } from "./features/outgoing/sending-loop";
import { SIGN_UP_TEMPLATES } from "./features/subscribers/mails";
import { startSignUps } from "./features/subscribers/sign-up";
import { startUserMails, USER_TEMPLATES } from "./features/users/letters";
import { ALERT_TEMPLATES } from "./features/webhooks/alerts/templates";
import { startDelivering } from "./features/webhooks/deliver/deliverer";
import { startHousekeeping } from "./housekeeping";
import type { Listener } from "./listening";

/**
 * Milliseconds that deliveries and mails in progress may take when the server stops. Those that are broken off are
 * repeated after the next start.
 */
const OUTGOING_DRAIN_MS = 750;

/** Parts of the server that work without requests and that routes use. */
export interface Background {
  monitoring: Monitoring;
  backups: Backups;
  imports: ImportJobs;
  /** Outgoing connections of the process. */
  egress: Egress;
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

/** Creates monitoring that runs no checks, for processes other than primary servers. */
export function createIdleBackground(
  ctx: Ctx,
  monitoring: Monitoring = createIdleMonitoring(),
): Background {
  const egress = createEgress(ctx);
  const imports = createImportJobs(ctx);
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
  const monitoring = createMonitoring(ctx, egress, {
    ...observed,
    detectsStalls: true,
    alarms,
    ...(findProbe && { findProbe }),
  });
  const backups = createBackups(ctx, { holdOpen: listener.holdOpen });
  void backups.sweep();
  const imports = createImportJobs(ctx, runImport && { run: runImport });
  void imports.sweep();
  // Shared, so that both together leave the processor to requests.
  const throttle = createLoadThrottle(ctx.clock, observed);
  const deliverer = startDelivering(ctx, egress, readHeadline, throttle);
  const templates = {
    ...SIGN_UP_TEMPLATES,
    ...USER_TEMPLATES,
    ...ALERT_TEMPLATES,
    [MAILING_TEMPLATE]: createMailingTemplate(),
  };
  const sender = startSending(ctx, egress, { templates, throttle });
  const signUps = startSignUps(ctx);
  const mailings = startMailings(ctx);
  monitoring.start();
  const timers = [
    startHousekeeping(ctx),
    startMaintenanceClock(ctx),
    startRollUps(ctx, monitoring),
    signUps,
    startUserMails(ctx),
  ];
  return {
    monitoring,
    backups,
    imports,
    egress,
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
      backups.stop();
      imports.stop();
      for (const timer of timers) timer.cancel();
      await Promise.all([
        answered,
        deliverer.stop(OUTGOING_DRAIN_MS),
        sender.stop(OUTGOING_DRAIN_MS),
        mailings.stop(),
      ]);
      await monitoring.stop();
      if (!observed.alarms) await alarms.stop();
    },
  };
}
