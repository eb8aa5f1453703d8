import { type Static, Type } from "@sinclair/typebox";
import { LineText } from "../../../base/texts";
import { Text } from "../../../base/schema";
import type { Probe } from "../monitoring";
import { mergeFields } from "./fields";

const DockerConfig = Type.Object(
  {
    host: LineText({
      minLength: 1,
      maxLength: 63,
      description: "Name of a Docker host in ALLCLEAR_DOCKER_HOSTS.",
      examples: ["local"],
    }),
    container: Text({
      minLength: 1,
      maxLength: 255,
      pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
      mismatch: "must begin with a letter or digit and have only letters, digits, _, . and -",
      description: "Name or id of the container.",
      examples: ["web"],
    }),
  },
  { additionalProperties: false, examples: [{ host: "local", container: "web" }] },
);
type DockerConfig = Static<typeof DockerConfig>;

/** Checks that a container is running and healthy. */
export const dockerProbe = {
  type: "docker",
  label: "Docker container",
  config: DockerConfig,
  shown: DockerConfig,
  // Messages repeat the last line of the health check's log.
  hasPrivateMessages: true,
  validate: () => [],
  present: (config) => config,
  merge: mergeFields,
  targetOf: ({ host, container }) => `${container} on ${host}`,
  run: async (config, context) => (await import("./checks/docker")).checkDocker(config, context),
} satisfies Probe<"docker", DockerConfig>;
