// Whose contents a part of the page shows, where a page has the same of several tasks: the names of regions then end with it.
import { createContext } from "preact";

/** For example ` of the second task`; empty on pages of one task. */
export const Whose = createContext("");
