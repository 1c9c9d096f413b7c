import { fromSdk } from "a2a-edge/sdk";
import { DrawingAgent } from "./drawing-agent.ts";

export const drawing = fromSdk(() => new DrawingAgent());
