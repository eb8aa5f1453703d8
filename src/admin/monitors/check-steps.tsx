import type { Step, StepName } from "../../egress/steps";
import { sum } from "../../base/numbers";
import { DenseRow, DenseTable, FigureCell, TextCell } from "../../ui/list";
import { DetailCard } from "../../ui/detail";
import { State, StepBar } from "../../ui/blocks";
import { latencyInWords } from "./words";

const COLUMNS = [
  { label: "Step" },
  { label: "Course", isSecondary: true },
  { label: "Duration", isNumeric: true },
];

const STEP_WORDS: Readonly<Record<StepName, string>> = {
  look_up: "Look-up",
  connect: "Connection",
  proxy: "Proxy",
  starttls: "Start of TLS",
  tls: "TLS",
  token: "Access token",
  greeting: "Greeting",
  sign_in: "Sign-in",
  command: "Command",
  upgrade: "Upgrade",
  query: "Query",
  request: "Request",
  body: "Body",
  message: "Message",
  close: "Close",
  ping: "Echo request",
  assertion: "Condition",
  evaluation: "Evaluation",
};

/** Steps of one check with their times; nothing without steps. */
export function CheckSteps({ steps }: { steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  const totalMs = sum(steps.map(({ durationMs }) => durationMs));
  const percentOf = (ms: number) => (totalMs === 0 ? 0 : Math.round((ms / totalMs) * 1_000) / 10);
  return (
    <DetailCard title="Steps of the check" liveId="check-steps" isStill isTable>
      <DenseTable columns={COLUMNS} caption="Steps of the check">
        {steps.map(({ name, isOk, durationMs, detail }, index) => {
          const before = sum(steps.slice(0, index).map((step) => step.durationMs));
          const tone = isOk ? "ok" : "major";
          return (
            <DenseRow key={index}>
              <TextCell>
                <State tone={tone}>
                  {STEP_WORDS[name]}
                  {isOk ? null : " failed"}
                </State>
                {detail === null ? null : <span class="note">{detail}</span>}
              </TextCell>
              <TextCell isSecondary>
                {durationMs === 0 ? null : (
                  <StepBar tone={tone} start={percentOf(before)} share={percentOf(durationMs)} />
                )}
              </TextCell>
              <FigureCell>{durationMs === 0 ? "–" : latencyInWords(durationMs)}</FigureCell>
            </DenseRow>
          );
        })}
      </DenseTable>
    </DetailCard>
  );
}
