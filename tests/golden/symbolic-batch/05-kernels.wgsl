// matmul_add on a grid of 1 × ["/",["+","N",15],16] × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> add: array<vec4<f32>>;
struct Dims {
  N: i32,
}
@group(0) @binding(4) var<uniform> dims: Dims;

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let N = dims.N;
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<f32>, 4>;
  var aNext0: f32 = 0.0;
  var aNext1: f32 = 0.0;
  var aNext2: f32 = 0.0;
  var aNext3: f32 = 0.0;
  var aNext4: f32 = 0.0;
  var aNext5: f32 = 0.0;
  var aNext6: f32 = 0.0;
  var aNext7: f32 = 0.0;
  var aNext8: f32 = 0.0;
  var aNext9: f32 = 0.0;
  var aNext10: f32 = 0.0;
  var aNext11: f32 = 0.0;
  var aNext12: f32 = 0.0;
  var aNext13: f32 = 0.0;
  var aNext14: f32 = 0.0;
  var aNext15: f32 = 0.0;
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext2: vec4<f32> = vec4<f32>(0.0);
  var bNext3: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let atTileRow = tileRow * 16;
  let atTileRow0 = tileRow * 96;
  let xAt = select(0.0, x[atTileRow0 + lid], (atTileRow < N) & (lid <= 5));
  aNext0 = xAt;
  let xAt0 = select(0.0, x[atTileRow0 + lid + 6], (atTileRow + 2 <= N) & (lid <= 5));
  aNext1 = xAt0;
  let xAt1 = select(0.0, x[atTileRow0 + lid + 12], (atTileRow + 3 <= N) & (lid <= 5));
  aNext2 = xAt1;
  let xAt2 = select(0.0, x[atTileRow0 + lid + 18], (atTileRow + 4 <= N) & (lid <= 5));
  aNext3 = xAt2;
  let xAt3 = select(0.0, x[atTileRow0 + lid + 24], (atTileRow + 5 <= N) & (lid <= 5));
  aNext4 = xAt3;
  let xAt4 = select(0.0, x[atTileRow0 + lid + 30], (atTileRow + 6 <= N) & (lid <= 5));
  aNext5 = xAt4;
  let xAt5 = select(0.0, x[atTileRow0 + lid + 36], (atTileRow + 7 <= N) & (lid <= 5));
  aNext6 = xAt5;
  let xAt6 = select(0.0, x[atTileRow0 + lid + 42], (atTileRow + 8 <= N) & (lid <= 5));
  aNext7 = xAt6;
  let xAt7 = select(0.0, x[atTileRow0 + lid + 48], (atTileRow + 9 <= N) & (lid <= 5));
  aNext8 = xAt7;
  let xAt8 = select(0.0, x[atTileRow0 + lid + 54], (atTileRow + 10 <= N) & (lid <= 5));
  aNext9 = xAt8;
  let xAt9 = select(0.0, x[atTileRow0 + lid + 60], (atTileRow + 11 <= N) & (lid <= 5));
  aNext10 = xAt9;
  let xAt10 = select(0.0, x[atTileRow0 + lid + 66], (atTileRow + 12 <= N) & (lid <= 5));
  aNext11 = xAt10;
  let xAt11 = select(0.0, x[atTileRow0 + lid + 72], (atTileRow + 13 <= N) & (lid <= 5));
  aNext12 = xAt11;
  let xAt12 = select(0.0, x[atTileRow0 + lid + 78], (atTileRow + 14 <= N) & (lid <= 5));
  aNext13 = xAt12;
  let xAt13 = select(0.0, x[atTileRow0 + lid + 84], (atTileRow + 15 <= N) & (lid <= 5));
  aNext14 = xAt13;
  let xAt14 = select(0.0, x[atTileRow0 + lid + 90], (atTileRow + 16 <= N) & (lid <= 5));
  aNext15 = xAt14;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meDiv4 + meMod4;
  let atMe0 = meMod4 * 4;
  bNext0 = select(vec4<f32>(0.0), w[atMe], atMe0 <= 3);
  bNext1 = select(vec4<f32>(0.0), w[atMe + 4], (atMe0 <= 3) & (meDiv4 <= 1));
  bNext2 = vec4<f32>(0.0);
  bNext3 = vec4<f32>(0.0);
  let remainder = meDiv4 % 2;
  let atMe1 = lid * 4 + remainder * 2;
  let remainder0 = (meDiv4 + 1) % 2;
  let atMe2 = lid * 4 + remainder0 * 2;
  for (var step = 0; step < 1; step++) {
    tileA[atMe1][0] = aNext0;
    tileA[atMe1][1] = aNext1;
    tileA[atMe1][2] = aNext2;
    tileA[atMe1][3] = aNext3;
    tileA[atMe1 + 1][0] = aNext4;
    tileA[atMe1 + 1][1] = aNext5;
    tileA[atMe1 + 1][2] = aNext6;
    tileA[atMe1 + 1][3] = aNext7;
    tileA[atMe2][0] = aNext8;
    tileA[atMe2][1] = aNext9;
    tileA[atMe2][2] = aNext10;
    tileA[atMe2][3] = aNext11;
    tileA[atMe2 + 1][0] = aNext12;
    tileA[atMe2 + 1][1] = aNext13;
    tileA[atMe2 + 1][2] = aNext14;
    tileA[atMe2 + 1][3] = aNext15;
    tileB[lid] = bNext0;
    tileB[lid + 16] = bNext1;
    tileB[lid + 32] = bNext2;
    tileB[lid + 48] = bNext3;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod4 + kk * 16];
      let remainder1 = (meDiv4 + kk * 2) % 4;
      let tileAAt = tileA[kk * 16 + remainder1];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod4 + kk * 16 + 4];
      let tileAAt0 = tileA[kk * 16 + remainder1 + 4];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod4 + kk * 16 + 8];
      let tileAAt1 = tileA[kk * 16 + remainder1 + 8];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod4 + kk * 16 + 12];
      let tileAAt2 = tileA[kk * 16 + remainder1 + 12];
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
  sums[0] = c0_0;
  sums[1] = c1_0;
  sums[2] = c2_0;
  sums[3] = c3_0;
  let atTileRow1 = atTileRow + meDiv4 * 4;
  let atTileRow2 = atTileRow + lid;
  if (atTileRow1 < N) {
    if (atMe0 <= 3) {
      add[atTileRow2] = sums[0] + b[meMod4];
    }
  }
  if (atTileRow1 + 2 <= N) {
    if (atMe0 <= 3) {
      add[atTileRow2 + 1] = sums[1] + b[meMod4];
    }
  }
  if (atTileRow1 + 3 <= N) {
    if (atMe0 <= 3) {
      add[atTileRow2 + 2] = sums[2] + b[meMod4];
    }
  }
  if (atTileRow1 + 4 <= N) {
    if (atMe0 <= 3) {
      add[atTileRow2 + 3] = sums[3] + b[meMod4];
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
