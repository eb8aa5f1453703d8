import type { Tx } from "../../db";
import type { MonitorState } from "../../domain/monitor-state";
import { endSpan, findOpenSpan, insertSpan, rewriteSpan } from "./checks-store";

/** A state that a monitor enters, from when on (unix ms), and in words why. */
export interface Entry {
  monitorNum: number;
  state: MonitorState;
  at: number;
  message: string | null;
}

/**
 * Writes down that a monitor entered a state: its open span ends there and the next begins, so that the
 * timeline has neither gap nor overlap. What is entered when the open span began, or before, takes its
 * place: time never runs backwards, and no span is empty. The state that it is in already goes on.
 */
export function recordState(tx: Tx, { monitorNum, state, at, message }: Entry): void {
  const open = findOpenSpan(tx, { monitorNum });
  if (open?.state === state) return;
  if (open && at <= open.startedAt) {
    rewriteSpan(tx, { monitorNum, startedAt: open.startedAt, state, message });
    return;
  }
  if (open) endSpan(tx, { monitorNum, startedAt: open.startedAt, endedAt: at });
  insertSpan(tx, { monitorNum, startedAt: at, endedAt: null, state, message });
}
