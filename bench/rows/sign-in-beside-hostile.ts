import type { HostileAnswers } from "../programs/hostile-sign-ins";
import { addOwner, OWNER } from "../support/add-owner";
import { compileProgram } from "../support/compile";
import { type Connection, openConnection, requestText } from "../support/connection";
import type { Figure } from "../support/figure";
import { seed } from "../support/seed";
import { startAllclear } from "../support/server";
import type { Workspace } from "../support/workspace";

const ADDRESSES = 200;
const SIGN_INS = 8;
const REACH_MS = 3_000;
/** Time between the owner's attempts, which keeps them below the limit of one address. */
const PACE_MS = 7_000;
const HEAD_START_MS = 1_000;
const KNOWN_ADDRESS = "203.0.113.7";

interface Outcome {
  status: number;
  ms: number;
}

/** The owner's sign-ins while many addresses try wrong passwords as often as their limit allows. */
export async function measureSignInBesideHostile(workspace: Workspace): Promise<Figure[]> {
  const { dataDir } = await seed(workspace.path("data"));
  await addOwner(dataDir);
  const program = compileProgram(workspace, "hostile-sign-ins");
  const server = await startAllclear(workspace, dataDir, {
    env: { ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1/32" },
  });
  const owner = await openConnection(server.url);
  try {
    const before = await signIn(owner, server.url, KNOWN_ADDRESS);
    if (before.status !== 303) throw new Error(`the owner's sign-in answered ${before.status}`);
    const seconds = (HEAD_START_MS + SIGN_INS * PACE_MS) / 1_000;
    const child = Bun.spawn(
      [program, server.url, OWNER.email, String(ADDRESSES), String(seconds)],
      {
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    await Bun.sleep(HEAD_START_MS);
    const known: Outcome[] = [];
    const unknown: Outcome[] = [];
    for (let time = 0; time < SIGN_INS; time++) {
      known.push(await signIn(owner, server.url, KNOWN_ADDRESS));
      unknown.push(await signIn(owner, server.url, `192.0.2.${time}`));
      await Bun.sleep(PACE_MS);
    }
    const answers = JSON.parse(await new Response(child.stdout).text()) as HostileAnswers;
    const [judged, waits, full] = [422, 429, 503].map((status) => answers[status] ?? 0);
    const where = `while ${ADDRESSES} addresses make ten wrong attempts a minute each`;
    return [
      present(`the owner signs in from an address that has signed in before, ${where}`, known),
      present("the same from an address that has not", unknown),
      {
        what: "of the wrong attempts",
        target: "",
        measured: `${judged} judged, ${waits} told to wait, ${full} told that too many ask`,
      },
    ];
  } finally {
    owner.close();
    await server.stop();
  }
}

function present(what: string, outcomes: readonly Outcome[]): Figure {
  const inTime = outcomes.filter(({ status, ms }) => status === 303 && ms <= REACH_MS).length;
  const slowest = Math.max(...outcomes.map(({ ms }) => ms));
  return {
    what,
    target: `${SIGN_INS} of ${SIGN_INS} within ${REACH_MS / 1_000} s`,
    measured: `${inTime} of ${SIGN_INS}, the slowest after ${(slowest / 1_000).toFixed(2)} s`,
    isReached: inTime === SIGN_INS,
    numbers: { "slowest in ms": slowest },
  };
}

async function signIn(connection: Connection, url: string, address: string): Promise<Outcome> {
  const headers = { "X-Forwarded-For": address, Accept: "text/html" };
  const since = performance.now();
  const { status } = await connection.send(
    requestText(url, "/admin/sign-in", { form: OWNER, headers }),
  );
  return { status, ms: performance.now() - since };
}
