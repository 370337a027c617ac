/**
 * Words that a local of an emitted C function cannot be called, and names that `kiln.h` defines.
 */
const words =
  "auto break case char const continue default do double else enum extern float for goto if inline int long " +
  "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while " +
  "asm typeof bool true false linux unix i386 main math_errhandling " +
  "vf vi vu vd lanes any choose floats halves abs exp expm1 log log1p log2 sin cos tan asin acos atan sinh cosh " +
  "tanh asinh acosh atanh atan2 pow sqrt floor ceil trunc round fabs";

export const reserved: Pick<ReadonlySet<string>, "has"> = (() => {
  const set = new Set(words.split(" "));
  // What the header defines besides has an underscore and a known beginning; macros are in
  // capitals.
  const defined =
    /^(_|[A-Z]\w|all_|abs_|min_|max_|whole_|ceil_|floor_|trunc_|nearest_|sqrt_|lesser_|greater_|least_|greatest_|fma_|fnma_|low_|load_|store_|with_|bits_|float_|sort_|int\d|uint\d|k\d+_|at\d)/;
  return { has: (name: string) => set.has(name) || defined.test(name) };
})();
