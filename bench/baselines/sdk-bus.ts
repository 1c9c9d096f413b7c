// The events of the only task of an object. The SDK generates an id for a new task; here it is replaced by the id of
// the object.

import { DefaultExecutionEventBus, type ExecutionEventBus, type ExecutionEventBusManager } from "@a2a-js/sdk/server";

/** One bus for every id, while a run is under way. */
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
