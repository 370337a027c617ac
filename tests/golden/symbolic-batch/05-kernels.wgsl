// matmul_add on a grid of 1 × ["/",["+","N",63],64] × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> add: array<f32>;
struct Dims {
  N: i32,
}
@group(0) @binding(4) var<uniform> dims: Dims;

var<workgroup> tileA: array<f32, 1040>;

var<workgroup> tileB: array<f32, 256>;

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
  var c00: f32 = 0.0;
  var c01: f32 = 0.0;
  var c02: f32 = 0.0;
  var c03: f32 = 0.0;
  var c10: f32 = 0.0;
  var c11: f32 = 0.0;
  var c12: f32 = 0.0;
  var c13: f32 = 0.0;
  var c20: f32 = 0.0;
  var c21: f32 = 0.0;
  var c22: f32 = 0.0;
  var c23: f32 = 0.0;
  var c30: f32 = 0.0;
  var c31: f32 = 0.0;
  var c32: f32 = 0.0;
  var c33: f32 = 0.0;
  let atTileRow = tileRow * 64;
  let meDiv16 = lid / 16;
  let i0 = atTileRow + meDiv16;
  let meMod16 = lid % 16;
  let atTileRow0 = atTileRow + meDiv16;
  let atMe = i0 * 6 + meMod16;
  let atMe0 = meDiv16 + meMod16 * 65;
  let i0_0 = atTileRow + meDiv16 + 4;
  let atMe1 = i0_0 * 6 + meMod16;
  let i0_1 = atTileRow + meDiv16 + 8;
  let atMe2 = i0_1 * 6 + meMod16;
  let i0_2 = atTileRow + meDiv16 + 12;
  let atMe3 = i0_2 * 6 + meMod16;
  let i0_3 = atTileRow + meDiv16 + 16;
  let atMe4 = i0_3 * 6 + meMod16;
  let i0_4 = atTileRow + meDiv16 + 20;
  let atMe5 = i0_4 * 6 + meMod16;
  let i0_5 = atTileRow + meDiv16 + 24;
  let atMe6 = i0_5 * 6 + meMod16;
  let i0_6 = atTileRow + meDiv16 + 28;
  let atMe7 = i0_6 * 6 + meMod16;
  let i0_7 = atTileRow + meDiv16 + 32;
  let atMe8 = i0_7 * 6 + meMod16;
  let i0_8 = atTileRow + meDiv16 + 36;
  let atMe9 = i0_8 * 6 + meMod16;
  let i0_9 = atTileRow + meDiv16 + 40;
  let atMe10 = i0_9 * 6 + meMod16;
  let i0_10 = atTileRow + meDiv16 + 44;
  let atMe11 = i0_10 * 6 + meMod16;
  let i0_11 = atTileRow + meDiv16 + 48;
  let atMe12 = i0_11 * 6 + meMod16;
  let i0_12 = atTileRow + meDiv16 + 52;
  let atMe13 = i0_12 * 6 + meMod16;
  let i0_13 = atTileRow + meDiv16 + 56;
  let atMe14 = i0_13 * 6 + meMod16;
  let i0_14 = atTileRow + meDiv16 + 60;
  let atMe15 = i0_14 * 6 + meMod16;
  let atMe16 = meDiv16 * 4 + meMod16;
  let k0 = meDiv16 + 4;
  let atMe17 = k0 * 4 + meMod16;
  let k0_0 = meDiv16 + 8;
  let k0_1 = meDiv16 + 12;
  let meDiv4 = lid / 4;
  let atMe18 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe19 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe0] = select(0.0, x[atMe], (atTileRow0 < N) & (meMod16 <= 5));
    tileA[atMe0 + 4] = select(0.0, x[atMe1], (atTileRow0 + 5 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 8] = select(0.0, x[atMe2], (atTileRow0 + 9 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 12] = select(0.0, x[atMe3], (atTileRow0 + 13 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 16] = select(0.0, x[atMe4], (atTileRow0 + 17 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 20] = select(0.0, x[atMe5], (atTileRow0 + 21 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 24] = select(0.0, x[atMe6], (atTileRow0 + 25 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 28] = select(0.0, x[atMe7], (atTileRow0 + 29 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 32] = select(0.0, x[atMe8], (atTileRow0 + 33 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 36] = select(0.0, x[atMe9], (atTileRow0 + 37 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 40] = select(0.0, x[atMe10], (atTileRow0 + 41 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 44] = select(0.0, x[atMe11], (atTileRow0 + 45 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 48] = select(0.0, x[atMe12], (atTileRow0 + 49 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 52] = select(0.0, x[atMe13], (atTileRow0 + 53 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 56] = select(0.0, x[atMe14], (atTileRow0 + 57 <= N) & (meMod16 <= 5));
    tileA[atMe0 + 60] = select(0.0, x[atMe15], (atTileRow0 + 61 <= N) & (meMod16 <= 5));
    tileB[lid] = select(0.0, w[atMe16], meMod16 <= 3);
    tileB[lid + 64] = select(0.0, w[atMe17], (meMod16 <= 3) & (meDiv16 <= 1));
    tileB[lid + 128] = 0.0;
    tileB[lid + 192] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe18 + kk * 65];
      let a1 = tileA[atMe18 + kk * 65 + 1];
      let a2 = tileA[atMe18 + kk * 65 + 2];
      let a3 = tileA[atMe18 + kk * 65 + 3];
      let b0 = tileB[atMe19 + kk * 16];
      let b1 = tileB[atMe19 + kk * 16 + 1];
      let b2 = tileB[atMe19 + kk * 16 + 2];
      let b3 = tileB[atMe19 + kk * 16 + 3];
      c00 = fma(a0, b0, c00);
      c01 = fma(a0, b1, c01);
      c02 = fma(a0, b2, c02);
      c03 = fma(a0, b3, c03);
      c10 = fma(a1, b0, c10);
      c11 = fma(a1, b1, c11);
      c12 = fma(a1, b2, c12);
      c13 = fma(a1, b3, c13);
      c20 = fma(a2, b0, c20);
      c21 = fma(a2, b1, c21);
      c22 = fma(a2, b2, c22);
      c23 = fma(a2, b3, c23);
      c30 = fma(a3, b0, c30);
      c31 = fma(a3, b1, c31);
      c32 = fma(a3, b2, c32);
      c33 = fma(a3, b3, c33);
    }
    workgroupBarrier();
  }
  var sums: array<f32, 16>;
  sums[0] = c00;
  sums[1] = c01;
  sums[2] = c02;
  sums[3] = c03;
  sums[4] = c10;
  sums[5] = c11;
  sums[6] = c12;
  sums[7] = c13;
  sums[8] = c20;
  sums[9] = c21;
  sums[10] = c22;
  sums[11] = c23;
  sums[12] = c30;
  sums[13] = c31;
  sums[14] = c32;
  sums[15] = c33;
  let atTileRow1 = atTileRow + meDiv4 * 4;
  for (var r = 0; r < 4; r++) {
    let i0_15 = atTileRow1 + r;
    let atR = r * 4;
    let size = i0_15 * 4;
    if (atTileRow1 + r < N) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe19 + s;
        let atS = atR + s;
        let size0 = size + i1;
        if (atMe19 + s <= 3) {
          add[size0] = sums[atS] + b[i1];
        }
      }
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
