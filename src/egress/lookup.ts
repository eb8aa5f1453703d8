import type { IpFamily } from "./model";
import { type ABORTED, untilAborted } from "./until-aborted";

/** Asks for the addresses of a name. Rejects when there is none or nobody could say. */
export type Lookup = (name: string, family: IpFamily | undefined) => Promise<string[]>;

interface Question {
  answer: Promise<string[]>;
  ask(): Promise<void>;
  /** Number of callers that still wait for the answer. */
  askers: number;
}

export type BoundedLookup = (
  name: string,
  family: IpFamily | undefined,
  signal: AbortSignal,
) => Promise<string[] | typeof ABORTED>;

/**
 * Bounds how many look-ups are under way: none can be interrupted, and here a deadline can still take out
 * of the queue what waits. Who asks the same meanwhile shares the answer.
 */
export function boundedLookup(lookup: Lookup, atOnce: number): BoundedLookup {
  const questions = new Map<string, Question>();
  const waiting = new Set<Question>();
  let underWay = 0;

  function newQuestion(key: string, name: string, family: IpFamily | undefined): Question {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    return {
      answer: promise,
      askers: 0,
      async ask() {
        underWay += 1;
        const asked = lookup(name, family);
        resolve(asked);
        await asked.catch(() => undefined);
        underWay -= 1;
        questions.delete(key);
        askNext();
      },
    };
  }

  function askNext(): void {
    for (const question of waiting) {
      if (underWay >= atOnce) return;
      waiting.delete(question);
      void question.ask();
    }
  }

  return async (name, family, signal) => {
    const key = `${family ?? 0} ${name}`;
    let question = questions.get(key);
    if (!question) {
      question = newQuestion(key, name, family);
      questions.set(key, question);
      waiting.add(question);
    }
    question.askers += 1;
    askNext();
    const answer = await untilAborted(question.answer, signal);
    question.askers -= 1;
    // Nobody waits for it any more, and it was never asked.
    if (question.askers === 0 && waiting.delete(question)) questions.delete(key);
    return answer;
  };
}
