import { sum } from "../../../base/numbers";
import type { Step, StepName } from "../../../egress/steps";
import { State, StepBar } from "../../../ui/blocks";
import { DetailCard } from "../../../ui/detail";
import { DenseDataTable } from "../../../ui/list";
import { latencyInWords } from "./words";

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
  return <CheckStepTable liveId="check-steps" title="Steps of the check" steps={steps} />;
}

/** Card with the steps of one check. */
export function CheckStepTable(props: { liveId: string; title: string; steps: readonly Step[] }) {
  const { liveId, title, steps } = props;
  const durations = steps.map(({ durationMs }) => durationMs);
  const totalMs = sum(durations);
  const percentOf = (ms: number) => (totalMs === 0 ? 0 : Math.round((ms / totalMs) * 1_000) / 10);
  return (
    <DetailCard title={title} liveId={liveId} isStill isTable>
      <DenseDataTable
        caption={title}
        entries={steps.map((step, index) => ({ ...step, index }))}
        columns={[
          {
            label: "Step",
            cell: ({ name, isOk, detail }) => (
              <>
                <State tone={isOk ? "ok" : "major"}>
                  {STEP_WORDS[name]}
                  {isOk ? null : " failed"}
                </State>
                {detail === null ? null : <span class="note">{detail}</span>}
              </>
            ),
          },
          {
            label: "Course",
            isSecondary: true,
            cell: ({ isOk, durationMs, index }) =>
              durationMs === 0 ? null : (
                <StepBar
                  tone={isOk ? "ok" : "major"}
                  start={percentOf(sum(durations.slice(0, index)))}
                  share={percentOf(durationMs)}
                />
              ),
          },
          {
            label: "Duration",
            isNumeric: true,
            cell: ({ durationMs }) => (durationMs === 0 ? "–" : latencyInWords(durationMs)),
          },
        ]}
      />
    </DetailCard>
  );
}
