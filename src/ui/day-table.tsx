import type { DayRun } from "./day-runs";

/**
 * Table of what the bars show, in words and minutes, newest first. Equal consecutive days share a row. Rows
 * are written as text, like the bars.
 */
export function DayTable({ runs }: { runs: readonly DayRun[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Worst status</th>
          <th scope="col">How long</th>
        </tr>
      </thead>
      <tbody dangerouslySetInnerHTML={{ __html: runs.toReversed().map(writeLine).join("") }} />
    </table>
  );
}

function writeLine({ name, word, minutes }: DayRun): string {
  const [day, worst, howLong] = [name, word, minutes || "–"].map((text) => Bun.escapeHTML(text));
  return `<tr><th scope="row">${day}</th><td>${worst}</td><td>${howLong}</td></tr>`;
}
