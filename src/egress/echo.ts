import ipaddr from "ipaddr.js";
import type { Clock, Timer } from "../base/clock";
import { type Libc, loadLibc, socketAddress } from "./libc";

/*
 * Echo requests of ICMP without a program, by the sockets that Linux gives to the groups in
 * net.ipv4.ping_group_range. Containers of Docker have that permission, and neither `ping` nor its capability.
 */

/** Constants of Linux, the same on x64 and arm64. */
const FAMILIES = {
  4: { family: 2, protocol: 1, request: 8, reply: 0 },
  6: { family: 10, protocol: 58, request: 128, reply: 129 },
} as const;
/** SOCK_DGRAM, SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCKET_TYPE = 0x2 | 0x800 | 0x8_0000;
/** MSG_DONTWAIT. */
const DO_NOT_WAIT = 0x40;
/** SIOCGSTAMPNS: time at which the kernel received the last packet of a socket. The first call has it noted. */
const GET_STAMP = 0x8907;
const CLOCK_REALTIME = 0;

/** EINTR, EAGAIN, ENOMEM and ENOBUFS: this server was short of something, which says nothing about the host. */
const OWN_ERRORS: ReadonlySet<number> = new Set([4, 11, 12, 105]);

const HEADER_BYTES = 8;
/** As many as `ping` sends, of which the first are random. */
const PAYLOAD_BYTES = 56;
const NONCE_BYTES = 16;
const READ_BYTES = 512;

/** Replies of one socket that are read in one turn of the event loop. */
const READS_MAX = 8;

/** Part of the time since a request after which its socket is looked at again, with its bounds in ms. */
const LOOK_SHARE = 1 / 16;
const LOOK_MS = { min: 1, max: 20 };

/**
 * Reply of a host, or its absence. `unsent`: this server had no room for the request. `unsupported`: this process may
 * not send echo requests.
 */
type Echo =
  | { outcome: "answered"; latencyMs: number }
  | { outcome: "silent" | "unreachable" | "unsent" | "unsupported" };

/** Sends an echo request to an address, and waits for its reply until the signal aborts. */
export type SendEcho = (address: string, signal: AbortSignal) => Promise<Echo>;

/** Returns true if this process may send echo requests by itself. */
export function canSendEcho(): boolean {
  const library = loadLibc();
  const socket = library && openSocket(library, 4);
  if (!library || socket === undefined) return false;
  library.close(socket);
  return true;
}

interface Waiting {
  socket: number;
  packet: Buffer;
  reply: number;
  /** Monotonic times in ms. */
  sentAt: number;
  lookAt: number;
  /** Wall-clock time in ns. */
  sentNs: bigint;
  settle(echo: Echo): void;
}

/** Creates the sender of echo requests. All that wait share one timer, which runs only while there are some. */
export function createEcho(clock: Clock): SendEcho {
  const waiting = new Set<Waiting>();
  const received = Buffer.alloc(READ_BYTES);
  const time = Buffer.alloc(16);
  let timer: Timer | undefined;

  function schedule(): void {
    timer?.cancel();
    timer = undefined;
    if (waiting.size === 0) return;
    let next = Infinity;
    for (const { lookAt } of waiting) next = Math.min(next, lookAt);
    const wait = Math.max(Math.ceil(next - clock.monotonic()), LOOK_MS.min);
    timer = clock.after(wait, look);
  }

  /** Looks at the sockets that are due. */
  function look(): void {
    const now = clock.monotonic();
    for (const each of waiting) {
      if (each.lookAt > now) continue;
      if (isAnswered(each)) {
        each.settle({ outcome: "answered", latencyMs: latencyOf(each, now) });
        continue;
      }
      const share = (now - each.sentAt) * LOOK_SHARE;
      each.lookAt = now + Math.min(Math.max(share, LOOK_MS.min), LOOK_MS.max);
    }
    schedule();
  }

  /** Returns the time until the kernel received the reply, which a busy event loop reads later. */
  function latencyOf({ socket, sentAt, sentNs }: Waiting, now: number): number {
    const isStamped = loadLibc()?.ioctl(socket, GET_STAMP, time) === 0;
    const ms = isStamped ? Number(nanoseconds(time) - sentNs) / 1e6 : now - sentAt;
    // The wall clock may have been set meanwhile.
    return Math.round(Math.min(Math.max(ms, 0), now - sentAt));
  }

  /** Returns true if the reply has come. Other packets, such as those of an earlier user of its number, are skipped. */
  function isAnswered({ socket, packet, reply }: Waiting): boolean {
    const library = loadLibc();
    for (let reads = 0; library && reads < READS_MAX; reads += 1) {
      const length = Number(library.recv(socket, received, READ_BYTES, DO_NOT_WAIT));
      if (length < 0) return false;
      const isReply = length === packet.byteLength && received[0] === reply && received[1] === 0;
      // The kernel sets checksum and identifier. The socket is connected, so that the sender is the address.
      if (isReply && received.subarray(6, length).equals(packet.subarray(6))) return true;
    }
    return false;
  }

  return async (address, signal) => {
    const library = loadLibc();
    // An IPv4 address that is written as an IPv6 one is reached by IPv4.
    const parsed = ipaddr.process(address);
    const version = parsed.kind() === "ipv4" ? 4 : 6;
    const socket = library && openSocket(library, version);
    if (!library || socket === undefined) return { outcome: "unsupported" };
    const target = socketAddress(parsed.toByteArray());
    const packet = echoRequest(FAMILIES[version].request);
    library.ioctl(socket, GET_STAMP, time);
    library.clock_gettime(CLOCK_REALTIME, time);
    const sentNs = nanoseconds(time);
    const sentAt = clock.monotonic();
    const isSent =
      library.connect(socket, target, target.byteLength) === 0 &&
      Number(library.send(socket, packet, packet.byteLength, 0)) === packet.byteLength;
    if (!isSent) {
      const isOwn = OWN_ERRORS.has(library.error());
      library.close(socket);
      return { outcome: isOwn ? "unsent" : "unreachable" };
    }
    const { promise, resolve } = Promise.withResolvers<Echo>();
    const entry: Waiting = {
      socket,
      packet,
      reply: FAMILIES[version].reply,
      sentNs,
      sentAt,
      lookAt: sentAt,
      settle(echo) {
        if (!waiting.delete(entry)) return;
        library.close(socket);
        signal.removeEventListener("abort", onAbort);
        resolve(echo);
      },
    };
    const onAbort = () => {
      entry.settle({ outcome: "silent" });
      schedule();
    };
    waiting.add(entry);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    // A host on the same machine has answered already.
    look();
    return promise;
  };
}

function openSocket(library: Libc, version: 4 | 6): number | undefined {
  const { family, protocol } = FAMILIES[version];
  const socket = library.socket(family, SOCKET_TYPE, protocol);
  return socket < 0 ? undefined : socket;
}

/** Returns an echo request with random bytes. The kernel fills in the checksum and the identifier. */
function echoRequest(type: number): Buffer {
  const packet = Buffer.alloc(HEADER_BYTES + PAYLOAD_BYTES);
  packet[0] = type;
  packet.writeUInt16BE(1, 6);
  crypto.getRandomValues(packet.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES));
  return packet;
}

/** Returns the ns in a `timespec`. */
function nanoseconds(time: Buffer): bigint {
  return time.readBigInt64LE(0) * 1_000_000_000n + time.readBigInt64LE(8);
}
