// Programs that call an agent with the official SDKs, as code to copy. Pure.

export interface Program {
  /** The URL of the agent, with a final slash for JavaScript. */
  base: string;
  /** The path of the agent's card below `base`. */
  card: string;
  /** The type of the request; the program creates the request from the JSON in `request`. */
  type: string;
  method: string;
  request: string;
  /** True if the answer arrives in several pieces. */
  isMany: boolean;
  isStream: boolean;
  /** Headers with secrets, as members of an object: `"Authorization": …`. */
  headers: readonly string[];
}

export function javascriptProgram({ base, card, type, method, request, isStream, headers }: Program): string {
  const options = headers.length === 0 ? "" : `, { serviceParameters: { ${headers.join(", ")} } }`;
  const call = `client.${method}(request${options})`;
  return `// npm install @a2a-js/sdk@1.3
import { ${type} } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";

const client = await new ClientFactory().createFromUrl(${JSON.stringify(base)}, ${JSON.stringify(card)});
const request = ${type}.fromJSON(${request});
${isStream ? `for await (const event of ${call}) {\n  console.dir(event, { depth: null });\n}` : `console.dir(await ${call}, { depth: null });`}
`;
}

export function pythonProgram({ base, type, method, request, isMany, isStream, headers }: Program): string {
  const call = `client.${method}(request)`;
  return `# pip install "a2a-sdk>=1,<2" httpx
import asyncio
${headers.length === 0 ? "" : "import os\n"}${request.includes("uuid.uuid4") ? "import uuid\n" : ""}
import httpx
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import ${type}
from google.protobuf.json_format import ParseDict


async def main():
    async with httpx.AsyncClient(timeout=90${headers.length === 0 ? "" : `, headers={${headers.join(", ")}}`}) as http:
        card = await A2ACardResolver(http, ${JSON.stringify(base.replace(/\/$/, ""))}).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=${isStream ? "True" : "False"})).create(card)
        request = ParseDict(${request}, ${type}())
        ${isMany ? `async for event in ${call}:\n            print(event)` : `print(await ${call})`}


asyncio.run(main())
`;
}
