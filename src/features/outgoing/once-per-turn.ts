/** Runs a task at most once per turn of the event loop, however often it is scheduled. */
export class OncePerTurn {
  #isScheduled = false;
  #isStopped = false;

  constructor(readonly task: () => void) {}

  /** True if the task will run in the next turn. */
  get isScheduled(): boolean {
    return this.#isScheduled;
  }

  schedule(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isStopped) this.task();
    });
  }

  /** Prevents all further runs. */
  stop(): void {
    this.#isStopped = true;
  }
}
