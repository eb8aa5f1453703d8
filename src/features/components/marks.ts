import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { ComponentStatus } from "../../kernel/component-status";
import { type ChangeReason, refreshStatus, replaceBaselineCause } from "./set-status";
import {
  type CauseRow,
  deleteCausesOfSource,
  findComponent,
  insertCause,
  listCausesOfSource,
} from "./store";

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
 * its history as it is, and gets no marks. The same marks once more change nothing.
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
  for (const componentId of touched) {
    const row = findComponent(tx, { id: componentId });
    if (!row) continue;
    const own = wanted.get(componentId) ?? [];
    const hasSameMarks = areSame(known.get(componentId) ?? [], own);
    const baseline = baselines.statuses.get(componentId) ?? row.baselineStatus;
    if (hasSameMarks && baseline === row.baselineStatus) continue;
    if (!hasSameMarks) {
      deleteCausesOfSource(tx, { componentId, source, sourceId });
      for (const { status, from, to } of own) {
        insertCause(tx, { componentId, source, sourceId, status, startedAt: from, endedAt: to });
      }
    }
    if (baseline !== row.baselineStatus) {
      const by = { source: baselineSourceOf(why), actor: why.actor, at: baselines.at };
      replaceBaselineCause(tx, componentId, baseline, by);
    }
    refreshStatus(ctx, tx, { ...row, baselineStatus: baseline }, why);
  }
}

function isWorthKeeping({ status, from, to }: Mark): boolean {
  return status !== "operational" && (to === null || to > from);
}

/** In any order: neither what is stored nor what a fold gives promises one. */
function areSame(causes: readonly CauseRow[], marks: readonly Mark[]): boolean {
  if (causes.length !== marks.length) return false;
  const stored = new Set(
    causes.map(({ status, startedAt, endedAt }) => `${status} ${startedAt} ${endedAt}`),
  );
  return marks.every(({ status, from, to }) => stored.has(`${status} ${from} ${to}`));
}

/** A baseline is what somebody set, by the API or by hand, also where they set it with something else. */
function baselineSourceOf(why: ChangeReason): "api" | "manual" {
  return why.actor.kind === "key" ? "api" : "manual";
}
