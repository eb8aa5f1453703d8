import type { Row } from "./chapter";

/** Returns rows of which those with the same right side are one. */
export function merged(rows: readonly Row[]): Row[] {
  const byMeaning = Map.groupBy(rows, ([, here]) => here);
  return [...byMeaning].map(([here, same]) => [same.map(([there]) => there).join(", "), here]);
}

/** Returns the rows of a table of fields by their names. */
export function fieldRows<Field>(
  fields: Readonly<Record<string, Field>>,
  meaningOf: (field: Field) => string,
): Row[] {
  return merged(
    Object.entries(fields).map(([name, field]) => [`\`${name}\``, meaningOf(field)] as const),
  );
}
