import { textField } from "../../forms/text-fields";
import type { TypeForm } from "./type-form";

export const dockerForm: TypeForm = {
  sentence: "Asks Docker for the state of a container, and fails unless it is running and healthy.",
  fields: {
    host: textField({
      label: "Docker host",
      hint: "Name of a host in the server's setting ALLCLEAR_DOCKER_HOSTS, such as local.",
      isRequired: true,
    }),
    container: textField({ label: "Container", hint: "Its name or id.", isRequired: true }),
  },
};
