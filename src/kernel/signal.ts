/** A notice that something happened, for whoever listens. It carries wake-ups, never data to keep. */
export interface Signal<T> {
  /** Tells every listener, in the order of their joining; throws what the first failed with, after. */
  emit(value: T): void;
  /** Joins; the answer leaves again. */
  on(listener: (value: T) => void): () => void;
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
  };
}
