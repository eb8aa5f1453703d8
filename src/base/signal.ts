/** Notifies listeners of a change. They read the changed data by themselves. */
export interface Signal<T> {
  /** Calls every listener in the order of their registration, then throws the first of their errors. */
  emit(value: T): void;
  /** Registers a listener and returns a function that removes it. */
  on(listener: (value: T) => void): () => void;
  /** True if anything listens. */
  readonly hasListeners: boolean;
}

export function createSignal<T>(): Signal<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    emit(value) {
      const failures: unknown[] = [];
      for (const listener of listeners) {
        try {
          listener(value);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get hasListeners() {
      return listeners.size > 0;
    },
  };
}
