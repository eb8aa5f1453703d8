import type { RecordedEvent } from "../../src/events/outbox";
import type { TestApp } from "./app";
import { SLACK, WEBHOOKS } from "./webhook-site";

/** Returns the types of the events that were queued since the last call, oldest first. */
type TakeTypes = () => Promise<string[]>;

/** An endpoint for people and one for a program, with equal subscriptions. */
interface EndpointPair {
  people: TakeTypes;
  program: TakeTypes;
  /** Returns all events that were ever queued for people as `<type> of <name>`, oldest first. */
  namedForPeople(): Promise<string[]>;
}

export async function createEndpointPair(
  app: TestApp,
  events: string[] = ["*"],
): Promise<EndpointPair> {
  const key = await app.keyWith("manage:webhooks");
  const recorded = new Map<string, RecordedEvent>();
  app.ctx.outbox.subscribe((_tx, groups) => {
    for (const event of groups.flat()) recorded.set(event.id, event);
  });
  const create = async (json: object) => {
    const answer = await app.call(WEBHOOKS, { method: "POST", key, json });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.id as string;
  };
  const listDeliveries = async (id: string): Promise<{ event_type: string; event_id: string }[]> =>
    (await app.call(`${WEBHOOKS}/${id}/deliveries?limit=100`, { key })).body.data.toReversed();
  const takeTypesOf = (id: string): TakeTypes => {
    let seen = 0;
    return async () => {
      const types = (await listDeliveries(id)).map(({ event_type }) => event_type);
      return types.slice(seen, (seen = types.length));
    };
  };
  const people = await create({ url: SLACK, format: "slack", events });
  const program = await create({ url: "https://receiver.example.com/hooks", events });
  return {
    people: takeTypesOf(people),
    program: takeTypesOf(program),
    namedForPeople: async () =>
      (await listDeliveries(people)).map(
        ({ event_type, event_id }) => `${event_type} of ${recorded.get(event_id)?.data["name"]}`,
      ),
  };
}
