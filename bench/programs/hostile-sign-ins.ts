/**
 * Signs in with wrong passwords from many addresses, each as often as its limit allows, and prints as
 * JSON how the attempts were answered: `hostile-sign-ins URL EMAIL ADDRESSES SECONDS`. The addresses
 * are those that a trusted proxy would name.
 */
import { openConnection, requestText } from "../support/connection";

/** Number of answers of each status. */
export type HostileAnswers = Record<number, number>;

const BURST = 10;
const PACE_MS = 6_000;

const [url = "", email = "", addresses = "", seconds = ""] = process.argv.slice(2);
const until = performance.now() + Number(seconds) * 1_000;
const answers: HostileAnswers = {};

await Promise.all(
  Array.from({ length: Number(addresses) }, async (_, n) => {
    const connection = await openConnection(url);
    const headers = { "X-Forwarded-For": `100.64.${n >> 8}.${n & 255}`, Accept: "text/html" };
    const attempt = async (count: number) => {
      const form = { email, password: `a guess that is wrong ${n} ${count}` };
      const { status } = await connection.send(
        requestText(url, "/admin/sign-in", { form, headers }),
      );
      answers[status] = (answers[status] ?? 0) + 1;
    };
    for (let count = 0; count < BURST; count++) await attempt(count);
    for (let due = performance.now() + PACE_MS; due < until; due += PACE_MS) {
      await Bun.sleep(Math.max(0, due - performance.now()));
      await attempt(due);
    }
  }),
);
process.stdout.write(JSON.stringify(answers));
process.exit(0);
