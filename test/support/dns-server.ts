import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** Answer to a DNS query: records of the requested type, or a response code; null for no answer. */
export type DnsReply = { records: Buffer[] } | { code: number } | null;

export const NXDOMAIN = { code: 3 };
export const SERVFAIL = { code: 2 };
export const REFUSED = { code: 5 };

interface DnsServer extends AsyncDisposable {
  /** Address and port in the notation of a resolver. */
  address: string;
  /** Returns the number of queries received. */
  questions(): number;
}

const HEADER_BYTES = 12;

/** Starts a resolver on loopback that answers every query by `reply`, on a free port unless one is given. */
export async function startDnsServer(
  reply: (name: string) => DnsReply,
  { host = "127.0.0.1", port: ownPort = 0 }: { host?: string; port?: number } = {},
): Promise<DnsServer> {
  const socket = createSocket("udp4");
  let questions = 0;
  socket.on("message", (message, { port, address }) => {
    questions += 1;
    const answer = reply(nameIn(message));
    if (answer) socket.send(encode(message, answer), port, address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(ownPort, host, resolve);
  });
  return {
    address: `${host}:${(socket.address() as AddressInfo).port}`,
    questions: () => questions,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** Encodes a name as in DNS messages. */
export function dnsName(name: string): Buffer {
  const labels = name.split(".").map((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([...labels.flat(), 0]);
}

/** Reads the name of the question. */
function nameIn(message: Buffer): string {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels.join(".");
}

function encode(message: Buffer, reply: { records: Buffer[] } | { code: number }): Buffer {
  const records = "records" in reply ? reply.records : [];
  const end = questionEnd(message);
  const header = Buffer.from(message.subarray(0, HEADER_BYTES));
  header[2] = 0x81;
  header[3] = 0x80 | ("code" in reply ? reply.code : 0);
  header.writeUInt16BE(records.length, 6);
  // No authority and additional records.
  header.writeUInt32BE(0, 8);
  const type = message.readUInt16BE(end - 4);
  const encoded = records.map((data) => {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    head.writeUInt16BE(type, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt32BE(3600, 6);
    head.writeUInt16BE(data.length, 10);
    return Buffer.concat([head, data]);
  });
  return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...encoded]);
}

function questionEnd(message: Buffer): number {
  let at = HEADER_BYTES;
  while (message[at]) at += (message[at] ?? 0) + 1;
  return at + 5;
}
