// The client of `@a2a-js/sdk` that speaks A2A 0.3, in place of the one that speaks 1.0, so that the specs for that one try it:
// `compat.mjs` gives it to them. Of a card it sees the interfaces of 0.3 only.

import type { AgentCard } from "@a2a-js/sdk";
import * as sdk from "@a2a-js/sdk/client";

export const { ClientFactoryOptions, DefaultAgentCardResolver } = sdk;

export class ClientFactory extends sdk.ClientFactory {
  constructor(options: sdk.ClientFactoryOptions = sdk.ClientFactoryOptions.default) {
    const legacyCompat = { enabled: true };
    super({ ...options, transports: [new sdk.JsonRpcTransportFactory({ legacyCompat }), new sdk.RestTransportFactory({ legacyCompat })] });
  }

  override async createFromUrl(url: string, path?: string): Promise<sdk.Client> {
    return this.createFromAgentCard(await new sdk.DefaultAgentCardResolver().resolve(url, path));
  }

  override async createFromAgentCard(card: AgentCard): Promise<sdk.Client> {
    const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === "0.3");
    const client = await super.createFromAgentCard({ ...card, supportedInterfaces });
    if (client.protocolVersion !== "0.3") throw new Error(`it speaks ${client.protocolVersion}`);
    return client;
  }
}
