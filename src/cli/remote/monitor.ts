/* `monitor acknowledge`: the outage of a monitor, acknowledged by a key. */
import type { Monitor } from "../../features/monitors/wire";
import { JSON_FLAG } from "../command";
import { connect, printAnswer, remoteCommand } from "./client";

const acknowledgeCommand = remoteCommand({
  name: "monitor acknowledge",
  summary: "Acknowledge the outage of a monitor: no reminders are sent until it recovers.",
  positionals: ["MONITOR"],
  flags: [
    { name: "note", placeholder: "T", help: "What is being done, for colleagues." },
    { ...JSON_FLAG, help: "Print the monitor as JSON." },
  ],
  async run(invocation) {
    const [reference = ""] = invocation.positionals;
    const note = invocation.value("note");
    const path = `/api/v1/monitors/${encodeURIComponent(reference)}/acknowledge`;
    const body = note === undefined ? {} : { note };
    const monitor = await connect(invocation).post<Monitor>(path, body);
    return printAnswer(invocation, monitor, (printer) => {
      const { at, by } = monitor.acknowledgement ?? { at: "", by: { label: "" } };
      printer.note(`The outage of ${monitor.ref} is acknowledged by ${by.label} since ${at}.`);
    });
  },
});

export const monitorCommands = [acknowledgeCommand];
