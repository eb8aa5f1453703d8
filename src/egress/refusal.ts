/*
 * The runtime reports a host or a network without a route as a refused connection. A refusal is an answer of the
 * host, and a missing route may be that of this server, so a second connection finds the reason.
 */
import ipaddr from "ipaddr.js";
import type { Clock } from "../base/clock";
import { type Libc, loadLibc, SOCKET_FAMILY, socketAddress } from "./libc";

/** SOCK_STREAM, SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCKET_TYPE = 0x1 | 0x800 | 0x8_0000;
const POLLOUT = 4;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
const EINPROGRESS = 115;

/** Codes of the reasons that the runtime hides, by their numbers. */
const HIDDEN: Readonly<Record<number, string>> = {
  100: "ENETDOWN",
  101: "ENETUNREACH",
  110: "ETIMEDOUT",
  112: "EHOSTDOWN",
  113: "EHOSTUNREACH",
};

/** First and longest time between two looks at the socket, in ms. */
const LOOK_MS = { first: 1, max: 100 };

/**
 * Returns the code of the reason for which a connection that was reported as refused failed: `ECONNREFUSED`, also if
 * the second connection succeeds or shows nothing else. `unknown` if there can be none, such as on other systems than
 * Linux; `aborted` if the signal aborts first.
 */
export async function refusalCode(
  clock: Clock,
  { address, port, signal }: { address: string; port: number; signal: AbortSignal },
): Promise<string> {
  const library = loadLibc();
  const bytes = ipaddr.process(address).toByteArray();
  const socket = library?.socket(SOCKET_FAMILY[bytes.length === 4 ? 4 : 6], SOCKET_TYPE, 0) ?? -1;
  if (!library || socket < 0) return "unknown";
  try {
    const target = socketAddress(bytes, port);
    const error = library.connect(socket, target, target.byteLength) === 0 ? 0 : library.error();
    const settled =
      error === EINPROGRESS ? await settledError(library, socket, clock, signal) : error;
    return settled === undefined ? "aborted" : (HIDDEN[settled] ?? "ECONNREFUSED");
  } finally {
    library.close(socket);
  }
}

/** Waits until a connection has succeeded or failed. Returns the number of its error, 0 for none. */
async function settledError(
  library: Libc,
  socket: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<number | undefined> {
  const request = Buffer.alloc(8);
  request.writeInt32LE(socket, 0);
  request.writeInt16LE(POLLOUT, 4);
  for (let waitMs = LOOK_MS.first; !signal.aborted; waitMs = Math.min(waitMs * 2, LOOK_MS.max)) {
    if (library.poll(request, 1, 0) > 0) {
      const value = Buffer.alloc(4);
      const length = Buffer.from([4, 0, 0, 0]);
      library.getsockopt(socket, SOL_SOCKET, SO_ERROR, value, length);
      return value.readInt32LE(0);
    }
    await new Promise<void>((resolve) => {
      const timer = clock.after(waitMs, done);
      function done() {
        timer.cancel();
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done, { once: true });
    });
  }
  return undefined;
}
