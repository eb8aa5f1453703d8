/**
 * Sends many sign-ins with wrong passwords in the same moment, every second one for an account that
 * there is, and prints as JSON what became of them: `sign-in-flood URL EMAIL COUNT one|many`, from one
 * address or from as many as there are sign-ins, as a trusted proxy tells them.
 */
import { openConnection, requestText } from "../support/connection";

export interface Flood {
  /** Unix ms, from before the first was sent until the last was answered or given up. */
  from: number;
  until: number;
  /** Number of attempts by the status of their answer. */
  answers: Record<number, number>;
  /** Number of attempts without an answer in time. */
  unanswered: number;
  /** Of those that were answered. */
  slowestMs: number;
}

const PATIENCE_MS = 15_000;

const [url = "", email = "", count = "", addresses] = process.argv.slice(2);

const attempts = await Promise.all(
  Array.from({ length: Number(count) }, async (_, n) => {
    const address = addresses === "one" ? "198.51.100.1" : `100.64.${n >> 8}.${n & 255}`;
    const form = {
      email: n % 2 === 0 ? email : `nobody-${n}@acme.example`,
      password: `a guess that is wrong ${n}`,
    };
    const headers = { "X-Forwarded-For": address, Accept: "text/html", "Accept-Encoding": "gzip" };
    const request = requestText(url, "/admin/sign-in", { form, headers });
    return { connection: await openConnection(url), request };
  }),
);

const flood: Flood = { from: Date.now(), until: 0, answers: {}, unanswered: 0, slowestMs: 0 };
const overdue = Bun.sleep(PATIENCE_MS);
const since = performance.now();
await Promise.all(
  attempts.map(async ({ connection, request }) => {
    const answer = await Promise.race([connection.send(request).catch(() => undefined), overdue]);
    if (!answer) flood.unanswered += 1;
    else {
      flood.answers[answer.status] = (flood.answers[answer.status] ?? 0) + 1;
      flood.slowestMs = performance.now() - since;
    }
  }),
);
flood.until = Date.now();
process.stdout.write(JSON.stringify(flood));
process.exit(0);
