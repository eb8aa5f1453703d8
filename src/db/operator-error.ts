/** Something the person at the command line can mend; its message says how. */
export class OperatorError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "OperatorError";
  }
}
