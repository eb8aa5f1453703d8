/** Returns true if an Accept header (RFC 9110) prefers text/csv to JSON. JSON wins a tie. */
export function prefersCsv(accept: string | null): boolean {
  if (accept === null) return false;
  const ranges = accept
    .toLowerCase()
    .split(",")
    .map((part) => {
      const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    });
  // The most precise range that fits is the one that counts.
  const weightOf = (type: string) => {
    const [family] = type.split("/");
    for (const desired of [type, `${family}/*`, "*/*"]) {
      const found = ranges.find(({ range }) => range === desired);
      if (found) return found.weight;
    }
    return 0;
  };
  return weightOf("text/csv") > weightOf("application/json");
}
