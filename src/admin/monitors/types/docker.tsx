import { TextField } from "../../../ui/form";
import type { Field } from "../../../ui/forms/form";
import { textField } from "../../../ui/forms/fields";
import type { TypeForm } from "./type-form";

/** Screen data of the form. */
export interface DockerContext {
  /** Names of the Docker hosts in the server's settings. */
  dockerHosts: readonly string[];
}

export const dockerForm: TypeForm = {
  sentence: "Asks Docker for the state of a container, and fails unless it is running and healthy.",
  fields: {
    host: dockerHostField(),
    container: textField({ label: "Container", hint: "Its name or id.", isRequired: true }),
  },
};

/** Field for a Docker host, which offers those of the server. */
function dockerHostField(): Field<string, string, DockerContext> {
  const label = "Docker host";
  return {
    ...textField({ label }),
    Input: ({ name, value, errors, context: { dockerHosts } }) => (
      <TextField
        label={label}
        name={name}
        value={value}
        hint={
          dockerHosts.length === 0
            ? "The server has no Docker hosts yet. Its setting ALLCLEAR_DOCKER_HOSTS names them, such as local=unix:///var/run/docker.sock."
            : `Name of a host in the server's setting ALLCLEAR_DOCKER_HOSTS: ${dockerHosts.join(", ")}.`
        }
        error={errors[name]}
        autocomplete="off"
        required
        suggestions={dockerHosts}
      />
    ),
  };
}
