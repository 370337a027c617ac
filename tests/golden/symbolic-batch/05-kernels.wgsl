// matmul_add on a grid of 1 × ["/",["+","N",31],32] × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> add: array<vec4<f32>>;
struct Dims {
  N: i32,
}
@group(0) @binding(4) var<uniform> dims: Dims;

var<workgroup> tileA: array<vec4<f32>, 144>;

var<workgroup> tileB: array<vec4<f32>, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let N = dims.N;
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var aNext0: f32 = 0.0;
  var aNext1: f32 = 0.0;
  var aNext2: f32 = 0.0;
  var aNext3: f32 = 0.0;
  var aNext4: f32 = 0.0;
  var aNext5: f32 = 0.0;
  var aNext6: f32 = 0.0;
  var aNext7: f32 = 0.0;
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meMod16 = lid % 16;
  let atTileRow = tileRow * 192;
  let meDiv16 = lid / 16;
  let most = max(meMod16 - 10, 0);
  let xAt = select(0.0, x[atTileRow + meDiv16 * 6 + most], 10 <= meMod16);
  aNext0 = xAt;
  let xAt0 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 24], 10 <= meMod16);
  aNext1 = xAt0;
  let xAt1 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 48], 10 <= meMod16);
  aNext2 = xAt1;
  let xAt2 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 72], 10 <= meMod16);
  aNext3 = xAt2;
  let xAt3 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 96], 10 <= meMod16);
  aNext4 = xAt3;
  let xAt4 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 120], 10 <= meMod16);
  aNext5 = xAt4;
  let xAt5 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 144], 10 <= meMod16);
  aNext6 = xAt5;
  let xAt6 = select(0.0, x[atTileRow + meDiv16 * 6 + most + 168], 10 <= meMod16);
  aNext7 = xAt6;
  bNext0 = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most0 = max(meDiv8 - 2, 0);
  let meMod8 = lid % 8;
  let atMe = most0 + meMod8;
  bNext1 = select(vec4<f32>(0.0), w[atMe], 2 <= meDiv8);
  let atMe0 = meMod16 * 9;
  for (var step = 0; step < 1; step++) {
    tileA[atMe0][meDiv16] = aNext0;
    tileA[atMe0 + 1][meDiv16] = aNext1;
    tileA[atMe0 + 2][meDiv16] = aNext2;
    tileA[atMe0 + 3][meDiv16] = aNext3;
    tileA[atMe0 + 4][meDiv16] = aNext4;
    tileA[atMe0 + 5][meDiv16] = aNext5;
    tileA[atMe0 + 6][meDiv16] = aNext6;
    tileA[atMe0 + 7][meDiv16] = aNext7;
    tileB[lid] = bNext0;
    tileB[lid + 64] = bNext1;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 32];
      let tileAAt = tileA[meDiv8 + kk * 36];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod8 + kk * 32 + 8];
      let tileAAt0 = tileA[meDiv8 + kk * 36 + 9];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod8 + kk * 32 + 16];
      let tileAAt1 = tileA[meDiv8 + kk * 36 + 18];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod8 + kk * 32 + 24];
      let tileAAt2 = tileA[meDiv8 + kk * 36 + 27];
      let a3_0 = tileAAt2[0];
      c0_0 = fma(vec4<f32>(a3_0), b3_0, c0_0);
      let a3_1 = tileAAt2[1];
      c1_0 = fma(vec4<f32>(a3_1), b3_0, c1_0);
      let a3_2 = tileAAt2[2];
      c2_0 = fma(vec4<f32>(a3_2), b3_0, c2_0);
      let a3_3 = tileAAt2[3];
      c3_0 = fma(vec4<f32>(a3_3), b3_0, c3_0);
    }
    workgroupBarrier();
  }
  let atTileRow0 = tileRow * 32;
  let atTileRow1 = atTileRow0 + meDiv8 * 4;
  let atMe1 = meMod8 * 4;
  let atTileRow2 = atTileRow0 + meDiv8 * 4 + meMod8;
  if (atTileRow1 < N) {
    if (atMe1 <= 3) {
      add[atTileRow2] = c0_0 + b[meMod8];
    }
  }
  if (atTileRow1 + 2 <= N) {
    if (atMe1 <= 3) {
      add[atTileRow2 + 1] = c1_0 + b[meMod8];
    }
  }
  if (atTileRow1 + 3 <= N) {
    if (atMe1 <= 3) {
      add[atTileRow2 + 2] = c2_0 + b[meMod8];
    }
  }
  if (atTileRow1 + 4 <= N) {
    if (atMe1 <= 3) {
      add[atTileRow2 + 3] = c3_0 + b[meMod8];
    }
  }
}

// reduceMax_mul on a grid of ["/",["+","N",63],64] × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read_write> mul: array<f32>;
struct Dims {
  N: i32,
}
@group(0) @binding(2) var<uniform> dims: Dims;

var<private> infinityBits: u32 = 0x7f800000u;
fn infinity() -> f32 {
  return bitcast<f32>(infinityBits);
}

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn maximum(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, isNan(b)), a, isNan(a));
}

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let N = dims.N;
  let chunk = i32(workgroup.x);
  let atChunk = chunk * 64;
  let i0 = atChunk + lid;
  let size = i0 * 4;
  if (atChunk + lid < N) {
    var max0: f32 = -infinity();
    max0 = maximum(max0, add[size]);
    max0 = maximum(max0, add[size + 1]);
    max0 = maximum(max0, add[size + 2]);
    max0 = maximum(max0, add[size + 3]);
    var sum1: f32 = 0.0;
    sum1 = sum1 + expOf(add[size] - max0);
    sum1 = sum1 + expOf(add[size + 1] - max0);
    sum1 = sum1 + expOf(add[size + 2] - max0);
    sum1 = sum1 + expOf(add[size + 3] - max0);
    let t = 1.0 / sum1;
    mul[size] = expOf(add[size] - max0) * t;
    mul[size + 1] = expOf(add[size + 1] - max0) * t;
    mul[size + 2] = expOf(add[size + 2] - max0) * t;
    mul[size + 3] = expOf(add[size + 3] - max0) * t;
  }
}
