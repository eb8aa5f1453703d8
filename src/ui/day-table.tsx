import type { DayRun } from "./day-runs";

/** What the bars show, in words and minutes, newest first. Days that were all alike share a line. */
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
      <tbody>
        {runs.toReversed().map(({ day, name, word, minutes }) => (
          <tr key={day.day}>
            <th scope="row">{name}</th>
            <td>{word}</td>
            <td>{minutes || "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
