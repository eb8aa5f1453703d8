/** Returns a packet of MySQL's protocol. */
export function mysqlPacket(sequence: number, payload: Buffer): Buffer {
  const header = Buffer.from([payload.length & 0xff, payload.length >> 8, 0, sequence]);
  return Buffer.concat([header, payload]);
}

/** Returns the greeting of a server that asks for mysql_native_password, and may offer TLS. */
export function greetingPacket({ hasTls = false }: { hasTls?: boolean } = {}): Buffer {
  return mysqlPacket(
    0,
    Buffer.concat([
      Buffer.from([0x0a]),
      Buffer.from("8.0.36\0"),
      Buffer.from([1, 0, 0, 0]),
      Buffer.from("abcdefgh\0"),
      // The second byte has the flag of TLS.
      Buffer.from([0xff, hasTls ? 0xff : 0xf7, 0xff, 2, 0, 0xff, 0x81, 21]),
      Buffer.alloc(10),
      Buffer.from("abcdefghijkl\0mysql_native_password\0"),
    ]),
  );
}
