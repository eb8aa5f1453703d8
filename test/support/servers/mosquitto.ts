import { connect } from "node:net";
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

/** Publishes a message of at most 100 bytes, and returns once the broker has it. */
export async function publish(
  { port }: ServerProcess,
  topic: string,
  message: string,
  retain = false,
): Promise<void> {
  const text = (value: string) => `\0${String.fromCharCode(value.length)}${value}`;
  const packet = (first: number, rest: string) =>
    Buffer.from(`${String.fromCharCode(first, rest.length)}${rest}`, "latin1");
  const signIn = `${text("MQTT")}\x04\xc2\0\0${text("test")}${text("monitor")}${text(MQTT_PASSWORD)}`;
  const socket = connect({ port, host: "127.0.0.1" });
  socket.write(packet(0x10, signIn));
  // With the quality of service 1, which the broker acknowledges.
  socket.write(packet(retain ? 0x33 : 0x32, `${text(topic)}\0\x01${message}`));
  let answer = "";
  for await (const chunk of socket) {
    answer += (chunk as Buffer).toString("hex");
    // CONNACK and PUBACK.
    if (answer === "2002000040020001") return void socket.end();
  }
  throw new Error(`the broker has closed the connection after ${answer}`);
}
