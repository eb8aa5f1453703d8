import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { FieldErrors } from "../../base/validation";
import { recordAudits } from "../../events/audit";
import type { Actor } from "../../base/actor";
import {
  clearUnreachableVia,
  deleteDependencies,
  deleteDependenciesOn,
  insertDependency,
  listAllDependencies,
  listDependents,
} from "./dependency-store";
import { resolveMonitorId } from "./records";
import { findMonitor, touchMonitorRows } from "./store";

/** Maximum number of dependencies that follow each other. */
const DEPTH_MAX = 5;
const TOO_DEEP = `makes more than ${DEPTH_MAX} dependencies follow each other`;

/** Ids of monitors by the id of another, in one direction of the dependencies. */
type Edges = ReadonlyMap<string, readonly string[]>;

/** Dependencies of all monitors. */
interface Graph {
  parents: Edges;
  dependents: Edges;
}

/**
 * Returns the ids of the parents that a body names by id or ref. Adds an error for each that does not
 * exist or occurs twice, that is or depends on the monitor itself (`id`, undefined for a new one), or
 * that makes too many dependencies follow each other.
 */
export function readParents(
  reader: Reader,
  errors: FieldErrors,
  references: readonly string[],
  id?: string,
): string[] {
  if (references.length === 0) return [];
  const graph = readGraph(reader);
  const parentIds: string[] = [];
  for (const [index, reference] of references.entries()) {
    // An empty reference stands for an entry that breaks the schema and has its error already.
    if (reference === "") continue;
    const parentId = resolveMonitorId(reader, reference);
    const error = findMonitor(reader, { id: parentId })
      ? parentIds.includes(parentId)
        ? "names the same monitor twice"
        : dependencyError(graph, parentId, id)
      : "does not exist";
    if (error === undefined) parentIds.push(parentId);
    else errors.add(["depends_on", index], error);
  }
  return parentIds;
}

function readGraph(reader: Reader): Graph {
  const pairs = listAllDependencies(reader, {});
  const edges = (from: "monitorId" | "parentId", to: "monitorId" | "parentId"): Edges =>
    new Map(
      Array.from(
        Map.groupBy(pairs, (pair) => pair[from]),
        ([id, own]) => [id, own.map((pair) => pair[to])],
      ),
    );
  return { parents: edges("monitorId", "parentId"), dependents: edges("parentId", "monitorId") };
}

/** Returns the error of a parent of a monitor; `id` is undefined for a new monitor. */
function dependencyError(
  { parents, dependents }: Graph,
  parentId: string,
  id?: string,
): string | undefined {
  if (parentId === id) return "is the monitor itself";
  if (id !== undefined && leadsTo(parents, parentId, id)) return "depends on the monitor itself";
  const before = id === undefined ? 0 : longestPath(dependents, id);
  return before + 1 + longestPath(parents, parentId) > DEPTH_MAX ? TOO_DEEP : undefined;
}

/** Returns true if a path of at least one edge leads from one monitor to another. */
function leadsTo(edges: Edges, from: string, to: string): boolean {
  const seen = new Set<string>();
  const visit = (id: string): boolean => {
    if (seen.has(id)) return false;
    seen.add(id);
    return (edges.get(id) ?? []).some((next) => next === to || visit(next));
  };
  return visit(from);
}

/** Returns the number of edges of the longest path from a monitor; infinite if it leads into a cycle. */
function longestPath(edges: Edges, id: string, known = new Map<string, number>()): number {
  const before = known.get(id);
  if (before !== undefined) return before;
  known.set(id, Number.POSITIVE_INFINITY);
  let longest = 0;
  for (const next of edges.get(id) ?? []) {
    longest = Math.max(longest, 1 + longestPath(edges, next, known));
  }
  known.set(id, longest);
  return longest;
}

/** Monitors of which each depends on the next, and the error of their dependencies. */
interface InvalidChain {
  /** Ends with its first monitor if they are a cycle. */
  ids: readonly string[];
  detail: string;
}

/**
 * Finds monitors whose dependencies are a cycle, or that are too many in a row: for changes of several
 * monitors that are valid only together.
 */
export function findInvalidChain(reader: Reader): InvalidChain | undefined {
  const { parents } = readGraph(reader);
  const lengths = new Map<string, number>();
  for (const id of parents.keys()) {
    const length = longestPath(parents, id, lengths);
    if (length <= DEPTH_MAX) continue;
    const chain = longestChain(parents, id, lengths);
    return length === Number.POSITIVE_INFINITY
      ? {
          ids: chain.slice(chain.indexOf(chain.at(-1) ?? id)),
          detail: "leads back to the monitor itself",
        }
      : { ids: chain.slice(-DEPTH_MAX - 2), detail: TOO_DEEP };
  }
  return undefined;
}

/**
 * Returns the ids along the longest path from a monitor. A path into a cycle ends where it meets itself.
 * `lengths` are those of the longest paths.
 */
function longestChain(edges: Edges, id: string, lengths: ReadonlyMap<string, number>): string[] {
  const lengthFrom = (one: string) => lengths.get(one) ?? 0;
  const chain: string[] = [];
  let next: string | undefined = id;
  while (next !== undefined && !chain.includes(next)) {
    chain.push(next);
    [next] = (edges.get(next) ?? []).toSorted((a, b) => lengthFrom(b) - lengthFrom(a));
  }
  return next === undefined ? chain : [...chain, next];
}

/** Replaces the parents of a monitor. */
export function saveParents(tx: Tx, monitorId: string, parentIds: readonly string[]): void {
  deleteDependencies(tx, { monitorId });
  for (const [position, parentId] of parentIds.entries()) {
    insertDependency(tx, { monitorId, parentId, position });
  }
}

/** Removes a monitor that is deleted from the dependencies of others, and its own. */
export function removeFromDependencies(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  saveParents(tx, id, []);
  const dependents = listDependents(tx, { parentId: id });
  if (dependents.length === 0) return;
  const at = ctx.clock.now();
  clearUnreachableVia(tx, { parentId: id });
  deleteDependenciesOn(tx, { parentId: id });
  touchMonitorRows(tx, { nums: JSON.stringify(dependents.map(({ num }) => num)), at });
  recordAudits(
    tx,
    dependents.map(({ id: targetId, name }) => ({
      actor,
      action: "monitor.update",
      targetId,
      summary: `Changed the monitor “${name}”: dependencies`,
      at,
    })),
  );
}
