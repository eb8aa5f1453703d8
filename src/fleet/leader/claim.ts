import { OperatorError } from "../../db/errors";
import type { DataDirectory } from "../../db/data-directory";
import { SCHEMA_VERSION } from "../../db/migrations";
import type { Clock } from "../../base/clock";
import { VERSION } from "../../version";
import {
  type Leader,
  type LeaderRecord,
  isRecordOf,
  nextPrefix,
  prefixOf,
  readLeader,
  writeLeader,
} from "./record";
import type { LeaderStore } from "./signature";
import { type FleetNode, writeNode } from "../node";

/** Outcome of a claim: the record is this process's own, or another node has begun a later term. */
export type Claim =
  | { kind: "held"; leader: Leader; writtenAt: number }
  | { kind: "superseded"; by: LeaderRecord; term: number };

export interface Claimant {
  directory: DataDirectory;
  node: FleetNode;
  /** Id of this process. */
  run: string;
  /** URL by which other nodes reach this one. */
  address: string | null;
  /** Last term in the database; 0 without one. */
  lastTerm: number;
}

/** Attempts if other nodes write the record at the same time. */
const ATTEMPTS = 5;

/**
 * Makes this process the primary: of a new fleet if there is no record, or again after a restart. Throws an
 * OperatorError if the fleet has another primary and this data directory never was its primary's.
 */
export async function claimLeadership(
  store: LeaderStore,
  clock: Clock,
  claimant: Claimant,
): Promise<Claim> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const current = await readLeader(store, claimant.node);
    const superseded = current && compareTerms(current.record, claimant, store.name);
    if (superseded) return superseded;
    const writtenAt = clock.monotonic();
    const leader = current
      ? await writeLeader(store, current, {
          ...current.record,
          ...ownFacts(claimant),
          renewal: current.record.renewal + 1,
        })
      : await createLeader(store, claimant);
    if (leader !== "changed") return { kind: "held", leader, writtenAt };
  }
  throw new OperatorError(`Other nodes keep changing the record of the primary in ${store.name}.`);
}

/** Returns what this node writes into its record. */
export function ownFacts({ node, run, address }: Pick<Claimant, "node" | "run" | "address">) {
  return {
    node: node.id,
    run,
    address,
    version: VERSION,
    schema: SCHEMA_VERSION,
    released: false,
  };
}

/**
 * Writes the first record of a fleet, unless another node does. The node's term is stored before, so that a start after
 * a crash finds that the record is its own.
 */
export async function createLeader(
  store: LeaderStore,
  claimant: Claimant,
): Promise<Leader | "changed"> {
  const { directory, node, lastTerm } = claimant;
  const term = Math.max(lastTerm, node.term ?? 0) + 1;
  const prefix = await freePrefix(store, prefixOf(term, 1));
  const record = { ...ownFacts(claimant), term, prefix, previous: null, renewal: 0 };
  return writeInTerm(directory, node, term, () => writeLeader(store, undefined, record));
}

/** Stores the term of a node, and the former one again if the record was written by another node. */
export async function writeInTerm(
  directory: DataDirectory,
  node: FleetNode,
  term: number,
  write: () => Promise<Leader | "changed">,
): Promise<Leader | "changed"> {
  const former = node.term;
  const store = (value: number | undefined) => {
    node.term = value;
    writeNode(directory, node);
  };
  store(term);
  const written = await write();
  if (written === "changed") store(former);
  return written;
}

/** Returns the first prefix without files: this one, or one that follows within its term. */
export async function freePrefix(
  store: Pick<LeaderStore, "list">,
  prefix: string,
): Promise<string> {
  let free = prefix;
  while ((await store.list(`${free}/`)).length > 0) free = nextPrefix(free);
  return free;
}

/** Returns undefined for this node's own record. */
function compareTerms(
  record: LeaderRecord,
  { node }: Claimant,
  store: string,
): Extract<Claim, { kind: "superseded" }> | undefined {
  if (isRecordOf(record, node)) return undefined;
  if (node.term === undefined) throw describeOther(record, store);
  if (record.term > node.term) return { kind: "superseded", by: record, term: node.term };
  throw new OperatorError(
    `The record in ${store} is of term ${record.term} of ${nameOf(record)}, but this node has been the primary in term ${node.term}. Name the store of this node's fleet.`,
  );
}

/** Returns the error of a node that cannot be the primary, since another one is. `store` is the store's name. */
export function describeOther(record: LeaderRecord, store: string): OperatorError {
  return new OperatorError(
    `The fleet in ${store} has a primary: ${nameOf(record)}. Start this node with --replica and a data directory without a database, or name another path in the store.`,
  );
}

function nameOf({ node, address }: LeaderRecord): string {
  return address === null ? node : `${node} at ${address}`;
}
