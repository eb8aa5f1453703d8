import { sql } from "drizzle-orm";

/** Condition: the name of a maintenance, or of one of its components, contains a text; null matches all. */
export const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(maintenances.name), lower(${$.search})) > 0
    OR EXISTS (SELECT 1 FROM maintenance_components AS n WHERE n.maintenance_id = maintenances.id
      AND instr(lower(n.name), lower(${$.search})) > 0))`;
