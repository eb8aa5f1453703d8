import type { Answer, Connection } from "./connection";
import { mainThreadMs } from "./processor-time";
import type { Server } from "./server";

/** For the server to fall asleep behind an answer. */
const PAUSE_MS = 1;

/** Costs of repeated requests, in milliseconds. */
export interface RequestCost {
  /** Processor time of the server. */
  server: number[];
  /** Waiting time of the client, including other work of the machine. */
  client: number[];
}

interface Asked {
  server: Server;
  connection: Connection;
  /** As `requestText` makes it. */
  request: string;
  rounds: number;
  /** Rounds before these, until the code is compiled and the file is in memory. */
  rehearsals: number;
  /** Throws for another answer than is to be measured. */
  check(answer: Answer): void;
  /** Done before each request, and not counted. */
  before?(): Promise<void>;
}

/** Sends a request as often as is asked for, one at a time, with what each costs. */
export async function costOf(asked: Asked): Promise<RequestCost> {
  const { server, connection, request, rounds, rehearsals, check, before } = asked;
  const cost: RequestCost = { server: [], client: [] };
  for (let round = -rehearsals; round < rounds; round++) {
    await before?.();
    await Bun.sleep(PAUSE_MS);
    const spent = mainThreadMs(server.pid);
    const since = Bun.nanoseconds();
    const answer = await connection.send(request);
    const client = (Bun.nanoseconds() - since) / 1e6;
    check(answer);
    await Bun.sleep(PAUSE_MS);
    if (round < 0) continue;
    cost.server.push(mainThreadMs(server.pid) - spent);
    cost.client.push(client);
  }
  return cost;
}
