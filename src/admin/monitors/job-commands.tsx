import { Fragment } from "preact";
import { CodeBlock } from "../../ui/blocks";

/** Lines of a script that report a run, each with its purpose. `url` is the address of the job. */
function commandsFor(url: string): readonly { purpose: string; line: string }[] {
  const call = (end: string) => `curl -fsS -m 10 --retry 3 -o /dev/null ${url}${end}`;
  return [
    { purpose: "Success", line: call("") },
    { purpose: "Start of a run", line: call("/start") },
    { purpose: "Failure", line: call("/fail") },
    { purpose: "Exit code of the command before", line: call("/$?") },
  ];
}

/** Commands with which a script reports its runs. The address is secret if it contains the token. */
export function JobCommands({ url, isSecret = false }: { url: string; isSecret?: boolean }) {
  return (
    <>
      {commandsFor(url).map(({ purpose, line }) => (
        <Fragment key={purpose}>
          <p class="muted">{purpose}:</p>
          <CodeBlock text={line} copyLabel="Copy command" isSecret={isSecret} />
        </Fragment>
      ))}
    </>
  );
}
