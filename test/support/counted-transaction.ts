import type { Tx } from "../../src/db/statements";

/** A transaction that counts its statements and rows. */
interface CountedTx {
  tx: Tx;
  /** Returns the number of executed statements. */
  statements(): number;
  /** Returns the number of executed statements that write. */
  writes(): number;
  /** Returns the number of rows that the statements returned. */
  rows(): number;
}

export function counted(tx: Tx): CountedTx {
  let statements = 0;
  let writes = 0;
  let rows = 0;
  const count = <T>(answer: T): T => {
    statements += 1;
    if (Array.isArray(answer)) rows += answer.length;
    return answer;
  };
  return {
    tx: {
      // A getter, since the transaction cannot be read once it is over.
      get statements() {
        const cache = tx.statements;
        return Object.create(cache, {
          prepared: {
            value: (...build: Parameters<typeof cache.prepared>) => {
              const made = cache.prepared(...build);
              return {
                get: (params?: Record<string, unknown>) => count(made.get(params)),
                all: (params?: Record<string, unknown>) => count(made.all(params)),
              };
            },
          },
          preparedChange: {
            value: (...build: Parameters<typeof cache.preparedChange>) => {
              const { statement, ...query } = cache.preparedChange(...build);
              const run = (...values: Parameters<typeof statement.run>) => {
                writes += 1;
                return count(statement.run(...values));
              };
              return { ...query, statement: { run } };
            },
          },
        }) as typeof cache;
      },
      atEnd: (work) => tx.atEnd(work),
      afterCommit: (effect) => tx.afterCommit(effect),
    },
    statements: () => statements,
    writes: () => writes,
    rows: () => rows,
  };
}
