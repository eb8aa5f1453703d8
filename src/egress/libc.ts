/* Sockets and processes of Linux by the C library, for what the runtime does not offer. */
import type * as BunFfi from "bun:ffi";
import { lazy } from "../base/lazy";

/** C library by its names: glibc, and musl on both architectures. */
const LIBRARIES = [
  "libc.so.6",
  "libc.musl-x86_64.so.1",
  "libc.musl-aarch64.so.1",
  "libc.so",
] as const;

const FUNCTIONS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
  send: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
  recv: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
  clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  setrlimit: { args: ["i32", "ptr"], returns: "i32" },
  prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" },
} as const;

export type Libc = BunFfi.Library<typeof FUNCTIONS>["symbols"] & {
  /** Returns the number of the error with which the last call failed. */
  error(): number;
};

/** Loads the library with its first use; undefined on other systems than Linux. */
export const loadLibc = lazy((): Libc | undefined => {
  if (process.platform !== "linux") return undefined;
  const { dlopen, read } = require("bun:ffi") as typeof BunFfi;
  for (const name of LIBRARIES) {
    try {
      const { symbols } = dlopen(name, FUNCTIONS);
      const error = () => {
        const at = symbols.__errno_location();
        return at === null ? 0 : read.i32(at);
      };
      return { ...symbols, error };
    } catch {
      // The library has another name here.
    }
  }
  return undefined;
});

/** AF_INET and AF_INET6. */
export const SOCKET_FAMILY = { 4: 2, 6: 10 } as const;

/** Returns a `sockaddr_in` or `sockaddr_in6` with the bytes of an address, 4 or 16. Without a port for ICMP. */
export function socketAddress(address: readonly number[], port = 0): Buffer {
  const isIPv4 = address.length === 4;
  const bytes = Buffer.alloc(isIPv4 ? 16 : 28);
  bytes.writeUInt16LE(SOCKET_FAMILY[isIPv4 ? 4 : 6], 0);
  bytes.writeUInt16BE(port, 2);
  Buffer.from(address).copy(bytes, isIPv4 ? 4 : 8);
  return bytes;
}
