// The events of the one task of an object. The SDK makes up an id for a new task; here the id is that of the object.

import { DefaultExecutionEventBus, type ExecutionEventBus, type ExecutionEventBusManager } from "@a2a-js/sdk/server";

/** One bus for whatever id is asked for, while a run is under way. */
export class SingleBus implements ExecutionEventBusManager {
  #bus: ExecutionEventBus | undefined;

  createOrGetByTaskId(): ExecutionEventBus {
    return (this.#bus ??= new DefaultExecutionEventBus());
  }

  getByTaskId(): ExecutionEventBus | undefined {
    return this.#bus;
  }

  cleanupByTaskId(): void {
    this.#bus?.removeAllListeners();
    this.#bus = undefined;
  }
}
