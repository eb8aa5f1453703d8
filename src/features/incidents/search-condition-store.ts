import { sql } from "drizzle-orm";

/**
 * Condition: the name of an incident, or of a component that it names, contains a text; null matches
 * all. The list of incidents with such components is made at most once per statement.
 */
export const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(incidents.name), lower(${$.search})) > 0
    OR incidents.id IN (SELECT n.incident_id FROM components AS c
      CROSS JOIN incident_update_components AS n ON n.component_id = c.id
      WHERE instr(lower(c.name), lower(${$.search})) > 0))`;
