/* `component set`: the status of a component, set by a key. */
import { COMPONENT_STATUSES } from "../../base/status";
import type { Component } from "../../features/components/wire";
import { JSON_FLAG } from "../command";
import { connect, printAnswer, remoteCommand } from "./client";

const setCommand = remoteCommand({
  name: "component set",
  summary: "Set the status of a component, which is named by its page and ref, or by its id.",
  positionals: ["PAGE:REF", "STATUS"],
  choices: { STATUS: COMPONENT_STATUSES },
  flags: [
    { name: "reason", placeholder: "T", help: "Reason for the history of the component." },
    { ...JSON_FLAG, help: "Print the component as JSON." },
  ],
  async run(invocation) {
    const [reference = "", status = ""] = invocation.positionals;
    const reason = invocation.value("reason");
    const path = `/api/v1/components/${encodeURIComponent(reference)}`;
    const component = await connect(invocation).patch<Component>(path, {
      status,
      ...(reason === undefined ? {} : { reason }),
    });
    return printAnswer(invocation, component, (printer) => {
      printer.note(`Set ${component.page}:${component.ref} to ${status}.`);
      if (component.status === status) return;
      const worse = component.causes.find((cause) => cause.status === component.status);
      const cause = worse ? `: ${worse.source} ${worse.id}` : "";
      printer.note(`It shows ${component.status}, for which there is a cause${cause}.`);
    });
  },
});

export const componentCommands = [setCommand];
