import type { ImportChange } from "../../domain/import-report";
import { getComponentRow, updateComponent } from "../components";
import {
  addImportedTokens,
  createMonitor,
  createUnsupportedMonitor,
  findMonitor,
  findMonitorByRef,
  findTokenOwner,
  getMonitorRecord,
  type MonitorRow,
  probeOf,
  type ReplacingMonitor,
  replaceMonitor,
  validateReplacingMonitor,
} from "../monitors";
import { idsOf, knownOf } from "./here";
import type { InternalPage } from "./internal-page";
import { takeNumber } from "./numbers";
import { valueOrReason, type Writer, type Written } from "./objects";
import { RefNames } from "./ref-names";
import type { ImportRun } from "./run";
import { type FoundComponent, type FoundMonitor, keyOf } from "./source";
import { fitName } from "./texts";

/** Settings of imported monitors that the source does not have: it counts every failure as a whole outage. */
const DEFAULTS = { on_down: "major_outage", open_incident: "never" } as const;

const TAKEN_ADDRESS: ImportChange = {
  field: "address",
  from: "set",
  to: "none",
  reason: "Another monitor has one of its addresses already.",
};
const NO_ADDRESS =
  "Other monitors have all of its addresses, so no job can call it. Give it another token, and resume it.";

/** A found monitor within the limits of this installation. */
interface Fitted {
  body: ReplacingMonitor;
  changes: ImportChange[];
  /** Reason, in one sentence or more, for which it is switched off until something is done. */
  disabled: string | undefined;
  /** True if it is paused whatever the options of the import are. */
  isSwitchedOff: boolean;
}

/** Returns how monitors are imported. `components` are all of the source. */
export function monitorWriter(
  run: ImportRun,
  components: readonly FoundComponent[],
  page: InternalPage,
): Writer<FoundMonitor, MonitorRow> {
  const { ctx, tx, actor, options } = run;
  const refs = new RefNames((ref) => findMonitorByRef(tx, { ref }) !== undefined);
  let inSource: ReadonlySet<string> | undefined;
  return {
    kind: "monitor",
    find: (id) => findMonitor(tx, { id }),
    markOf: ({ version }) => version,
    // Tokens are added, and never removed, so they are no settings.
    settingsOf: ({ body, disabled, held, components, dependsOn }) => ({
      body,
      disabled,
      held,
      components: components === "internal" ? components : knownOf(run, components),
      dependsOn,
    }),
    create(found) {
      const { tokens } = found;
      const { body, isSwitchedOff, changes, disabled } = fit(run, found, undefined);
      const input = { ...body, paused: isSwitchedOff || options.isPaused };
      const known = found.components === "internal" ? [] : idsOf(run, found.components);
      const parents = parentsOf(run, found, { ...input, component_ids: known });
      const own = found.components === "internal" ? page.addComponent(body.name) : undefined;
      const component_ids = own === undefined ? known : [own];
      const whole = { ...input, component_ids, depends_on: parents.ids };
      const ref = refs.next(body.name, body.type);
      const metadata = { ref, managedBy: "import", tokens } as const;
      const { row } =
        whole.type === "unsupported"
          ? createUnsupportedMonitor(ctx, tx, whole, actor, metadata)
          : createMonitor(ctx, tx, whole, actor, metadata).record;
      const ofNumber = takeNumber(run, "entry", row.id, found.number);
      return {
        row,
        changes: [...changes, ...parents.changes, ...ofNumber],
        disabled,
        held: found.held,
        isWaiting: options.isPaused && !isSwitchedOff && row.type !== "unsupported",
      };
    },
    update(found, before, noted): Written<MonitorRow> {
      const { body, changes, disabled, isSwitchedOff } = fit(run, found, before);
      const canWait = before.paused && (noted.pausedBy !== null || options.isPaused);
      const isWaiting = canWait && !isSwitchedOff && body.type !== "unsupported";
      const { id } = before;
      const watched = getMonitorRecord(tx, id).components.map((component) => component.id);
      const component_ids = componentsAfter(found, watched);
      const input = { ...body, paused: isSwitchedOff || isWaiting, component_ids };
      const parents = parentsOf(run, found, input, id);
      const { row } = replaceMonitor(ctx, tx, id, { ...input, depends_on: parents.ids }, actor);
      addImportedTokens(ctx, tx, id, found.tokens);
      if (found.components === "internal") {
        for (const one of component_ids) renameComponent(run, one, before.name, row.name);
      }
      return {
        row,
        changes: [...changes, ...parents.changes],
        disabled,
        held: found.held,
        isWaiting,
      };
    },
    complete({ tokens }, row, isEdited) {
      // An earlier import may have had no key for the addresses with slugs.
      if (!tokens.some((token) => findTokenOwner(tx, token) === undefined)) return undefined;
      if (isEdited) {
        // Somebody may have ended the token of that address.
        const reason = "It was edited here, so no other address of it is taken over.";
        return { row, verdict: "kept", reason };
      }
      addImportedTokens(ctx, tx, row.id, tokens);
      return { row, verdict: "updated", reason: "Jobs can call another address of it." };
    },
  };

  /** Returns the components of a monitor after a change: those that are no longer in the source stay. */
  function componentsAfter(found: FoundMonitor, watched: readonly string[]): string[] {
    if (found.components === "internal") return [...watched];
    inSource ??= new Set(
      idsOf(
        run,
        components.map(({ foreign }) => keyOf(foreign)),
      ),
    );
    const staying = watched.filter((id) => !inSource?.has(id));
    return [...new Set([...staying, ...idsOf(run, found.components)])];
  }
}

/** Sorts monitors so that parents come first. Of a cycle the one that was found first comes last. */
export function parentsFirst(monitors: readonly FoundMonitor[]): FoundMonitor[] {
  if (monitors.every(({ dependsOn }) => dependsOn.length === 0)) return [...monitors];
  const byKey = new Map(monitors.map((one) => [keyOf(one.foreign), one]));
  const seen = new Set<FoundMonitor>();
  const sorted = new Set<FoundMonitor>();
  const visit = (one: FoundMonitor) => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const key of one.dependsOn) {
      const parent = byKey.get(key);
      if (parent) visit(parent);
    }
    sorted.add(one);
  };
  for (const one of monitors) visit(one);
  return [...sorted];
}

function fit(run: ImportRun, found: FoundMonitor, before: MonitorRow | undefined): Fitted {
  const { foreign, disabled } = found;
  const name = fitName(found.body.name, foreign.type);
  const body: ReplacingMonitor = { ...DEFAULTS, ...found.body, name: name.value };
  const { changes } = name;
  const reasons = disabled === undefined ? [] : [disabled];
  const program = probeOf(body.type).findMissingProgram?.();
  if (program !== undefined) {
    reasons.push(
      `The program ${program} is not installed on this server. Install it, and resume the monitor.`,
    );
  }
  const areTaken = found.tokens.map((token) => {
    const owner = findTokenOwner(run.tx, token);
    return owner !== undefined && owner.monitorId !== before?.id;
  });
  if (areTaken.includes(true)) {
    changes.push(TAKEN_ADDRESS);
    // It would be down soon.
    if (!areTaken.includes(false)) reasons.push(NO_ADDRESS);
  }
  const isPaused = "paused" in body && body.paused === true;
  const isSwitchedOff = isPaused || reasons.length > 0;
  return { body, changes, disabled: reasons.join(" ") || undefined, isSwitchedOff };
}

/**
 * Returns the ids of the monitors on which one depends, or none and the difference if they are not possible. Throws
 * the errors of everything else in the monitor, without writing.
 */
function parentsOf(
  run: ImportRun,
  { dependsOn }: FoundMonitor,
  input: ReplacingMonitor,
  id?: string,
): { ids: string[]; changes: ImportChange[] } {
  const { tx } = run;
  validateReplacingMonitor(tx, input);
  const ids = idsOf(run, dependsOn).filter((parent) => parent !== id);
  const valid = valueOrReason(() => validateReplacingMonitor(tx, { ...input, depends_on: ids }));
  const isMissing = ids.length < dependsOn.length;
  if (typeof valid !== "string" && !isMissing) return { ids, changes: [] };
  const kept = typeof valid === "string" ? [] : ids;
  const reason = typeof valid === "string" ? valid : "Some of the monitors are not here.";
  const change = { field: "depends_on", from: dependsOn.length, to: kept.length, reason };
  return { ids: kept, changes: [change] };
}

/** Renames a component that an import made and that still has the name of its monitor. */
function renameComponent(run: ImportRun, id: string, from: string, to: string): void {
  const { ctx, tx, actor } = run;
  const { managedBy, name } = getComponentRow(tx, id);
  if (from === to || managedBy !== "import" || name !== from) return;
  updateComponent(ctx, tx, id, { name: to }, actor);
}
