/** Counterpart of a type, a column or a setting of Uptime Kuma. Documentation is made of these. */
export interface Mapping {
  /** Name here; null for none. */
  to: string | null;
  /** Rule, in one sentence or more; empty if it is taken over as it is. */
  rule: string;
}

/** Mappings of the columns of a table. */
export type Columns<Column extends string> = Readonly<Record<Column, Mapping>>;

const SAME = "";

/** Returns the mapping of a column with the same meaning. */
export function same(to: string): Mapping {
  return { to, rule: SAME };
}

/** Returns the mapping of a column that is not moved. */
export function none(rule: string): Mapping {
  return { to: null, rule };
}
