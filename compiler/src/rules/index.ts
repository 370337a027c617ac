/** The tables of rules in the order in which they are tried. */
import { algebra } from "./algebra.ts";
import { fast } from "./fast.ts";
import type { Rule } from "./match.ts";
import { movement } from "./movement.ts";
import { structure } from "./structure.ts";

/** Rules that keep every bit. Always on. */
export const exactRules = (): readonly Rule[] => [...algebra, ...movement, ...structure()];

/** The exact rules, then those that keep bits only under the condition they state. */
export const fastRules = (): readonly Rule[] => [...exactRules(), ...fast];
