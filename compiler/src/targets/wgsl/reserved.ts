/**
 * Words that emitted WGSL must not use as names: keywords, reserved words (WGSL 16.1, 16.2),
 * predeclared names the text relies on, and those of the printer.
 */
import { prelude, preludeName } from "./prelude.ts";

const words = `alias break case const const_assert continue continuing default diagnostic discard else enable
  false fn for if let loop override requires return struct switch true var while
  NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
  co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
  constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export
  extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl
  implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut
  mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of
  operator package packoffset partial pass patch pixelfragment precise precision premerge priv protected pub public
  readonly ref regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm
  static static_assert static_cast std subroutine super target template this thread_local throw trait try type
  typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with
  writeonly yield
  sampler storage uniform input output global function
  f32 f16 i32 u32 bool vec2 vec3 vec4 array atomic ptr bitcast select abs sign floor ceil trunc round exp log sqrt
  exp2 log2 inverseSqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2 pow min max dot any all fma clamp storageBarrier workgroupBarrier
  workgroupUniformLoad subgroupAdd subgroupMul subgroupMin subgroupMax subgroupAnd subgroupOr
  subgroupAll subgroupAny subgroupShuffle subgroupShuffleDown subgroupShuffleXor subgroupBroadcastFirst main dims Dims lid workgroup invocation groups subgroup subgroupSize subgroupLane Best partials`;

export const reserved: ReadonlySet<string> = new Set([
  ...words.split(/\s+/),
  ...Object.keys(prelude).flatMap((n) => [1, 2, 3, 4].map((lanes) => preludeName(n, lanes))),
]);
