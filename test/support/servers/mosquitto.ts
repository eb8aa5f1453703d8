import { connectAsync } from "mqtt";
import { certificateText } from "../raw-server";
import {
  type CertificateName,
  findProgram,
  giveAway,
  runCommand,
  type ServerProcess,
  startServer,
  withoutRights,
} from "./server-process";

export const MQTT_PASSWORD = "mqtt-s3cret";

/** Programs that the broker needs. */
export const MOSQUITTO_PROGRAMS = ["mosquitto", "mosquitto_passwd"];

/** Starts a Mosquitto broker with the user `monitor`. */
export function startMosquitto(certificate?: CertificateName): Promise<ServerProcess> {
  return startServer({
    ready: /mosquitto version \S+ running/,
    async command({ folder, port }) {
      const settings = [
        `listener ${port} 127.0.0.1`,
        "allow_anonymous false",
        `password_file ${folder}/passwords`,
      ];
      if (certificate) {
        await Bun.write(`${folder}/server.pem`, await certificateText(certificate));
        settings.push(`certfile ${folder}/server.pem`, `keyfile ${folder}/server.pem`);
      }
      await Bun.write(`${folder}/config`, `${settings.join("\n")}\n`);
      const user = ["-c", "-b", `${folder}/passwords`, "monitor", MQTT_PASSWORD];
      await runCommand([findProgram("mosquitto_passwd") ?? "", ...user]);
      await giveAway(folder);
      return withoutRights([findProgram("mosquitto") ?? "", "-c", `${folder}/config`]);
    },
  });
}

/** Publishes a message, and returns once the broker has it. */
export async function publish(
  { port }: ServerProcess,
  topic: string,
  message: string,
  retain = false,
): Promise<void> {
  const client = await connectAsync({
    host: "127.0.0.1",
    port,
    username: "monitor",
    password: MQTT_PASSWORD,
  });
  await client.publishAsync(topic, message, { qos: 1, retain });
  await client.endAsync();
}
