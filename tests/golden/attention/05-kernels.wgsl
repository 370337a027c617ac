// matmul_select on a grid of 1 × 1 × 2
@group(0) @binding(0) var<storage, read> q_: array<f32>;
@group(0) @binding(1) var<storage, read> k_: array<f32>;
@group(0) @binding(2) var<storage, read_write> select0: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 272>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
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
  let atBatch = batch * 32;
  let atMe = atBatch + lid;
  let atMe0 = lid * 17;
  let meDiv4 = lid / 4;
  let atMe1 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe2 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe0] = select(0.0, q_[atMe], lid <= 7);
    tileA[atMe0 + 1] = select(0.0, q_[atMe + 8], lid <= 7);
    tileA[atMe0 + 2] = select(0.0, q_[atMe + 16], lid <= 7);
    tileA[atMe0 + 3] = select(0.0, q_[atMe + 24], lid <= 7);
    tileA[atMe0 + 4] = 0.0;
    tileA[atMe0 + 5] = 0.0;
    tileA[atMe0 + 6] = 0.0;
    tileA[atMe0 + 7] = 0.0;
    tileA[atMe0 + 8] = 0.0;
    tileA[atMe0 + 9] = 0.0;
    tileA[atMe0 + 10] = 0.0;
    tileA[atMe0 + 11] = 0.0;
    tileA[atMe0 + 12] = 0.0;
    tileA[atMe0 + 13] = 0.0;
    tileA[atMe0 + 14] = 0.0;
    tileA[atMe0 + 15] = 0.0;
    tileB[atMe0] = select(0.0, k_[atMe], lid <= 7);
    tileB[atMe0 + 1] = select(0.0, k_[atMe + 8], lid <= 7);
    tileB[atMe0 + 2] = select(0.0, k_[atMe + 16], lid <= 7);
    tileB[atMe0 + 3] = select(0.0, k_[atMe + 24], lid <= 7);
    tileB[atMe0 + 4] = 0.0;
    tileB[atMe0 + 5] = 0.0;
    tileB[atMe0 + 6] = 0.0;
    tileB[atMe0 + 7] = 0.0;
    tileB[atMe0 + 8] = 0.0;
    tileB[atMe0 + 9] = 0.0;
    tileB[atMe0 + 10] = 0.0;
    tileB[atMe0 + 11] = 0.0;
    tileB[atMe0 + 12] = 0.0;
    tileB[atMe0 + 13] = 0.0;
    tileB[atMe0 + 14] = 0.0;
    tileB[atMe0 + 15] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe1 + kk * 17];
      let a1 = tileA[atMe1 + kk * 17 + 1];
      let a2 = tileA[atMe1 + kk * 17 + 2];
      let a3 = tileA[atMe1 + kk * 17 + 3];
      let b0 = tileB[atMe2 + kk * 17];
      let b1 = tileB[atMe2 + kk * 17 + 1];
      let b2 = tileB[atMe2 + kk * 17 + 2];
      let b3 = tileB[atMe2 + kk * 17 + 3];
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
  let atBatch0 = batch * 16;
  for (var r = 0; r < 4; r++) {
    let i1 = atMe1 + r;
    let atR = r * 4;
    let atBatch1 = atBatch0 + i1 * 4;
    if (atMe1 + r <= 3) {
      for (var s = 0; s < 4; s++) {
        let i2 = atMe2 + s;
        let atS = atR + s;
        let atBatch2 = atBatch1 + i2;
        if (atMe2 + s <= 3) {
          select0[atBatch2] = select(-1.7014117e+38, sums[atS] * 0.35355338, i2 <= i1);
        }
      }
    }
  }
}

// reduceMax_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<f32>;
@group(0) @binding(1) var<storage, read_write> mul: array<f32>;

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
  let chunk = i32(workgroup.x);
  let atLocal = lid * 4;
  if (lid <= 7) {
    var max0: f32 = -infinity();
    max0 = maximum(max0, select0[atLocal]);
    max0 = maximum(max0, select0[atLocal + 1]);
    max0 = maximum(max0, select0[atLocal + 2]);
    max0 = maximum(max0, select0[atLocal + 3]);
    var sum1: f32 = 0.0;
    sum1 = sum1 + expOf(select0[atLocal] - max0);
    sum1 = sum1 + expOf(select0[atLocal + 1] - max0);
    sum1 = sum1 + expOf(select0[atLocal + 2] - max0);
    sum1 = sum1 + expOf(select0[atLocal + 3] - max0);
    let t = 1.0 / sum1;
    mul[atLocal] = expOf(select0[atLocal] - max0) * t;
    mul[atLocal + 1] = expOf(select0[atLocal + 1] - max0) * t;
    mul[atLocal + 2] = expOf(select0[atLocal + 2] - max0) * t;
    mul[atLocal + 3] = expOf(select0[atLocal + 3] - max0) * t;
  }
}

// matmul on a grid of 1 × 1 × 2
@group(0) @binding(0) var<storage, read> mul: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read_write> dotGeneral: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 256>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
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
  let atBatch = batch * 16;
  let atMe = atBatch + lid;
  let atMe0 = lid * 17;
  let atBatch0 = batch * 32;
  let atMe1 = atBatch0 + lid;
  let meDiv4 = lid / 4;
  let atMe2 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe3 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe0] = select(0.0, mul[atMe], lid <= 3);
    tileA[atMe0 + 1] = select(0.0, mul[atMe + 4], lid <= 3);
    tileA[atMe0 + 2] = select(0.0, mul[atMe + 8], lid <= 3);
    tileA[atMe0 + 3] = select(0.0, mul[atMe + 12], lid <= 3);
    tileA[atMe0 + 4] = 0.0;
    tileA[atMe0 + 5] = 0.0;
    tileA[atMe0 + 6] = 0.0;
    tileA[atMe0 + 7] = 0.0;
    tileA[atMe0 + 8] = 0.0;
    tileA[atMe0 + 9] = 0.0;
    tileA[atMe0 + 10] = 0.0;
    tileA[atMe0 + 11] = 0.0;
    tileA[atMe0 + 12] = 0.0;
    tileA[atMe0 + 13] = 0.0;
    tileA[atMe0 + 14] = 0.0;
    tileA[atMe0 + 15] = 0.0;
    tileB[lid] = select(0.0, v[atMe1], lid <= 7);
    tileB[lid + 16] = select(0.0, v[atMe1 + 8], lid <= 7);
    tileB[lid + 32] = select(0.0, v[atMe1 + 16], lid <= 7);
    tileB[lid + 48] = select(0.0, v[atMe1 + 24], lid <= 7);
    tileB[lid + 64] = 0.0;
    tileB[lid + 80] = 0.0;
    tileB[lid + 96] = 0.0;
    tileB[lid + 112] = 0.0;
    tileB[lid + 128] = 0.0;
    tileB[lid + 144] = 0.0;
    tileB[lid + 160] = 0.0;
    tileB[lid + 176] = 0.0;
    tileB[lid + 192] = 0.0;
    tileB[lid + 208] = 0.0;
    tileB[lid + 224] = 0.0;
    tileB[lid + 240] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe2 + kk * 17];
      let a1 = tileA[atMe2 + kk * 17 + 1];
      let a2 = tileA[atMe2 + kk * 17 + 2];
      let a3 = tileA[atMe2 + kk * 17 + 3];
      let b0 = tileB[atMe3 + kk * 16];
      let b1 = tileB[atMe3 + kk * 16 + 1];
      let b2 = tileB[atMe3 + kk * 16 + 2];
      let b3 = tileB[atMe3 + kk * 16 + 3];
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
  for (var r = 0; r < 4; r++) {
    let i1 = atMe2 + r;
    let atR = r * 4;
    let atBatch1 = atBatch0 + i1 * 8;
    if (atMe2 + r <= 3) {
      for (var s = 0; s < 4; s++) {
        let i2 = atMe3 + s;
        let atS = atR + s;
        let atBatch2 = atBatch1 + i2;
        if (atMe3 + s <= 7) {
          dotGeneral[atBatch2] = sums[atS];
        }
      }
    }
  }
}
