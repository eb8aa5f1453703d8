const DATA_ROW = 0x44;
const ERROR = 0x45;
const NOTICE = 0x4e;
const ROW_DESCRIPTION = 0x54;

/** Types of the messages that a server sends to a client which signs in and runs one query. */
const EXPECTED: ReadonlySet<number> = new Set([
  DATA_ROW,
  ERROR,
  NOTICE,
  ROW_DESCRIPTION,
  // ParseComplete, BindComplete, CommandComplete, EmptyQueryResponse, BackendKeyData, NoData.
  ...Buffer.from("12CIKn"),
  // Authentication, ParameterStatus, ReadyForQuery.
  ...Buffer.from("RSZ"),
]);

const LENGTH_BYTES = 4;

/** Steps that each take the next byte of what a server sends. */
type Steps<Result = void> = Generator<undefined, Result, number>;

/**
 * Returns a listener for the data of a server that throws at a message which the library must not read: it
 * would never end with an error without its end, and reads values outside of their row, again and again.
 */
export function foreignMessageGuard(): (chunk: Buffer) => void {
  const steps = readMessages();
  steps.next();
  return (chunk) => {
    for (const byte of chunk) steps.next(byte);
  };
}

function* readMessages(): Steps<never> {
  let descriptions = 0;
  for (;;) {
    const type = yield;
    const length = (yield* readInt(LENGTH_BYTES)) - LENGTH_BYTES;
    if (type === ROW_DESCRIPTION) descriptions += 1;
    if (!EXPECTED.has(type) || length < 0 || descriptions > 1) throw foreign();
    if (type === DATA_ROW) yield* readRow(length);
    else if (type === ERROR || type === NOTICE) yield* readFields(length);
    else yield* skip(length);
  }
}

/** Reads texts of which each ends with a zero byte. Another one is their end. */
function* readFields(length: number): Steps {
  yield* skip(length - 2);
  if (length < 2 || (yield* readInt(2)) !== 0) throw foreign();
}

/** Reads the number of values, and each with its length; -1 stands for no value. */
function* readRow(length: number): Steps {
  let left = length - 2;
  for (let values = yield* readInt(2); values > 0; values -= 1) {
    const size = yield* readInt(LENGTH_BYTES);
    left -= LENGTH_BYTES + Math.max(size, 0);
    if (size < -1 || left < 0) throw foreign();
    yield* skip(size);
  }
  if (left !== 0) throw foreign();
}

/** Reads a number of 16 bits without a sign, or of 32 bits with one. */
function* readInt(bytes: 2 | typeof LENGTH_BYTES): Steps<number> {
  let value = 0;
  for (let left = bytes as number; left > 0; left -= 1) value = (value << 8) | (yield);
  return value;
}

function* skip(bytes: number): Steps {
  for (let left = bytes; left > 0; left -= 1) yield;
}

function foreign(): Error {
  return new Error("the server has sent a message that is not expected");
}
