import type { ImportChange, ImportTarget } from "../../domain/import-report";
import { redactText } from "../../domain/redact";
import { NAME_MAX } from "../../domain/texts";
import { Problem } from "../../errors";
import { sha256 } from "../../kernel/hash";
import { oneLine } from "../../kernel/text";
import { getComponentRow, updateComponent } from "../components";
import {
  addImportedTokens,
  createMonitor,
  type CreateMonitorBody,
  findMonitor,
  findMonitorByRef,
  findTokenOwner,
  getMonitorRecord,
  type MonitorRow,
  planMonitor,
  validateNewMonitor,
} from "../monitors";
import { InternalPage } from "./internal-page";
import { RefNames } from "./ref-names";
import type { ImportRun } from "./run";
import type { FoundMonitor } from "./source";
import type { RefRow } from "./store";
import { cutName, textChange } from "./texts";

/** Settings of imported monitors that the source does not have: it counts every failure as a whole outage. */
const DEFAULTS = { on_down: "major_outage", open_incident: "never" } as const;

const TAKEN_ADDRESS: ImportChange = {
  field: "address",
  from: "set",
  to: "none",
  reason: "Another monitor has an address of it already.",
};
const NO_ADDRESS =
  "Other monitors have all of its addresses, so no job can call it. Give it another token, and resume it.";

/** A found monitor within the limits of this installation. */
interface Prepared {
  found: FoundMonitor;
  body: CreateMonitorBody;
  changes: ImportChange[];
  /** Reason, in one sentence or more, for which it is switched off until something is done. */
  disabled: string | undefined;
  /** True if it is paused whatever the options of the import are. */
  isSwitchedOff: boolean;
  settingsHash: Buffer;
}

/** Imports monitors, in their order. */
export function importMonitors(run: ImportRun, monitors: readonly FoundMonitor[]): void {
  const page = new InternalPage(run);
  const refs = new RefNames((ref) => findMonitorByRef(run.tx, { ref }) !== undefined);
  for (const found of monitors) {
    const { foreign } = found;
    if (run.isReported(foreign)) {
      run.report("not_moved", foreign, { reason: "The source has it twice." });
      continue;
    }
    const noted = run.findRef(foreign);
    if (noted) importAgain(run, prepare(found), noted);
    else create(run, withFreeAddresses(run, prepare(found)), { page, refs });
  }
}

function prepare(found: FoundMonitor): Prepared {
  const { foreign, changes, disabled } = found;
  // Those of other types are rejected before.
  const body = found.body as CreateMonitorBody;
  const name = cutName(body.name, `Unnamed ${foreign.type}`);
  const isSwitchedOff = body.paused === true || disabled !== undefined;
  // Tokens are added, and never removed, so they are no settings.
  const settings = { body, disabled, components: found.components, dependsOn: found.dependsOn };
  return {
    found,
    body: { ...DEFAULTS, ...body, name },
    changes: [...textChange("name", body.name, name, nameReason(body.name)), ...changes],
    disabled,
    isSwitchedOff,
    settingsHash: sha256(JSON.stringify(settings)),
  };
}

function nameReason(name: string): string {
  return name.trim() === ""
    ? "It has no name."
    : `Names have at most ${NAME_MAX} characters, and no control characters.`;
}

/**
 * Names addresses that other monitors have, and switches a monitor off to which none is left, since it would be
 * down soon. `id` is that of a monitor of an earlier import.
 */
function withFreeAddresses(run: ImportRun, prepared: Prepared, id?: string): Prepared {
  const { found, disabled } = prepared;
  const areTaken = found.tokens.map((token) => {
    const owner = findTokenOwner(run.tx, token);
    return owner !== undefined && owner.monitorId !== id;
  });
  if (!areTaken.includes(true)) return prepared;
  const changes = [...prepared.changes, TAKEN_ADDRESS];
  if (areTaken.includes(false)) return { ...prepared, changes };
  const reasons = disabled === undefined ? NO_ADDRESS : `${disabled} ${NO_ADDRESS}`;
  return { ...prepared, changes, disabled: reasons, isSwitchedOff: true };
}

/** Creates a monitor that no earlier import created, unless it is not valid here. */
function create(
  run: ImportRun,
  { found, body, changes, disabled, isSwitchedOff, settingsHash }: Prepared,
  { page, refs }: { page: InternalPage; refs: RefNames },
): void {
  const { ctx, tx, actor, options } = run;
  const { foreign, tokens } = found;
  const input = { ...body, paused: isSwitchedOff || options.isPaused };
  const reason = reasonAgainst(() => validateNewMonitor(tx, input));
  if (reason !== undefined) {
    run.report("not_moved", foreign, { reason });
    return;
  }
  const component = page.addComponent(body.name);
  const ref = refs.next(body.name, body.type);
  const metadata = { ref, managedBy: "import", tokens } as const;
  const component_ids = component === undefined ? [] : [component];
  const { row } = createMonitor(ctx, tx, { ...input, component_ids }, actor, metadata).record;
  const pausedBy = options.isPaused && !isSwitchedOff ? run.id : null;
  run.note(foreign, notedOf(row, settingsHash, pausedBy));
  run.report(disabled ? "disabled" : changes.length > 0 ? "changed" : "created", foreign, {
    target: run.newTarget(targetOf(row)),
    changes,
    reason: disabled ?? null,
  });
}

/** Brings a monitor of an earlier import up to date, unless it was edited or deleted here. */
function importAgain(run: ImportRun, prepared: Prepared, noted: RefRow): void {
  const { ctx, tx } = run;
  const { found, settingsHash } = prepared;
  const { foreign } = found;
  const row = findMonitor(tx, noted);
  if (!row) {
    run.report("kept", foreign, { reason: "It was deleted here." });
    return;
  }
  const target = targetOf(row);
  const isEdited = row.version !== noted.version;
  if (noted.settingsHash.equals(settingsHash)) {
    // An earlier import may have had no key for the addresses with slugs.
    const isMissing = found.tokens.some((token) => findTokenOwner(tx, token) === undefined);
    if (!isMissing) {
      run.report("unchanged", foreign, { target });
    } else if (isEdited) {
      // Somebody may have ended the token of that address.
      const reason = "It was edited here, so no other address of it is taken over.";
      run.report("kept", foreign, { target, reason });
    } else {
      addImportedTokens(ctx, tx, row.id, found.tokens);
      run.note(foreign, noted);
      const reason = "Jobs can call another address of it.";
      run.report("updated", foreign, { target, reason });
    }
  } else if (isEdited) {
    run.report("kept", foreign, { target, reason: "It was edited here." });
  } else {
    update(run, withFreeAddresses(run, prepared, row.id), noted, row);
  }
}

function update(run: ImportRun, prepared: Prepared, noted: RefRow, before: MonitorRow): void {
  const { ctx, tx, actor, options } = run;
  const { found, body, changes, disabled, isSwitchedOff, settingsHash } = prepared;
  const { foreign, tokens } = found;
  const waitsFor = before.paused ? (noted.pausedBy ?? (options.isPaused ? run.id : null)) : null;
  const pausedBy = isSwitchedOff ? null : waitsFor;
  const paused = isSwitchedOff || pausedBy !== null;
  const { id, ref } = before;
  const { components, parents } = getMonitorRecord(tx, id);
  const componentIds = components.map((component) => component.id);
  const parentIds = parents.map((parent) => parent.id);
  const assignment = { ref, id, componentIds, parentIds };
  const reason = reasonAgainst(() => {
    planMonitor({ ...body, paused }, before).update(ctx, tx, assignment, actor);
  });
  const { row } = getMonitorRecord(tx, id);
  const target = targetOf(row);
  if (reason !== undefined) {
    run.report("kept", foreign, { target, reason });
    return;
  }
  addImportedTokens(ctx, tx, id, tokens);
  for (const component of componentIds) renameComponent(run, component, before.name, row.name);
  run.note(foreign, notedOf(row, settingsHash, pausedBy));
  run.report(disabled ? "disabled" : "updated", foreign, {
    target,
    changes,
    reason: disabled ?? null,
  });
}

/** Renames a component that an import made and that still has the name of its monitor. */
function renameComponent(run: ImportRun, id: string, from: string, to: string): void {
  const { ctx, tx, actor } = run;
  const { managedBy, name } = getComponentRow(tx, id);
  if (from === to || managedBy !== "import" || name !== from) return;
  updateComponent(ctx, tx, id, { name: to }, actor);
}

function notedOf({ id, version }: MonitorRow, settingsHash: Buffer, pausedBy: string | null) {
  return { kind: "monitor", id, version, settingsHash, pausedBy } as const;
}

function targetOf({ id, ref, name }: MonitorRow): ImportTarget & { id: string } {
  return { kind: "monitor", id, ref, name };
}

/** Returns the errors of a monitor if `work`, which validates before it writes, throws them. */
function reasonAgainst(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const fields = error.fields.map(({ pointer, detail }) => `${pointer.slice(2)} ${detail}`);
    return oneLine(redactText(fields.join("; ") || error.message));
  }
}
