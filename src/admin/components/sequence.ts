import type { ComponentOrder } from "../../features/components/order";
import type { ComponentRow, GroupRow } from "../../features/components/store";

/*
 * A page's groups and components as one list of ids, as a screen shows them from top to bottom: those
 * without a group, then each group, followed by its components. Components that follow a group's id belong to that group.
 */
type Sequence = readonly string[];

export type Direction = "up" | "down";

export function sequenceOf(
  groups: readonly Pick<GroupRow, "id">[],
  components: readonly Pick<ComponentRow, "id" | "groupId">[],
): string[] {
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const idsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(({ id }) => id);
  return [...idsOf(null), ...groups.flatMap(({ id }) => [id, ...idsOf(id)])];
}

/** Converts a sequence of ids to an order. */
export function orderOf(sequence: Sequence): ComponentOrder {
  const groups: string[] = [];
  const components: { id: string; groupId: string | null }[] = [];
  for (const id of sequence) {
    if (isGroup(id)) groups.push(id);
    else components.push({ id, groupId: groups.at(-1) ?? null });
  }
  return { groups, components };
}

/**
 * Moves one id by a position. A component passes its neighbour or leaves its group; a group passes
 * the next one with its components. Returns the same sequence if there is no such position.
 */
export function moved(sequence: Sequence, id: string, direction: Direction): Sequence {
  const blocks = blocksOf(sequence, isGroup(id));
  const at = blocks.findIndex(([first]) => first === id);
  const next = at + (direction === "up" ? -1 : 1);
  const [own, other] = [blocks[at], blocks[next]];
  if (!own || !other || (isGroup(id) && !isGroup(other[0] ?? ""))) return sequence;
  return blocks.with(at, other).with(next, own).flat();
}

/**
 * Splits a sequence into the blocks that move together: single ids, or each group with its
 * components.
 */
function blocksOf(sequence: Sequence, isByGroup: boolean): string[][] {
  if (!isByGroup) return sequence.map((id) => [id]);
  const blocks: string[][] = [];
  for (const id of sequence) {
    const last = blocks.at(-1);
    if (last && !isGroup(id)) last.push(id);
    else blocks.push([id]);
  }
  return blocks;
}

function isGroup(id: string): boolean {
  return id.startsWith("grp_");
}
