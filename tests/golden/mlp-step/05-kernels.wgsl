// matmul_maximum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 272>;

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn maximum(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, isNan(b)), a, isNan(a));
}

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
  let atMe = lid * 17;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe] = select(0.0, x[lid], lid <= 5);
    tileA[atMe + 1] = select(0.0, x[lid + 6], lid <= 5);
    tileA[atMe + 2] = select(0.0, x[lid + 12], lid <= 5);
    tileA[atMe + 3] = select(0.0, x[lid + 18], lid <= 5);
    tileA[atMe + 4] = select(0.0, x[lid + 24], lid <= 5);
    tileA[atMe + 5] = 0.0;
    tileA[atMe + 6] = 0.0;
    tileA[atMe + 7] = 0.0;
    tileA[atMe + 8] = 0.0;
    tileA[atMe + 9] = 0.0;
    tileA[atMe + 10] = 0.0;
    tileA[atMe + 11] = 0.0;
    tileA[atMe + 12] = 0.0;
    tileA[atMe + 13] = 0.0;
    tileA[atMe + 14] = 0.0;
    tileA[atMe + 15] = 0.0;
    tileB[atMe] = select(0.0, weight[lid], lid <= 5);
    tileB[atMe + 1] = select(0.0, weight[lid + 6], lid <= 5);
    tileB[atMe + 2] = select(0.0, weight[lid + 12], lid <= 5);
    tileB[atMe + 3] = select(0.0, weight[lid + 18], lid <= 5);
    tileB[atMe + 4] = select(0.0, weight[lid + 24], lid <= 5);
    tileB[atMe + 5] = select(0.0, weight[lid + 30], lid <= 5);
    tileB[atMe + 6] = select(0.0, weight[lid + 36], lid <= 5);
    tileB[atMe + 7] = select(0.0, weight[lid + 42], lid <= 5);
    tileB[atMe + 8] = 0.0;
    tileB[atMe + 9] = 0.0;
    tileB[atMe + 10] = 0.0;
    tileB[atMe + 11] = 0.0;
    tileB[atMe + 12] = 0.0;
    tileB[atMe + 13] = 0.0;
    tileB[atMe + 14] = 0.0;
    tileB[atMe + 15] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe0 + kk * 17];
      let a1 = tileA[atMe0 + kk * 17 + 1];
      let a2 = tileA[atMe0 + kk * 17 + 2];
      let a3 = tileA[atMe0 + kk * 17 + 3];
      let b0 = tileB[atMe1 + kk * 17];
      let b1 = tileB[atMe1 + kk * 17 + 1];
      let b2 = tileB[atMe1 + kk * 17 + 2];
      let b3 = tileB[atMe1 + kk * 17 + 3];
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
    let i0 = atMe0 + r;
    let atR = r * 4;
    let size = i0 * 8;
    if (atMe0 + r <= 4) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atS = atR + s;
        let size0 = size + i1;
        if (atMe1 + s <= 7) {
          maximum0[size0] = maximum(sums[atS] + bias[i1], 0.0);
        }
      }
    }
  }
}

// matmul_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> maximum0: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> add: array<f32>;

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
  let atMe = lid * 17;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe] = select(0.0, maximum0[lid], lid <= 7);
    tileA[atMe + 1] = select(0.0, maximum0[lid + 8], lid <= 7);
    tileA[atMe + 2] = select(0.0, maximum0[lid + 16], lid <= 7);
    tileA[atMe + 3] = select(0.0, maximum0[lid + 24], lid <= 7);
    tileA[atMe + 4] = select(0.0, maximum0[lid + 32], lid <= 7);
    tileA[atMe + 5] = 0.0;
    tileA[atMe + 6] = 0.0;
    tileA[atMe + 7] = 0.0;
    tileA[atMe + 8] = 0.0;
    tileA[atMe + 9] = 0.0;
    tileA[atMe + 10] = 0.0;
    tileA[atMe + 11] = 0.0;
    tileA[atMe + 12] = 0.0;
    tileA[atMe + 13] = 0.0;
    tileA[atMe + 14] = 0.0;
    tileA[atMe + 15] = 0.0;
    tileB[atMe] = select(0.0, weight[lid], lid <= 7);
    tileB[atMe + 1] = select(0.0, weight[lid + 8], lid <= 7);
    tileB[atMe + 2] = select(0.0, weight[lid + 16], lid <= 7);
    tileB[atMe + 3] = select(0.0, weight[lid + 24], lid <= 7);
    tileB[atMe + 4] = 0.0;
    tileB[atMe + 5] = 0.0;
    tileB[atMe + 6] = 0.0;
    tileB[atMe + 7] = 0.0;
    tileB[atMe + 8] = 0.0;
    tileB[atMe + 9] = 0.0;
    tileB[atMe + 10] = 0.0;
    tileB[atMe + 11] = 0.0;
    tileB[atMe + 12] = 0.0;
    tileB[atMe + 13] = 0.0;
    tileB[atMe + 14] = 0.0;
    tileB[atMe + 15] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe0 + kk * 17];
      let a1 = tileA[atMe0 + kk * 17 + 1];
      let a2 = tileA[atMe0 + kk * 17 + 2];
      let a3 = tileA[atMe0 + kk * 17 + 3];
      let b0 = tileB[atMe1 + kk * 17];
      let b1 = tileB[atMe1 + kk * 17 + 1];
      let b2 = tileB[atMe1 + kk * 17 + 2];
      let b3 = tileB[atMe1 + kk * 17 + 3];
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
    let i0 = atMe0 + r;
    let atR = r * 4;
    let size = i0 * 4;
    if (atMe0 + r <= 4) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atS = atR + s;
        let size0 = size + i1;
        if (atMe1 + s <= 3) {
          add[size0] = sums[atS] + bias[i1];
        }
      }
    }
  }
}

// reduceMax_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> classes: array<i32>;
@group(0) @binding(2) var<storage, read_write> add2: array<f32>;
@group(0) @binding(3) var<storage, read_write> div: array<f32>;

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

var<private> nanBits: u32 = 0x7fc00000u;
fn nan() -> f32 {
  return bitcast<f32>(nanBits);
}

fn logFar(x: f32) -> f32 {
  let y = select(select(log(x), f32(-infinity()), x == f32(0.0)), f32(nan()), x < f32(0.0));
  return select(y, x, isNan(x));
}

fn logNear(x: f32) -> f32 {
  let s = x / (x + 2.0);
  let q = s * s;
  let p = 1.0 + q * (1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)))));
  return 2.0 * s * p;
}

fn logOf(x: f32) -> f32 {
  return select(logFar(x), logNear(x - 1.0), (x < f32(1.5)) & (x > f32(0.7)));
}

var<workgroup> partials_f32: array<f32, 256>;

fn combine_sum_f32(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var count = 256; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) {
      partials_f32[lid] = partials_f32[lid] + partials_f32[lid + span];
    }
    workgroupBarrier();
  }
  let result = partials_f32[0];
  workgroupBarrier();
  return result;
}

fn given(x: f32) -> f32 {
  return x;
}

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  var sum3: f32 = 0.0;
  for (var row = lid; row < 5; row += 256) {
    var max0: f32 = -infinity();
    var sum4: f32 = 0.0;
    let atRow = row * 4;
    max0 = maximum(max0, add[atRow]);
    let classesAt = classes[row];
    sum4 = sum4 + -select(0.0, -0.2, 0 == classesAt);
    max0 = maximum(max0, add[atRow + 1]);
    sum4 = sum4 + -select(0.0, -0.2, 1 == classesAt);
    max0 = maximum(max0, add[atRow + 2]);
    sum4 = sum4 + -select(0.0, -0.2, 2 == classesAt);
    max0 = maximum(max0, add[atRow + 3]);
    sum4 = sum4 + -select(0.0, -0.2, 3 == classesAt);
    var sum1: f32 = 0.0;
    sum1 = sum1 + expOf(add[atRow] - max0);
    sum1 = sum1 + expOf(add[atRow + 1] - max0);
    sum1 = sum1 + expOf(add[atRow + 2] - max0);
    sum1 = sum1 + expOf(add[atRow + 3] - max0);
    var sum2: f32 = 0.0;
    let classesAt0 = classes[row];
    let t = 0 == classesAt0;
    let t0 = add[atRow] - max0;
    let t1 = logOf(sum1);
    sum2 = sum2 + select(0.0, t0 - t1, t);
    let t2 = sum4 / sum1;
    add2[atRow] = select(0.0, -0.2, t) + t2 * expOf(t0);
    let t3 = 1 == classesAt0;
    let t4 = add[atRow + 1] - max0;
    sum2 = sum2 + select(0.0, t4 - t1, t3);
    add2[atRow + 1] = select(0.0, -0.2, t3) + t2 * expOf(t4);
    let t5 = 2 == classesAt0;
    let t6 = add[atRow + 2] - max0;
    sum2 = sum2 + select(0.0, t6 - t1, t5);
    add2[atRow + 2] = select(0.0, -0.2, t5) + t2 * expOf(t6);
    let t7 = 3 == classesAt0;
    let t8 = add[atRow + 3] - max0;
    sum2 = sum2 + select(0.0, t8 - t1, t7);
    add2[atRow + 3] = select(0.0, -0.2, t7) + t2 * expOf(t8);
    sum3 = sum3 + -sum2;
  }
  sum3 = combine_sum_f32(sum3, lid);
  let t9 = sum3 / given(5.0);
  for (var first = lid; first < 1; first += 256) {
    div[0] = t9;
  }
}

// matmul_select on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> maximum0: array<f32>;
@group(0) @binding(3) var<storage, read_write> select0: array<f32>;

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
  let atMe = lid * 17;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe] = select(0.0, add[lid], lid <= 3);
    tileA[atMe + 1] = select(0.0, add[lid + 4], lid <= 3);
    tileA[atMe + 2] = select(0.0, add[lid + 8], lid <= 3);
    tileA[atMe + 3] = select(0.0, add[lid + 12], lid <= 3);
    tileA[atMe + 4] = select(0.0, add[lid + 16], lid <= 3);
    tileA[atMe + 5] = 0.0;
    tileA[atMe + 6] = 0.0;
    tileA[atMe + 7] = 0.0;
    tileA[atMe + 8] = 0.0;
    tileA[atMe + 9] = 0.0;
    tileA[atMe + 10] = 0.0;
    tileA[atMe + 11] = 0.0;
    tileA[atMe + 12] = 0.0;
    tileA[atMe + 13] = 0.0;
    tileA[atMe + 14] = 0.0;
    tileA[atMe + 15] = 0.0;
    tileB[lid] = select(0.0, weight[lid], lid <= 7);
    tileB[lid + 16] = select(0.0, weight[lid + 8], lid <= 7);
    tileB[lid + 32] = select(0.0, weight[lid + 16], lid <= 7);
    tileB[lid + 48] = select(0.0, weight[lid + 24], lid <= 7);
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
      let a0 = tileA[atMe0 + kk * 17];
      let a1 = tileA[atMe0 + kk * 17 + 1];
      let a2 = tileA[atMe0 + kk * 17 + 2];
      let a3 = tileA[atMe0 + kk * 17 + 3];
      let b0 = tileB[atMe1 + kk * 16];
      let b1 = tileB[atMe1 + kk * 16 + 1];
      let b2 = tileB[atMe1 + kk * 16 + 2];
      let b3 = tileB[atMe1 + kk * 16 + 3];
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
    let i0 = atMe0 + r;
    let size = i0 * 8;
    let atR = r * 4;
    if (atMe0 + r <= 4) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let size0 = size + i1;
        let atS = atR + s;
        if (atMe1 + s <= 7) {
          select0[size0] = select(0.0, sums[atS], 0.0 < maximum0[size0]);
        }
      }
    }
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> weight: array<f32>;

var<workgroup> tileA: array<f32, 256>;

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
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  let meDiv4 = lid / 4;
  let atMe = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe0 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[lid] = select(0.0, select0[lid], lid <= 7);
    tileA[lid + 16] = select(0.0, select0[lid + 8], lid <= 7);
    tileA[lid + 32] = select(0.0, select0[lid + 16], lid <= 7);
    tileA[lid + 48] = select(0.0, select0[lid + 24], lid <= 7);
    tileA[lid + 64] = select(0.0, select0[lid + 32], lid <= 7);
    tileA[lid + 80] = 0.0;
    tileA[lid + 96] = 0.0;
    tileA[lid + 112] = 0.0;
    tileA[lid + 128] = 0.0;
    tileA[lid + 144] = 0.0;
    tileA[lid + 160] = 0.0;
    tileA[lid + 176] = 0.0;
    tileA[lid + 192] = 0.0;
    tileA[lid + 208] = 0.0;
    tileA[lid + 224] = 0.0;
    tileA[lid + 240] = 0.0;
    tileB[lid] = select(0.0, x[lid], lid <= 5);
    tileB[lid + 16] = select(0.0, x[lid + 6], lid <= 5);
    tileB[lid + 32] = select(0.0, x[lid + 12], lid <= 5);
    tileB[lid + 48] = select(0.0, x[lid + 18], lid <= 5);
    tileB[lid + 64] = select(0.0, x[lid + 24], lid <= 5);
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
    storageBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe + kk * 16];
      let a1 = tileA[atMe + kk * 16 + 1];
      let a2 = tileA[atMe + kk * 16 + 2];
      let a3 = tileA[atMe + kk * 16 + 3];
      let b0 = tileB[atMe0 + kk * 16];
      let b1 = tileB[atMe0 + kk * 16 + 1];
      let b2 = tileB[atMe0 + kk * 16 + 2];
      let b3 = tileB[atMe0 + kk * 16 + 3];
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
      sidea0_0 = sidea0_0 + a0;
      sidea0_1 = sidea0_1 + a1;
      sidea0_2 = sidea0_2 + a2;
      sidea0_3 = sidea0_3 + a3;
    }
    workgroupBarrier();
    storageBarrier();
  }
  let i0 = meDiv4 * 4;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 7)) {
    bias[i0] = bias[i0] - sidea0_0 * 0.1;
  }
  let i0_0 = meDiv4 * 4 + 1;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 6)) {
    bias[i0_0] = bias[i0_0] - sidea0_1 * 0.1;
  }
  let i0_1 = meDiv4 * 4 + 2;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 5)) {
    bias[i0_1] = bias[i0_1] - sidea0_2 * 0.1;
  }
  let i0_2 = meDiv4 * 4 + 3;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 4)) {
    bias[i0_2] = bias[i0_2] - sidea0_3 * 0.1;
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
    let i0_3 = atMe + r;
    let size = i0_3 * 6;
    let atR = r * 4;
    if (atMe + r <= 7) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe0 + s;
        let size0 = size + i1;
        let atS = atR + s;
        if (atMe0 + s <= 5) {
          weight[size0] = weight[size0] - sums[atS] * 0.1;
        }
      }
    }
  }
}

// matmul_sub2 on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> maximum0: array<f32>;
@group(0) @binding(2) var<storage, read_write> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> weight: array<f32>;

var<workgroup> tileA: array<f32, 256>;

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
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  let meDiv4 = lid / 4;
  let atMe = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe0 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[lid] = select(0.0, add[lid], lid <= 3);
    tileA[lid + 16] = select(0.0, add[lid + 4], lid <= 3);
    tileA[lid + 32] = select(0.0, add[lid + 8], lid <= 3);
    tileA[lid + 48] = select(0.0, add[lid + 12], lid <= 3);
    tileA[lid + 64] = select(0.0, add[lid + 16], lid <= 3);
    tileA[lid + 80] = 0.0;
    tileA[lid + 96] = 0.0;
    tileA[lid + 112] = 0.0;
    tileA[lid + 128] = 0.0;
    tileA[lid + 144] = 0.0;
    tileA[lid + 160] = 0.0;
    tileA[lid + 176] = 0.0;
    tileA[lid + 192] = 0.0;
    tileA[lid + 208] = 0.0;
    tileA[lid + 224] = 0.0;
    tileA[lid + 240] = 0.0;
    tileB[lid] = select(0.0, maximum0[lid], lid <= 7);
    tileB[lid + 16] = select(0.0, maximum0[lid + 8], lid <= 7);
    tileB[lid + 32] = select(0.0, maximum0[lid + 16], lid <= 7);
    tileB[lid + 48] = select(0.0, maximum0[lid + 24], lid <= 7);
    tileB[lid + 64] = select(0.0, maximum0[lid + 32], lid <= 7);
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
    storageBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe + kk * 16];
      let a1 = tileA[atMe + kk * 16 + 1];
      let a2 = tileA[atMe + kk * 16 + 2];
      let a3 = tileA[atMe + kk * 16 + 3];
      let b0 = tileB[atMe0 + kk * 16];
      let b1 = tileB[atMe0 + kk * 16 + 1];
      let b2 = tileB[atMe0 + kk * 16 + 2];
      let b3 = tileB[atMe0 + kk * 16 + 3];
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
      sidea0_0 = sidea0_0 + a0;
      sidea0_1 = sidea0_1 + a1;
      sidea0_2 = sidea0_2 + a2;
      sidea0_3 = sidea0_3 + a3;
    }
    workgroupBarrier();
    storageBarrier();
  }
  let i0 = meDiv4 * 4;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 3)) {
    bias[i0] = bias[i0] - sidea0_0 * 0.1;
  }
  let i0_0 = meDiv4 * 4 + 1;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 2)) {
    bias[i0_0] = bias[i0_0] - sidea0_1 * 0.1;
  }
  let i0_1 = meDiv4 * 4 + 2;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 1)) {
    bias[i0_1] = bias[i0_1] - sidea0_2 * 0.1;
  }
  let i0_2 = meDiv4 * 4 + 3;
  if ((meMod4 * 4 <= 0) & (meDiv4 * 4 <= 0)) {
    bias[i0_2] = bias[i0_2] - sidea0_3 * 0.1;
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
    let i0_3 = atMe + r;
    let size = i0_3 * 8;
    let atR = r * 4;
    if (atMe + r <= 3) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe0 + s;
        let size0 = size + i1;
        let atS = atR + s;
        if (atMe0 + s <= 7) {
          weight[size0] = weight[size0] - sums[atS] * 0.1;
        }
      }
    }
  }
}
