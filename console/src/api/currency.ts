// The currency of all costs, as this Worker's catalogue tells it (docs/settings.md, USAGE_CURRENCY).
import { signal } from "@preact/signals";

/** A code of ISO 4217; undefined where the deployment tells none. */
export const currency = signal<string | undefined>(undefined);
