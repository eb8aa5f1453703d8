import type { RelayStage } from "./reply";

/** Stages by the commands that begin them. Other lines belong to AUTH. */
const STAGES: readonly [RegExp, RelayStage][] = [
  [/^(?:EHLO|HELO) /, "ehlo"],
  [/^STARTTLS$/, "starttls"],
  [/^(?:MAIL FROM:|RSET$|QUIT$)/, "mail"],
  [/^RCPT TO:/, "rcpt"],
  [/^DATA$/, "data"],
];

/**
 * Finds out to which command each reply belongs, also of commands that are sent without waiting
 * (PIPELINING). Its logger is called by the SMTP library before it sends or interprets a line.
 */
export class Transcript {
  /** Stages whose replies are awaited, in order. */
  readonly #awaited: RelayStage[] = ["greeting"];
  #answered: RelayStage = "connect";

  readonly logger: ReturnType<typeof createLogger>;

  constructor(listener: {
    /** Called before a command is sent. */
    onCommand(): void;
    onReply(stage: RelayStage, raw: string): void;
  }) {
    this.logger = createLogger({
      client: (line) => {
        // The end of an empty message; its reply is awaited already.
        if (line === ".") return;
        this.#awaited.push(STAGES.find(([pattern]) => pattern.test(line))?.[1] ?? "auth");
        listener.onCommand();
      },
      server: (raw) => {
        const stage = this.#awaited.shift() ?? this.#answered;
        this.#answered = stage;
        if (stage === "data" && raw.startsWith("3")) this.#awaited.unshift("message");
        listener.onReply(stage, raw);
      },
    });
  }

  /** Stage that is waited for. */
  get current(): RelayStage {
    return this.#awaited[0] ?? this.#answered;
  }

  /** Stage of the last reply. */
  get answered(): RelayStage {
    return this.#answered;
  }
}

/** Creates a logger that passes on the lines of client and server, and nothing else. */
function createLogger(lines: Readonly<Record<string, (line: string) => void>>) {
  const ignore = () => undefined;
  return {
    trace: ignore,
    debug: ({ tnx = "" }: { tnx?: string }, text: unknown) => lines[tnx]?.(String(text)),
    info: ignore,
    warn: ignore,
    error: ignore,
    fatal: ignore,
  };
}
