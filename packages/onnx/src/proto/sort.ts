/**
 * Dependencies before dependents, otherwise in the given order. Uses no recursion, as files choose the depth.
 */

/**
 * Indices of `count` items, each after those it depends on; `onCycle` gets the items of the first cycle found, each
 * depending on the next and the last on the first.
 */
export function sortByDependencies(
  count: number,
  dependencies: (item: number) => readonly number[],
  onCycle: (items: readonly number[]) => never,
): number[] {
  const order: number[] = [];
  const state = new Uint8Array(count);
  const [open, done] = [1, 2];
  for (let root = 0; root < count; root++) {
    const path: { item: number; needs: readonly number[]; next: number }[] = [];
    const enter = (item: number): void => {
      state[item] = open;
      path.push({ item, needs: dependencies(item), next: 0 });
    };
    if (state[root] !== done) enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const need = top.needs[top.next++];
      if (need === undefined) {
        state[top.item] = done;
        order.push(top.item);
        path.pop();
      } else if (state[need] === open) {
        const items = path.map(({ item }) => item);
        onCycle(items.slice(items.indexOf(need)));
      } else if (state[need] !== done) enter(need);
    }
  }
  return order;
}
