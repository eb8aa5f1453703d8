import { conflict, type FieldError, Problem } from "../base/errors";
import { redactText } from "../base/redaction";
import { oneLine } from "../base/text";
import { getComponentRow, updateComponent } from "../features/components/components";
import { resolveComponentId } from "../features/components/references";
import { findComponent } from "../features/components/store";
import { PartialComponentInput } from "../features/components/wire";
import { addImportedTokens, findTokenOwner, isShortToken } from "../features/monitors/tokens";
import { createMonitor } from "../features/monitors/monitors";
import { CreateMonitorBody } from "../features/monitors/wire";
import { validate } from "../base/validation";
import { probeOf } from "../features/monitors/probes";
import { getMonitorRecord } from "../features/monitors/records";
import {
  createUnsupportedMonitor,
  replaceMonitor,
  type ReplacingMonitor,
  readReplacingMonitor,
  validateReplacingMonitor,
} from "../features/monitors/imported";
import { findMonitor, findMonitorByRef, type MonitorRow } from "../features/monitors/store";
import {
  fitName,
  idsOf,
  knownOf,
  RefNames,
  sentenceOf,
  takeNumber,
  valueOrReason,
  type Writer,
} from "./objects";
import type { InternalPage } from "./pages";
import { cutName, isObjectOrList, Notes } from "./kit";
import type { ImportRun } from "./run";
import { type FoundComponent, type FoundMonitor, keyOf } from "./found";

/** Settings of imported monitors that the source does not have: it counts every failure as a whole outage. */
const DEFAULTS = { on_down: "major_outage", open_incident: "never" } as const;

const TAKEN_ADDRESS = "Another monitor has one of its addresses already.";
const NO_ADDRESS =
  "Other monitors have all of its addresses, so no job can call it. Give it another token, and resume it.";
const SHORT_TOKEN =
  "It has fewer than 16 characters, so it can be guessed. Rotate the token on the screen of the monitor, let the job call the new address, and end this one.";

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
    settingsOf: ({ body, disabled, held, components, watches, dependsOn = [] }) => ({
      body,
      disabled,
      held,
      components: components === "internal" ? components : knownOf(run, components),
      // One that is made here after an import is connected by the next one.
      ...(watches && { watches: watches.filter((each) => componentIdOf(each) !== undefined) }),
      dependsOn,
    }),
    create(source, notes) {
      const found = storable(run, source);
      const { tokens = [], held } = found;
      const { body, isSwitchedOff, disabled } = fit(run, notes, found, undefined);
      const input = { ...body, paused: isSwitchedOff || options.isPaused };
      const known = found.components === "internal" ? [] : idsOf(run, found.components);
      const depends_on = parentsOf(run, notes, found, { ...input, component_ids: known });
      const own = found.components === "internal" ? page.addComponent(body.name) : undefined;
      const component_ids = [...(own === undefined ? known : [own]), ...watchedHere(found, notes)];
      const whole = { ...input, component_ids, depends_on };
      const ref = refs.next(body.name, body.type);
      const metadata = { ref, managedBy: "import", tokens } as const;
      const { row } =
        whole.type === "unsupported"
          ? createUnsupportedMonitor(ctx, tx, validateReplacingMonitor(whole), actor, metadata)
          : createMonitor(ctx, tx, validate(CreateMonitorBody, whole), actor, metadata).record;
      takeNumber(run, notes, "entry", row.id, found.number);
      const isWaiting = options.isPaused && !isSwitchedOff && row.type !== "unsupported";
      return { row, disabled, held, isWaiting };
    },
    update(source, notes, before, noted) {
      const found = storable(run, source);
      const { tokens = [], held } = found;
      if (found.body.type === "unsupported" && before.type !== "unsupported") {
        throw conflict(held ?? "It can no longer be checked.");
      }
      const { body, disabled, isSwitchedOff } = fit(run, notes, found, before);
      const canWait = before.paused && (noted.pausedBy !== null || options.isPaused);
      const isWaiting = canWait && !isSwitchedOff && body.type !== "unsupported";
      const { id } = before;
      const watched = getMonitorRecord(tx, id).components.map((component) => component.id);
      const after = [...componentsAfter(found, watched), ...watchedHere(found, notes)];
      const component_ids = [...new Set(after)];
      const input = { ...body, paused: isSwitchedOff || isWaiting, component_ids };
      const depends_on = parentsOf(run, notes, found, input, id);
      const { row } = replaceMonitor(
        ctx,
        tx,
        id,
        validateReplacingMonitor({ ...input, depends_on }),
        actor,
      );
      addImportedTokens(ctx, tx, id, tokens);
      if (found.components === "internal") {
        for (const one of component_ids) renameComponent(run, one, before.name, row.name);
      }
      return { row, disabled, held, isWaiting };
    },
    complete({ tokens = [] }, row, isEdited) {
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

  /** Returns the components of this installation that a monitor watches, and notes those that do not exist. */
  function watchedHere({ watches = [] }: FoundMonitor, notes: Notes): string[] {
    const ids = watches.flatMap((reference) => {
      const id = componentIdOf(reference);
      if (id === undefined) {
        notes.change("component", reference, null, "There is no such component here.");
      }
      return id ?? [];
    });
    return [...new Set(ids)];
  }

  /** Finds a component of this installation by a reference. */
  function componentIdOf(reference: string): string | undefined {
    return findComponent(tx, { id: resolveComponentId(tx, reference) })?.id;
  }

  /**
   * Returns the components of a monitor after a change: those that are no longer in the source stay, unless the source
   * says which ones of this installation it watches.
   */
  function componentsAfter(found: FoundMonitor, watched: readonly string[]): string[] {
    if (found.components === "internal") return [...watched];
    const keys = components.map(({ foreign }) => keyOf(foreign));
    inSource ??= new Set(idsOf(run, keys));
    const staying = found.watches ? [] : watched.filter((id) => !inSource?.has(id));
    return [...new Set([...staying, ...idsOf(run, found.components)])];
  }
}

/** Maximum number of times that fields are left out of a monitor: of an object a part, then the object. */
const REPAIRS_MAX = 10;

/**
 * Returns a monitor that can be stored here. One with fields that are not valid is switched off and loses them. One
 * that cannot be without them is held with all its settings. The reasons name the fields, and no values.
 */
function storable(run: ImportRun, found: FoundMonitor): FoundMonitor {
  const name = fitName(new Notes(), found.body.name, found.foreign.type);
  const reasons = new Map<string, string>();
  let body: FoundMonitor["body"] = found.body;
  for (let repairs = 0; repairs < REPAIRS_MAX; repairs += 1) {
    const fields = errorsOf(run, { ...DEFAULTS, ...body, name });
    if (fields.length === 0) break;
    for (const field of fields) {
      // An error that follows from leaving a field out is none of the source.
      const isKnown = [...reasons.keys()].some((pointer) => pointer.startsWith(field.pointer));
      if (!isKnown) reasons.set(field.pointer, oneLine(redactText(sentenceOf(field))));
    }
    const smaller = body.type === "unsupported" ? undefined : withoutFields(body, fields);
    if (!smaller) return heldOf(run, found, body, [...reasons.values()].join(" "));
    body = smaller;
  }
  if (reasons.size === 0) return found;
  const why = `${[...reasons.values()].join(" ")} Correct that, and resume it.`;
  const disabled = [found.disabled, why].filter((reason) => reason !== undefined).join(" ");
  return { ...found, body, disabled };
}

function errorsOf({ tx }: ImportRun, input: ReplacingMonitor): readonly FieldError[] {
  try {
    // A program that is missing here is no error of one that is paused.
    const stored = input.type === "unsupported" ? input : { ...input, paused: true };
    readReplacingMonitor(tx, validateReplacingMonitor(stored));
    return [];
  } catch (error) {
    if (error instanceof Problem && error.fields.length > 0) return error.fields;
    throw error;
  }
}

/** Returns a body without the fields that have errors; undefined if it cannot be without one of them. */
function withoutFields<Body extends object>(
  body: Body,
  fields: readonly FieldError[],
): Body | undefined {
  const smaller = structuredClone(body) as Record<string, unknown>;
  // The last entries of a list first, so that the others keep their places.
  for (const { pointer } of fields.toSorted((a, b) => compareEntries(b.pointer, a.pointer))) {
    const steps = pointer
      .slice(2)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    // Of a list an entry is left out as a whole, and of an object a part.
    const [name = "", field, part] = steps;
    if (name === "type" || name === "name" || (name === "config" && field === undefined)) {
      return undefined;
    }
    const path = [[name, field, part], [name, field], name === "config" ? [] : [name]]
      .map((each) => each.filter((step) => step !== undefined))
      .find((each) => hasOwn(smaller, each));
    // A part that is missing is required by its object, and a field by the type.
    if (!path || path.length === 0) return undefined;
    remove(smaller, path);
  }
  return smaller as Body;
}

/** Compares pointers, and numbers in them as such. */
const { compare: compareEntries } = new Intl.Collator("en", { numeric: true });

/** Returns the object or the list that holds the last step of a path; undefined without one. */
function holderOf(value: unknown, path: readonly string[]): Record<string, unknown> | undefined {
  let holder: unknown = value;
  for (const step of path.slice(0, -1)) {
    holder = isObjectOrList(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
  }
  return isObjectOrList(holder) ? holder : undefined;
}

function hasOwn(value: unknown, path: readonly string[]): boolean {
  const holder = holderOf(value, path);
  return holder !== undefined && Object.hasOwn(holder, path.at(-1) ?? "");
}

function remove(value: unknown, path: readonly string[]): void {
  const holder = holderOf(value, path);
  const last = path.at(-1) ?? "";
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (holder) delete holder[last];
}

/** Returns a monitor that is kept with all its settings, and never checked. Its other fields are those of `body`. */
function heldOf(
  { kind }: ImportRun,
  found: FoundMonitor,
  body: FoundMonitor["body"],
  reason: string,
): FoundMonitor {
  const { type, config } = found.body;
  const { type: _type, config: _config, ...others } = body;
  if (type === "unsupported") return found;
  const target = cutName(targetIn(type, config ?? {}), type, TARGET_MAX);
  const settings = { ...config };
  return {
    ...found,
    body: { ...others, type: "unsupported", config: { source: kind, type, target, settings } },
    held: `${reason} Its settings are kept.`,
  };
}

/** Maximum length of a target, in characters. */
const TARGET_MAX = 200;

/** Returns the short form of a target without secrets; nothing for a config that has none. */
function targetIn(type: FoundMonitor["body"]["type"], config: object): string {
  try {
    return redactText(probeOf(type).targetOf({ ...config }));
  } catch {
    return "";
  }
}

/** Returns monitors with an id for each. One with the id of another is switched off. */
export function withOwnIds(monitors: readonly FoundMonitor[]): FoundMonitor[] {
  const counts = new Map<string, number>();
  return monitors.map((found) => {
    const { foreign } = found;
    const count = (counts.get(keyOf(foreign)) ?? 0) + 1;
    counts.set(keyOf(foreign), count);
    if (count === 1) return found;
    const reason = "The source has another one with its id. Compare them, and resume or delete it.";
    const disabled = [found.disabled, reason].filter((each) => each !== undefined).join(" ");
    return {
      ...found,
      foreign: { ...foreign, id: `${foreign.id}#${count}` },
      number: null,
      disabled,
    };
  });
}

/** Sorts monitors so that parents come first. Of a cycle the one that was found first comes last. */
export function parentsFirst(monitors: readonly FoundMonitor[]): FoundMonitor[] {
  if (monitors.every(({ dependsOn = [] }) => dependsOn.length === 0)) return [...monitors];
  const byKey = new Map(monitors.map((one) => [keyOf(one.foreign), one]));
  const seen = new Set<FoundMonitor>();
  const sorted = new Set<FoundMonitor>();
  const visit = (one: FoundMonitor) => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const key of one.dependsOn ?? []) {
      const parent = byKey.get(key);
      if (parent) visit(parent);
    }
    sorted.add(one);
  };
  for (const one of monitors) visit(one);
  return [...sorted];
}

/** Returns a monitor within the limits of this installation, and whether and why it is switched off. */
function fit(
  run: ImportRun,
  notes: Notes,
  { foreign, disabled, tokens = [], body: found }: FoundMonitor,
  before: MonitorRow | undefined,
) {
  const name = fitName(notes, found.name, foreign.type);
  const body: ReplacingMonitor = { ...DEFAULTS, ...found, name };
  const reasons = disabled === undefined ? [] : [disabled];
  const program = probeOf(body.type).findMissingProgram?.();
  if (program !== undefined) {
    reasons.push(
      `The program ${program} is not installed on this server. Install it, and resume the monitor.`,
    );
  }
  const free = tokens.filter((token) => {
    const owner = findTokenOwner(run.tx, token);
    return owner === undefined || owner.monitorId === before?.id;
  });
  if (free.length < tokens.length) {
    notes.drop("address", TAKEN_ADDRESS);
    // It would be down soon.
    if (free.length === 0) reasons.push(NO_ADDRESS);
  }
  if (free.some(isShortToken)) notes.change("token", "set", "set", SHORT_TOKEN);
  const isPaused = "paused" in body && body.paused === true;
  const isSwitchedOff = isPaused || reasons.length > 0;
  return { body, disabled: reasons.join(" ") || undefined, isSwitchedOff };
}

/**
 * Returns the ids of the monitors on which one depends; none, and a note, if they are not possible. Throws the errors of
 * everything else in the monitor, without writing.
 */
function parentsOf(
  run: ImportRun,
  notes: Notes,
  { dependsOn = [] }: FoundMonitor,
  input: ReplacingMonitor,
  id?: string,
): string[] {
  const { tx } = run;
  readReplacingMonitor(tx, validateReplacingMonitor(input));
  const ids = idsOf(run, dependsOn).filter((parent) => parent !== id);
  const valid = valueOrReason(() =>
    readReplacingMonitor(tx, validateReplacingMonitor({ ...input, depends_on: ids })),
  );
  const kept = typeof valid === "string" ? [] : ids;
  if (typeof valid === "string" || ids.length < dependsOn.length) {
    const reason = typeof valid === "string" ? valid : "Some of the monitors are not here.";
    notes.change("depends_on", dependsOn.length, kept.length, reason);
  }
  return kept;
}

/** Renames a component that an import made and that still has the name of its monitor. */
function renameComponent(run: ImportRun, id: string, from: string, to: string): void {
  const { ctx, tx, actor } = run;
  const { managedBy, name } = getComponentRow(tx, id);
  if (from === to || managedBy !== "import" || name !== from) return;
  updateComponent(ctx, tx, id, validate(PartialComponentInput, { name: to }), actor);
}
