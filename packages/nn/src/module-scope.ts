/**
 * Puts what `forward` of a module builds into a scope of the module, named by its path in the module around it. The path is looked
 * for when somebody reads it.
 */
import { currentScope, inScope, type Scope } from "@kiln-ml/ir";

/** A module, as far as paths go. */
interface Named {
  modules(): ReadonlyMap<string, object>;
}

const wrapped = new WeakSet<object>();

/** Lets every `forward` along the prototypes of `module`, up to `base`, run in the scope of the module it is called on. */
export function scopeForward(module: object, base: object): void {
  for (let p = Object.getPrototypeOf(module); p && p !== base; p = Object.getPrototypeOf(p)) {
    if (wrapped.has(p)) return;
    wrapped.add(p);
    const own = Object.getOwnPropertyDescriptor(p, "forward");
    if (typeof own?.value !== "function") continue;
    const forward = own.value as (...args: unknown[]) => unknown;
    const scoped = function (this: Named, ...args: unknown[]): unknown {
      const outer = currentScope();
      // A forward that calls that of its base class stays in one scope.
      if (outer?.owner === this) return forward.apply(this, args);
      return inScope(scopeOf(this, outer), () => forward.apply(this, args));
    };
    Object.defineProperty(p, "forward", { ...own, value: scoped });
  }
}

const scopeOf = (module: Named, outer: Scope | undefined): Scope => ({
  outer,
  owner: module,
  name: () => pathIn(outer?.owner, module) ?? module.constructor.name,
});

function pathIn(outer: object | undefined, module: object): string | undefined {
  if (!outer || !("modules" in outer)) return undefined;
  for (const [path, m] of (outer as Named).modules()) if (m === module) return path;
  return undefined;
}
