import { ButtonLink, PostButton } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { type FirstStep, HIDE_STEPS_PATH, SHOW_STEPS_PATH } from "./first-steps";

/** First steps after the set-up. The next step has the primary button. */
export function FirstStepsBlock({ steps }: { steps: readonly FirstStep[] }) {
  const next = steps.find(({ isDone }) => !isDone);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <section class="card steps" id="first-steps" aria-labelledby="first-steps-title">
      <div class="card-head">
        <h2 id="first-steps-title">
          First steps{" "}
          <span class="count">
            {done} of {steps.length} done
          </span>
        </h2>
        <PostButton action={HIDE_STEPS_PATH}>
          Hide<span class="visually-hidden"> the first steps</span>
        </PostButton>
      </div>
      <ol class="rows">
        {steps.map((step, index) => (
          <Step key={step.title} step={step} number={index + 1} isNext={step === next} />
        ))}
      </ol>
    </section>
  );
}

/** Button at the end of the overview that shows the steps again. */
export function ShowFirstSteps() {
  return (
    <div class="steps-again">
      <PostButton action={SHOW_STEPS_PATH}>Show the first steps</PostButton>
    </div>
  );
}

function Step(props: { step: FirstStep; number: number; isNext: boolean }) {
  const { step, number, isNext } = props;
  const { title, note, isDone, action } = step;
  return (
    <li class={isDone ? "row is-done" : isNext ? "row is-next" : "row"}>
      <span class="tick">
        {isDone ? (
          <>
            <Icon name="check" />
            <span class="visually-hidden">Done: </span>
          </>
        ) : (
          number
        )}
      </span>
      <div>
        <p class="row-title">{title}</p>
        <p class="row-note">{note}</p>
      </div>
      {isDone || !action ? null : (
        <div class="row-side">
          <ButtonLink href={action.href} kind={isNext ? "primary" : "quiet"}>
            {action.label}
          </ButtonLink>
        </div>
      )}
    </li>
  );
}
