import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { CauseSource, ComponentStatus } from "../../kernel/component-status";
import {
  type CauseRow,
  deleteCause,
  insertCause,
  listCausesOfSource,
  updateCauseRow,
} from "./cause-store";
import { replaceManualCauses } from "./causes";
import { type ChangeReason, refreshStatuses } from "./refresh-statuses";
import { type ComponentRow, findComponents } from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "outbox" | "signals">;

/** What an incident or a maintenance says of one component for a while. Unix ms; without an end, open. */
export interface Mark {
  componentId: string;
  status: ComponentStatus;
  from: number;
  to: number | null;
}

/** Baselines that are set in the same breath, from a moment on, in unix ms. */
export interface NewBaselines {
  statuses: ReadonlyMap<string, ComponentStatus>;
  at: number;
}

const NO_BASELINES: NewBaselines = { statuses: new Map(), at: 0 };

/**
 * Replaces all that a source marks, past and present, by these marks, and brings every component that
 * this touches in line: each shows its new status at once, recorded and told one time at most, as
 * `why` says. Marks that last no time or say `operational` are left out. A deleted component keeps
 * its history as it is, and gets no marks. Only rows that differ are written: the same marks once more
 * change nothing. The caller touches the page.
 */
export function replaceMarks(
  ctx: Services,
  tx: Tx,
  source: "incident" | "maintenance",
  sourceId: string,
  marks: readonly Mark[],
  why: ChangeReason,
  baselines: NewBaselines = NO_BASELINES,
): void {
  const known = Map.groupBy(
    listCausesOfSource(tx, { source, sourceId }),
    (cause) => cause.componentId,
  );
  const wanted = Map.groupBy(marks.filter(isWorthKeeping), (mark) => mark.componentId);
  const touched = new Set([...known.keys(), ...wanted.keys(), ...baselines.statuses.keys()]);
  const changed: ComponentRow[] = [];
  const rebased: ComponentRow[] = [];
  for (const row of findComponents(tx, [...touched]).values()) {
    const { id: componentId } = row;
    const marks = differenceOf(known.get(componentId) ?? [], wanted.get(componentId) ?? []);
    const baseline = baselines.statuses.get(componentId) ?? row.baselineStatus;
    const isBaselineNew = baseline !== row.baselineStatus;
    if (marks.gone.length + marks.fresh.length === 0 && !isBaselineNew) continue;
    writeMarks(tx, { source, sourceId }, marks);
    const after = { ...row, baselineStatus: baseline };
    if (isBaselineNew) rebased.push(after);
    changed.push(after);
  }
  const by = { source: baselineSourceOf(why), actor: why.actor, at: baselines.at };
  replaceManualCauses(tx, rebased, by);
  refreshStatuses(ctx, tx, changed, why);
}

function isWorthKeeping({ status, from, to }: Mark): boolean {
  return status !== "operational" && (to === null || to > from);
}

interface Difference {
  gone: CauseRow[];
  fresh: Mark[];
}

/** What is stored and not wanted, and what is wanted and not stored. Neither side promises an order. */
function differenceOf(causes: readonly CauseRow[], marks: readonly Mark[]): Difference {
  const stored = Map.groupBy(causes, (cause) =>
    keyOf(cause.status, cause.startedAt, cause.endedAt),
  );
  const fresh = marks.filter(
    ({ status, from, to }) => stored.get(keyOf(status, from, to))?.pop() === undefined,
  );
  return { gone: [...stored.values()].flat(), fresh };
}

function keyOf(status: ComponentStatus, from: number, to: number | null): string {
  return `${status} ${from} ${to}`;
}

/** A row that has to go becomes one that is wanted: mostly the same mark, which has ended meanwhile. */
function writeMarks(
  tx: Tx,
  of: { source: CauseSource; sourceId: string },
  { gone, fresh }: Difference,
): void {
  for (const [index, { componentId, status, from, to }] of fresh.entries()) {
    const row = { componentId, ...of, status, startedAt: from, endedAt: to };
    const known = gone[index];
    if (known) updateCauseRow(tx, { ...row, id: known.id });
    else insertCause(tx, row);
  }
  for (const { id } of gone.slice(fresh.length)) deleteCause(tx, { id });
}

/** A baseline is what somebody set, by the API or by hand, also where they set it with something else. */
function baselineSourceOf(why: ChangeReason): "api" | "manual" {
  return why.actor.kind === "key" ? "api" : "manual";
}
