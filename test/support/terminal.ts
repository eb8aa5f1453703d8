/** A process whose input and output are a pseudo-terminal. Disposing it ends the process. */
export interface TerminalProcess extends Disposable {
  pid: number;
  /** Returns everything printed so far, with line feeds alone at the ends of lines. */
  text(): string;
  /** Resolves to the text once it matches. Throws if the process ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Types keys, such as Ctrl-C (`\u0003`). */
  type(keys: string): void;
  /** Resolves to the exit code, with the whole text. */
  end(): Promise<{ exitCode: number; text: string }>;
}

export function startAtTerminal(
  words: readonly string[],
  env: Record<string, string>,
): TerminalProcess {
  const decoder = new TextDecoder();
  let raw = "";
  let wake = Promise.withResolvers<void>();
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const closed = Promise.withResolvers<void>();
  const child = Bun.spawn([...words], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
    terminal: {
      cols: 120,
      rows: 40,
      data(_, data) {
        raw += decoder.decode(data, { stream: true });
        notify();
      },
      exit: () => closed.resolve(),
    },
  });
  let hasEnded = false;
  void child.exited.then(() => {
    hasEnded = true;
    notify();
  });
  const text = () => raw.replaceAll("\r\n", "\n");
  return {
    pid: child.pid,
    text,
    async until(pattern) {
      while (!pattern.test(text())) {
        if (hasEnded) throw new Error(`the process ended without ${pattern}:\n${text()}`);
        await wake.promise;
      }
      return text();
    },
    type: (keys) => void child.terminal?.write(keys),
    async end() {
      const exitCode = await child.exited;
      await closed.promise;
      return { exitCode, text: text() };
    },
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      child.terminal?.close();
    },
  };
}
