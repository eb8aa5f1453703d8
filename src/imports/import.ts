import type { Actor } from "../base/actor";
import { formatNetwork, parseNetworks } from "../base/config/parse";
import {
  digestOf,
  type Imported,
  type ImportReport,
  PRODUCTS,
  verdictsInWords,
} from "../base/import-report";
import { toIso } from "../base/time";
import { validate } from "../base/validation";
import { parseWebUrl } from "../base/web-url";
import { ANY_MONITOR } from "../base/webhook";
import type { Ctx } from "../context";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import type { Tx } from "../db/statements";
import { createEgress, type Egress } from "../egress/egress";
import { Fault } from "../egress/model";
import { hostError, parseHost, webhookPolicy } from "../egress/policy";
import { audit } from "../events/audit";
import { importIncident } from "../features/incidents/import";
import { findIncident } from "../features/incidents/store";
import { ImportIncidentBody, POSTMORTEM_MAX } from "../features/incidents/wire";
import { countClockChanges } from "../features/maintenance/clock";
import { importMaintenance, ImportMaintenanceBody } from "../features/maintenance/import";
import { createSchedule, updateSchedule } from "../features/maintenance/schedules/schedules";
import { findSchedule, type ScheduleRow } from "../features/maintenance/schedules/store";
import { CreateScheduleBody } from "../features/maintenance/schedules/wire";
import { findMaintenance } from "../features/maintenance/store";
import { UPDATE_TEXT_MAX, UPDATES_MAX } from "../features/timeline/updates";
import { isOpenToEvents } from "../features/webhooks/recipient";
import { findWebhook, type WebhookRow } from "../features/webhooks/store";
import { createWebhook, updateWebhook } from "../features/webhooks/webhooks";
import { CreateWebhookBody, UpdateWebhookBody } from "../features/webhooks/wire";
import type {
  ForeignKey,
  Found,
  FoundIncident,
  FoundMaintenance,
  FoundObject,
  FoundSchedule,
  FoundWebhook,
  LeftOut,
} from "./found";
import { planHistory } from "./history/write";
import type { Notes } from "./kit";
import { monitorWriter, parentsFirst, withOwnIds } from "./monitors";
import {
  findTarget,
  fitDescription,
  fitName,
  fitText,
  idOf,
  idsOf,
  importObjects,
  knownOf,
  takeNumber,
  type targetOf,
  type Writer,
  type Written,
} from "./objects";
import {
  componentWriter,
  groupWriter,
  INTERNAL_TYPE,
  InternalPage,
  PagePlaces,
  pageWriter,
  requirePage,
} from "./pages";
import { ImportRun, silent } from "./run";
import type { ImportOptions, ImportPart } from "./sources";

/** Rolls back the transaction of a dry run and carries its report. */
class DryRun extends Error {
  constructor(readonly report: ImportReport) {
    super("a dry run is rolled back");
  }
}

/** Error of an import that would not do what its plan says. */
const NOT_AS_PLANNED =
  "The source, or what was imported from it, has changed since the plan, so nothing was imported. Make a new plan.";

/**
 * Imports in one transaction of `write`. A dry run does the same and is rolled back, so that it reports the same. Names
 * of receivers of webhooks are resolved before it. Throws an OperatorError if a plan was confirmed that differs.
 */
export async function performImport(
  ctx: Ctx,
  write: Db["write"],
  found: Found,
  options: ImportOptions,
  author: Actor,
): Promise<ImportReport> {
  const receivers = await findReceivers(createEgress(ctx), found);
  try {
    return await write((tx) => {
      const report = importFound(ctx, tx, found, { ...options, receivers }, author);
      if (options.isDryRun) throw new DryRun(report);
      const { planned } = options;
      if (planned !== undefined && planned !== digestOf(report)) {
        throw new OperatorError(NOT_AS_PLANNED);
      }
      return report;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    throw error;
  }
}

/** Part of an import to which each kind of objects belongs. */
const PARTS: Readonly<Record<Imported, ImportPart>> = {
  page: "pages",
  group: "pages",
  component: "pages",
  monitor: "monitors",
  webhook: "webhooks",
  schedule: "pages",
  maintenance: "pages",
  incident: "pages",
};

/**
 * Imports what was found, and returns the report. A dry run does the same, and its caller rolls it back. Nobody
 * is notified, and the audit log has one entry. Throws `conflict` if the name of the source is that of another
 * installation.
 */
export function importFound(
  services: Ctx,
  tx: Tx,
  found: Found,
  options: ImportOptions,
  author: Actor,
): ImportReport {
  const action = "import.run";
  const ctx = silent(services);
  const run = new ImportRun(ctx, tx, { ...author, partOf: action }, options, found);
  const places = new PagePlaces(run);
  const internal = new InternalPage(run, places);
  const webhooks = new WebhookImport(run);
  importKind(run, pageWriter(run, found.pages), found.pages);
  importKind(run, groupWriter(run, places), found.groups);
  importKind(run, componentWriter(run, places), found.components);
  const monitors = parentsFirst(withOwnIds(found.monitors));
  importKind(run, monitorWriter(run, found.components, internal), monitors);
  importKind(run, webhooks, found.webhooks);
  webhooks.finish();
  importKind(run, scheduleWriter(run), found.schedules);
  importKind(run, maintenanceWriter(run), found.maintenance);
  importKind(run, incidentWriter(run), oldestFirst(found.incidents));
  for (const one of found.leftOut) reportLeftOut(run, one);
  reportMissing(run);
  const report = run.finish(found, planHistory(run, found));
  if (report.id !== null) {
    const summary = `Imported from ${PRODUCTS[found.kind]} (${options.source}): ${verdictsInWords(report.counts)}`;
    audit(ctx, tx, author, action, report.id, summary);
  }
  return report;
}

/** Imports objects of one kind, unless the import is limited to others. */
function importKind<Found extends FoundObject<unknown>, Row extends Parameters<typeof targetOf>[1]>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  objects: readonly Found[],
): void {
  const { only } = run.options;
  if (only === undefined || only === PARTS[writer.kind]) {
    importObjects(run, writer, objects);
    return;
  }
  const reason =
    only === "history" ? "Only the history is imported." : `Only ${only} are imported.`;
  for (const { foreign } of objects) reportLeftOut(run, { foreign, reason });
}

/** Reports an object that is not moved. What it became at an earlier import stays. */
function reportLeftOut(run: ImportRun, { foreign, reason }: LeftOut): void {
  const noted = run.isReported(foreign) ? undefined : run.findRef(foreign);
  const target = noted ? findTarget(run.tx, noted) : null;
  run.report(target ? "kept" : "not_moved", foreign, { target, reason });
}

/** Reports objects that are still here and no longer in the source. */
function reportMissing(run: ImportRun): void {
  for (const noted of run.listUnreported()) {
    const target = noted.foreignType === INTERNAL_TYPE ? null : findTarget(run.tx, noted);
    if (!target) continue;
    const foreign = { type: noted.foreignType, id: noted.foreignId, name: target.name };
    run.report("kept", foreign, { target, reason: "It is no longer in the source." });
  }
}

/** Networks of all addresses. Those that no request may reach stay forbidden. */
const ALL = parseNetworks("0.0.0.0/0,::/0");

const UNCONFIRMED =
  "Its address has to confirm that it wants alerts. Ask it on the page of the webhook.";

/** Imports webhooks without notifying their receivers, and collects the networks that have to be allowed. */
class WebhookImport implements Writer<FoundWebhook, WebhookRow> {
  readonly kind = "webhook";
  readonly #run: ImportRun;
  readonly #forbidden = new Set<string>();

  constructor(run: ImportRun) {
    this.#run = run;
  }

  find(id: string): WebhookRow | undefined {
    return findWebhook(this.#run.tx, { id });
  }

  markOf({ version }: WebhookRow): number {
    return version;
  }

  settingsOf({ body, disabled, page = null, monitors }: FoundWebhook): unknown {
    const run = this.#run;
    const ofMonitors = monitors === "all" ? monitors : knownOf(run, monitors);
    return { body, disabled, page: page && knownOf(run, [page]), monitors: ofMonitors };
  }

  create(found: FoundWebhook, notes: Notes): Written<WebhookRow> {
    const { tx, actor, options } = this.#run;
    const { input, isSwitchedOff, reasons, ctx } = this.#fit(found, notes);
    const enabled = !isSwitchedOff && !options.isPaused;
    const metadata = { managedBy: "import", isSilent: true } as const;
    const body = validate(CreateWebhookBody, { ...input, enabled });
    const { row } = createWebhook(ctx, tx, body, actor, metadata);
    return this.#written(row, reasons, options.isPaused && !isSwitchedOff);
  }

  update(
    found: FoundWebhook,
    notes: Notes,
    before: WebhookRow,
    noted: { pausedBy: string | null },
  ): Written<WebhookRow> {
    const { tx, actor, options } = this.#run;
    const { input, isSwitchedOff, reasons, ctx } = this.#fit(found, notes);
    const canWait = !before.enabled && (noted.pausedBy !== null || options.isPaused);
    const isWaiting = canWait && !isSwitchedOff;
    const { secret: _, settings = {}, format = "standard", ...others } = input;
    const removed = format === before.format ? Object.keys(before.settings) : [];
    const cleared = Object.fromEntries(removed.map((name) => [name, null]));
    const change = {
      ...others,
      format,
      settings: { ...cleared, ...settings },
      enabled: !isSwitchedOff && !isWaiting,
    };
    const body = validate(UpdateWebhookBody, change);
    const { row } = updateWebhook(ctx, tx, before.id, body, actor, { isSilent: true });
    return this.#written(row, reasons, isWaiting);
  }

  /** Adds the instruction by which forbidden receivers are allowed. */
  finish(): void {
    if (this.#forbidden.size === 0) return;
    const networks = parseNetworks([...this.#forbidden].join(","));
    const { outboundAllow = [] } = this.#run.ctx.config;
    const value = [...outboundAllow, ...networks].map(formatNetwork).join(",");
    this.#run.addToDo(
      `To let webhooks reach their receivers, set ALLCLEAR_OUTBOUND_ALLOW=${value} or add the networks in Settings → General → Allowed networks, and enable the webhooks.`,
    );
  }

  /** Returns the fields of a webhook with its page and monitors, and the reasons for which it is switched off. */
  #fit({ body, disabled, page = null, monitors }: FoundWebhook, notes: Notes) {
    const run = this.#run;
    const description = fitDescription(notes, body.description);
    const addresses = this.#forbiddenAddresses(body.url);
    const reasons = disabled === undefined ? [] : [disabled];
    for (const address of addresses) this.#forbidden.add(address);
    if (addresses.length > 0) {
      const [host = ""] = addresses;
      reasons.push(`Webhooks may not reach ${host}: allow its network, and enable it.`);
    }
    const input = {
      ...body,
      description,
      page: page === null ? null : requirePage(run, page).id,
      monitors: monitors === "all" ? [ANY_MONITOR] : idsOf(run, monitors),
    };
    // A receiver that is not allowed yet is stored, and no request reaches it.
    const ctx = addresses.length > 0 ? { ...run.ctx, allowedNetworks: ALL } : run.ctx;
    return { input, isSwitchedOff: body.enabled === false || reasons.length > 0, reasons, ctx };
  }

  /** Returns the addresses of a receiver that this installation may not reach and could allow. */
  #forbiddenAddresses(url: string): string[] {
    const host = hostIn(url);
    if (!host) return [];
    const { allowedNetworks } = this.#run.ctx;
    const known = this.#run.options.receivers?.get(host.name) ?? [];
    const addresses = host.isAddress ? [host.name] : known;
    return addresses.filter(
      (address) =>
        hostError(address, webhookPolicy(allowedNetworks)) !== undefined &&
        hostError(address, webhookPolicy(ALL)) === undefined,
    );
  }

  #written(row: WebhookRow, reasons: readonly string[], isWaiting: boolean): Written<WebhookRow> {
    const all = isOpenToEvents(this.#run.tx, row) ? reasons : [...reasons, UNCONFIRMED];
    return { row, disabled: all.join(" ") || undefined, isWaiting };
  }
}

/** Maximum number of names that are resolved, and of milliseconds for all of them. */
const HOSTS_MAX = 100;
const TIMEOUT_MS = 1_000;

/** Services whose addresses are public. Their names need no look-up. */
const PUBLIC =
  /^(?:hooks\.slack\.com|discord(?:app)?\.com|api\.telegram\.org|ntfy\.sh|.+\.(?:logic\.azure|webhook\.office)\.com)$/;

/**
 * Resolves the names of the receivers of webhooks, so that an import can name those that are not allowed. Returns the
 * addresses by name; names that cannot be resolved are left out, since every delivery resolves them again.
 */
export async function findReceivers(
  egress: Pick<Egress, "resolve">,
  { webhooks }: Pick<Found, "webhooks">,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Set(webhooks.flatMap(({ body }) => nameOf(body.url) ?? []));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const resolved = await Promise.all(
    [...names].slice(0, HOSTS_MAX).map(async (host) => {
      // Private addresses are what has to be found.
      const addresses = await egress.resolve({ host, policy: "monitor", signal });
      return addresses instanceof Fault ? [] : [[host, addresses] as const];
    }),
  );
  return new Map(resolved.flat());
}

/** Returns the name in a URL; undefined for an address, a public service, and other texts. */
function nameOf(url: string): string | undefined {
  const host = hostIn(url);
  return host && !host.isAddress && !PUBLIC.test(host.name) ? host.name : undefined;
}

function hostIn(text: string) {
  const url = parseWebUrl(text);
  return url && parseHost(url.hostname);
}

type IncidentRow = ReturnType<typeof importIncident>;
type MaintenanceRow = ReturnType<typeof importMaintenance>;

/** Returns how maintenance schedules are imported. */
function scheduleWriter(run: ImportRun): Writer<FoundSchedule, ScheduleRow> {
  const { ctx, tx, actor } = run;
  const fit = (notes: Notes, { foreign, body, page, components }: FoundSchedule) => {
    const name = fitName(notes, body.name, foreign.type);
    const text = fitBody(notes, body.body, name);
    const place = { page: requirePage(run, page).id, components: idsOf(run, components) };
    return validate(CreateScheduleBody, { ...body, name, body: text, ...place });
  };
  return {
    kind: "schedule",
    find: (id) => findSchedule(tx, id)?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create: (found, notes) => ({
      row: createSchedule(ctx, tx, fit(notes, found), actor, { managedBy: "import" }).row,
    }),
    update: (found, notes, { id }) => ({
      row: updateSchedule(ctx, tx, id, fit(notes, found), actor).row,
    }),
  };
}

/** Returns how maintenance is imported, past or to come. */
function maintenanceWriter(run: ImportRun): Writer<FoundMaintenance, MaintenanceRow> {
  const { ctx, tx, actor } = run;
  const write = (
    { foreign, body, page, ...found }: FoundMaintenance,
    notes: Notes,
    id?: string,
  ) => {
    const name = fitName(notes, body.name, foreign.type);
    const updates = fitUpdates(notes, body.updates, name).map((update) => ({
      ...update,
      display_at:
        update.display_at ?? toIso(Math.min(Date.parse(body.scheduled_for), ctx.clock.now())),
    }));
    const input = { ...body, name, updates, components: idsOf(run, found.components) };
    const { id: pageId } = requirePage(run, page);
    const valid = validate(ImportMaintenanceBody, input);
    return importMaintenance(ctx, tx, pageId, valid, actor, id);
  };
  return {
    kind: "maintenance",
    find: (id) => findMaintenance(tx, { id })?.row,
    // The clock edits nothing.
    markOf: (row) => row.version - countClockChanges(tx, row),
    settingsOf: ({ body, components }) => ({ body, components: knownOf(run, components) }),
    create(found, notes) {
      const row = write(found, notes);
      takeNumber(run, notes, "maintenance", row.id, found.number);
      return { row };
    },
    update: (found, notes, { id }) => ({ row: write(found, notes, id) }),
  };
}

/** Returns how incidents are imported. */
function incidentWriter(run: ImportRun): Writer<FoundIncident, IncidentRow> {
  const { ctx, tx, actor } = run;
  const write = ({ foreign, body, page, externalId }: FoundIncident, notes: Notes, id?: string) => {
    const name = fitName(notes, body.name, foreign.type);
    const updates = fitUpdates(notes, body.updates, name).map((update) => ({
      ...update,
      components: statusesHere(run, update.components),
    }));
    const { body: text = "", published_at = "" } = body.postmortem ?? {};
    const postmortem = fitText(notes, "postmortem", text, POSTMORTEM_MAX);
    const input = {
      ...body,
      name,
      external_ref: `${run.sourceName}:${externalId}`,
      updates,
      postmortem: postmortem === "" ? null : { body: postmortem, published_at },
    };
    const { id: pageId } = requirePage(run, page);
    const valid = validate(ImportIncidentBody, input);
    return importIncident(ctx, tx, pageId, valid, actor, id);
  };
  return {
    kind: "incident",
    find: (id) => findIncident(tx, { id })?.row,
    markOf: ({ version }) => version,
    settingsOf: ({ body }) => {
      const named = body.updates.flatMap(({ components }) => Object.keys(components));
      return { body, components: knownOf(run, [...new Set(named)] as ForeignKey[]) };
    },
    create(found, notes) {
      const row = write(found, notes);
      takeNumber(run, notes, "incident", row.id, found.number);
      return { row };
    },
    update: (found, notes, { id }) => ({ row: write(found, notes, id) }),
  };
}

/** Sorts incidents by their start, since lists show the one last that was recorded first. */
function oldestFirst(incidents: readonly FoundIncident[]): FoundIncident[] {
  const startOf = ({ body }: FoundIncident) => Date.parse(body.started_at) || 0;
  return incidents.toSorted((one, other) => startOf(one) - startOf(other));
}

/** Returns statuses by the ids of components here, without those that are not here. */
function statusesHere<Status>(
  run: ImportRun,
  statuses: Readonly<Record<ForeignKey, Status>>,
): Record<string, Status> {
  return Object.fromEntries(
    Object.entries(statuses).flatMap(([key, status]) => {
      const id = idOf(run, key as ForeignKey);
      return id === undefined ? [] : [[id, status]];
    }),
  );
}

/** Returns the text of an update within its limits. One without text says the name. */
function fitBody(notes: Notes, text: string, name: string): string {
  const value = fitText(notes, "body", text, UPDATE_TEXT_MAX);
  return value.trim() === "" ? name : value;
}

/** Returns updates within the limits of this installation; of too many, the first ones and the last one. */
function fitUpdates<Update extends { body: string }>(
  notes: Notes,
  updates: readonly Update[],
  name: string,
): Update[] {
  const isTooLong = updates.length > UPDATES_MAX;
  const kept = isTooLong ? [...updates.slice(0, UPDATES_MAX - 1), ...updates.slice(-1)] : updates;
  const fitted = kept.map((update) => ({ ...update, body: fitBody(notes, update.body, name) }));
  if (isTooLong) {
    const reason = `At most ${UPDATES_MAX} updates are kept: the first ones and the last.`;
    notes.change("updates", updates.length, kept.length, reason);
  }
  return fitted;
}
