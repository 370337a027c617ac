// matmul_reciprocal on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> classes: array<i32>;
@group(0) @binding(1) var<storage, read_write> convert: array<f32>;
@group(0) @binding(2) var<storage, read_write> reciprocal: array<f32>;

var<workgroup> tileA: array<vec4<i32>, 144>;

var<workgroup> tileB: array<vec4<i32>, 144>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<i32>, 4>;
  var aNext0: i32 = 0;
  var aNext1: i32 = 0;
  var aNext2: i32 = 0;
  var aNext3: i32 = 0;
  var aNext4: i32 = 0;
  var aNext5: i32 = 0;
  var aNext6: i32 = 0;
  var aNext7: i32 = 0;
  var bNext0: i32 = 0;
  var bNext1: i32 = 0;
  var bNext2: i32 = 0;
  var bNext3: i32 = 0;
  var bNext4: i32 = 0;
  var bNext5: i32 = 0;
  var bNext6: i32 = 0;
  var bNext7: i32 = 0;
  var c0_0: vec4<i32> = vec4<i32>(0);
  var c1_0: vec4<i32> = vec4<i32>(0);
  var c2_0: vec4<i32> = vec4<i32>(0);
  var c3_0: vec4<i32> = vec4<i32>(0);
  let meMod16 = lid % 16;
  let most = max(meMod16 - 11, 0);
  let t = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext0 = t;
  let t0 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext1 = t0;
  let t1 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext2 = t1;
  let t2 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext3 = t2;
  let t3 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext4 = t3;
  let t4 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext5 = t4;
  let t5 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext6 = t5;
  let t6 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  aNext7 = t6;
  let t7 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext0 = t7;
  let t8 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext1 = t8;
  let t9 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext2 = t9;
  let t10 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext3 = t10;
  let t11 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext4 = t11;
  let t12 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext5 = t12;
  let t13 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext6 = t13;
  let t14 = select(0, i32(select(0, classes[most], 11 <= meMod16) != -100), 11 <= meMod16);
  bNext7 = t14;
  let atMe = meMod16 * 9;
  let meDiv16 = lid / 16;
  let meMod8 = lid % 8;
  let meDiv8 = lid / 8;
  for (var step = 0; step < 1; step++) {
    tileA[atMe][meDiv16] = aNext0;
    tileA[atMe + 1][meDiv16] = aNext1;
    tileA[atMe + 2][meDiv16] = aNext2;
    tileA[atMe + 3][meDiv16] = aNext3;
    tileA[atMe + 4][meDiv16] = aNext4;
    tileA[atMe + 5][meDiv16] = aNext5;
    tileA[atMe + 6][meDiv16] = aNext6;
    tileA[atMe + 7][meDiv16] = aNext7;
    tileB[atMe][meDiv16] = bNext0;
    tileB[atMe + 1][meDiv16] = bNext1;
    tileB[atMe + 2][meDiv16] = bNext2;
    tileB[atMe + 3][meDiv16] = bNext3;
    tileB[atMe + 4][meDiv16] = bNext4;
    tileB[atMe + 5][meDiv16] = bNext5;
    tileB[atMe + 6][meDiv16] = bNext6;
    tileB[atMe + 7][meDiv16] = bNext7;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 36];
      let tileAAt = tileA[meDiv8 + kk * 36];
      let a0_0 = tileAAt[0];
      c0_0 = c0_0 + vec4<i32>(a0_0) * b0_0;
      let a0_1 = tileAAt[1];
      c1_0 = c1_0 + vec4<i32>(a0_1) * b0_0;
      let a0_2 = tileAAt[2];
      c2_0 = c2_0 + vec4<i32>(a0_2) * b0_0;
      let a0_3 = tileAAt[3];
      c3_0 = c3_0 + vec4<i32>(a0_3) * b0_0;
      let b1_0 = tileB[meMod8 + kk * 36 + 9];
      let tileAAt0 = tileA[meDiv8 + kk * 36 + 9];
      let a1_0 = tileAAt0[0];
      c0_0 = c0_0 + vec4<i32>(a1_0) * b1_0;
      let a1_1 = tileAAt0[1];
      c1_0 = c1_0 + vec4<i32>(a1_1) * b1_0;
      let a1_2 = tileAAt0[2];
      c2_0 = c2_0 + vec4<i32>(a1_2) * b1_0;
      let a1_3 = tileAAt0[3];
      c3_0 = c3_0 + vec4<i32>(a1_3) * b1_0;
      let b2_0 = tileB[meMod8 + kk * 36 + 18];
      let tileAAt1 = tileA[meDiv8 + kk * 36 + 18];
      let a2_0 = tileAAt1[0];
      c0_0 = c0_0 + vec4<i32>(a2_0) * b2_0;
      let a2_1 = tileAAt1[1];
      c1_0 = c1_0 + vec4<i32>(a2_1) * b2_0;
      let a2_2 = tileAAt1[2];
      c2_0 = c2_0 + vec4<i32>(a2_2) * b2_0;
      let a2_3 = tileAAt1[3];
      c3_0 = c3_0 + vec4<i32>(a2_3) * b2_0;
      let b3_0 = tileB[meMod8 + kk * 36 + 27];
      let tileAAt2 = tileA[meDiv8 + kk * 36 + 27];
      let a3_0 = tileAAt2[0];
      c0_0 = c0_0 + vec4<i32>(a3_0) * b3_0;
      let a3_1 = tileAAt2[1];
      c1_0 = c1_0 + vec4<i32>(a3_1) * b3_0;
      let a3_2 = tileAAt2[2];
      c2_0 = c2_0 + vec4<i32>(a3_2) * b3_0;
      let a3_3 = tileAAt2[3];
      c3_0 = c3_0 + vec4<i32>(a3_3) * b3_0;
    }
    workgroupBarrier();
  }
  sums[0] = c0_0;
  sums[1] = c1_0;
  sums[2] = c2_0;
  sums[3] = c3_0;
  let atMe0 = meDiv8 * 4;
  let atMe1 = meMod8 * 4;
  for (var r = 0; r < 4; r++) {
    if (atMe0 + r <= 0) {
      for (var q = 0; q < 1; q++) {
        for (var s = 0; s < 4; s++) {
          if (atMe1 + s <= 0) {
            let t15 = f32(sums[r][s]);
            convert[0] = t15;
            reciprocal[0] = 1.0 / t15;
          }
        }
      }
    }
  }
}

// matmul_maximum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 144>;

var<workgroup> tileB: array<vec4<f32>, 144>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn maximum4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return select(select(max(a, b), b, isNan4(b)), a, isNan4(a));
}

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
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
  var bNext0: f32 = 0.0;
  var bNext1: f32 = 0.0;
  var bNext2: f32 = 0.0;
  var bNext3: f32 = 0.0;
  var bNext4: f32 = 0.0;
  var bNext5: f32 = 0.0;
  var bNext6: f32 = 0.0;
  var bNext7: f32 = 0.0;
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meMod16 = lid % 16;
  let meDiv16 = lid / 16;
  let most = max(meMod16 - 10, 0);
  let xAt = select(0.0, x[meDiv16 * 6 + most], 10 <= meMod16);
  aNext0 = xAt;
  let xAt0 = select(0.0, x[meDiv16 * 6 + most + 24], 10 <= meMod16);
  aNext1 = xAt0;
  let xAt1 = select(0.0, x[meDiv16 * 6 + most + 48], 10 <= meMod16);
  aNext2 = xAt1;
  let xAt2 = select(0.0, x[meDiv16 * 6 + most + 72], 10 <= meMod16);
  aNext3 = xAt2;
  let xAt3 = select(0.0, x[meDiv16 * 6 + most + 96], 10 <= meMod16);
  aNext4 = xAt3;
  let xAt4 = select(0.0, x[meDiv16 * 6 + most + 120], 10 <= meMod16);
  aNext5 = xAt4;
  let xAt5 = select(0.0, x[meDiv16 * 6 + most + 144], 10 <= meMod16);
  aNext6 = xAt5;
  let xAt6 = select(0.0, x[meDiv16 * 6 + most + 168], 10 <= meMod16);
  aNext7 = xAt6;
  let weightAt = select(0.0, weight[meDiv16 * 6 + most], 10 <= meMod16);
  bNext0 = weightAt;
  let weightAt0 = select(0.0, weight[meDiv16 * 6 + most + 24], 10 <= meMod16);
  bNext1 = weightAt0;
  let weightAt1 = select(0.0, weight[meDiv16 * 6 + most + 48], 10 <= meMod16);
  bNext2 = weightAt1;
  let weightAt2 = select(0.0, weight[meDiv16 * 6 + most + 72], 10 <= meMod16);
  bNext3 = weightAt2;
  let weightAt3 = select(0.0, weight[meDiv16 * 6 + most + 96], 10 <= meMod16);
  bNext4 = weightAt3;
  let weightAt4 = select(0.0, weight[meDiv16 * 6 + most + 120], 10 <= meMod16);
  bNext5 = weightAt4;
  let weightAt5 = select(0.0, weight[meDiv16 * 6 + most + 144], 10 <= meMod16);
  bNext6 = weightAt5;
  let weightAt6 = select(0.0, weight[meDiv16 * 6 + most + 168], 10 <= meMod16);
  bNext7 = weightAt6;
  let atMe = meMod16 * 9;
  let meMod8 = lid % 8;
  let meDiv8 = lid / 8;
  for (var step = 0; step < 1; step++) {
    tileA[atMe][meDiv16] = aNext0;
    tileA[atMe + 1][meDiv16] = aNext1;
    tileA[atMe + 2][meDiv16] = aNext2;
    tileA[atMe + 3][meDiv16] = aNext3;
    tileA[atMe + 4][meDiv16] = aNext4;
    tileA[atMe + 5][meDiv16] = aNext5;
    tileA[atMe + 6][meDiv16] = aNext6;
    tileA[atMe + 7][meDiv16] = aNext7;
    tileB[atMe][meDiv16] = bNext0;
    tileB[atMe + 1][meDiv16] = bNext1;
    tileB[atMe + 2][meDiv16] = bNext2;
    tileB[atMe + 3][meDiv16] = bNext3;
    tileB[atMe + 4][meDiv16] = bNext4;
    tileB[atMe + 5][meDiv16] = bNext5;
    tileB[atMe + 6][meDiv16] = bNext6;
    tileB[atMe + 7][meDiv16] = bNext7;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 36];
      let tileAAt = tileA[meDiv8 + kk * 36];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod8 + kk * 36 + 9];
      let tileAAt0 = tileA[meDiv8 + kk * 36 + 9];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod8 + kk * 36 + 18];
      let tileAAt1 = tileA[meDiv8 + kk * 36 + 18];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod8 + kk * 36 + 27];
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
  let atMe0 = meDiv8 * 4;
  let atMe1 = meMod8 * 4;
  if (atMe0 <= 4) {
    if (atMe1 <= 7) {
      maximum0[lid] = maximum4(c0_0 + bias[meMod8], vec4<f32>(0.0));
    }
  }
  if (atMe0 <= 3) {
    if (atMe1 <= 7) {
      maximum0[lid + 2] = maximum4(c1_0 + bias[meMod8], vec4<f32>(0.0));
    }
  }
  if (atMe0 <= 2) {
    if (atMe1 <= 7) {
      maximum0[lid + 4] = maximum4(c2_0 + bias[meMod8], vec4<f32>(0.0));
    }
  }
  if (atMe0 <= 1) {
    if (atMe1 <= 7) {
      maximum0[lid + 6] = maximum4(c3_0 + bias[meMod8], vec4<f32>(0.0));
    }
  }
}

// matmul_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> maximum0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> add: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let most = max(meMod4 - 2, 0);
  let atMe = meDiv4 * 2 + most;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), maximum0[atMe], 8 <= atMe0);
  aNext1 = select(vec4<f32>(0.0), maximum0[atMe + 32], 8 <= atMe0);
  bNext0 = select(vec4<f32>(0.0), weight[atMe], 8 <= atMe0);
  bNext1 = select(vec4<f32>(0.0), weight[atMe + 32], 8 <= atMe0);
  let meDiv16 = lid / 16;
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe1 = remainder + meMod4 * 32;
  let remainder0 = meDiv4 % 4;
  let remainder1 = (meDiv16 + meMod4 * 2 + 4) % 8;
  let atMe2 = remainder1 + meMod4 * 32;
  let meMod8 = lid % 8;
  let meDiv8 = lid / 8;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe1][remainder0] = lanes[0];
    tileA[atMe1 + 8][remainder0] = lanes[1];
    tileA[atMe1 + 16][remainder0] = lanes[2];
    tileA[atMe1 + 24][remainder0] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe2][remainder0] = lanes0[0];
    tileA[atMe2 + 8][remainder0] = lanes0[1];
    tileA[atMe2 + 16][remainder0] = lanes0[2];
    tileA[atMe2 + 24][remainder0] = lanes0[3];
    let lanes1 = bNext0;
    tileB[atMe1][remainder0] = lanes1[0];
    tileB[atMe1 + 8][remainder0] = lanes1[1];
    tileB[atMe1 + 16][remainder0] = lanes1[2];
    tileB[atMe1 + 24][remainder0] = lanes1[3];
    let lanes2 = bNext1;
    tileB[atMe2][remainder0] = lanes2[0];
    tileB[atMe2 + 8][remainder0] = lanes2[1];
    tileB[atMe2 + 16][remainder0] = lanes2[2];
    tileB[atMe2 + 24][remainder0] = lanes2[3];
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let remainder2 = (meMod8 + kk * 2) % 8;
      let b0_0 = tileB[kk * 32 + remainder2];
      let remainder3 = (meDiv8 + kk * 2) % 8;
      let tileAAt = tileA[kk * 32 + remainder3];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[kk * 32 + remainder2 + 8];
      let tileAAt0 = tileA[kk * 32 + remainder3 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[kk * 32 + remainder2 + 16];
      let tileAAt1 = tileA[kk * 32 + remainder3 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[kk * 32 + remainder2 + 24];
      let tileAAt2 = tileA[kk * 32 + remainder3 + 24];
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
  let atMe3 = meDiv8 * 4;
  let atMe4 = meMod8 * 4;
  let atMe5 = meDiv8 * 4 + meMod8;
  if (atMe3 <= 4) {
    if (atMe4 <= 3) {
      add[atMe5] = c0_0 + bias[meMod8];
    }
  }
  if (atMe3 <= 3) {
    if (atMe4 <= 3) {
      add[atMe5 + 1] = c1_0 + bias[meMod8];
    }
  }
  if (atMe3 <= 2) {
    if (atMe4 <= 3) {
      add[atMe5 + 2] = c2_0 + bias[meMod8];
    }
  }
  if (atMe3 <= 1) {
    if (atMe4 <= 3) {
      add[atMe5 + 3] = c3_0 + bias[meMod8];
    }
  }
}

// reduceMax_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> classes: array<i32>;
@group(0) @binding(2) var<storage, read> reciprocal: array<f32>;
@group(0) @binding(3) var<storage, read_write> add2: array<f32>;
@group(0) @binding(4) var<storage, read> convert: array<f32>;
@group(0) @binding(5) var<storage, read_write> reduceSum: array<f32>;

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

var<private> nanBits: u32 = 0x7fc00000u;
fn nan() -> f32 {
  return bitcast<f32>(nanBits);
}

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
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

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  var sum3: f32 = 0.0;
  let reciprocalAt = reciprocal[0];
  let reciprocalAt0 = reciprocal[0];
  let convertAt = convert[0];
  for (var row = lid; row < 5; row += 256) {
    var max0: f32 = -infinity();
    var sum4: f32 = 0.0;
    let atRow = row * 4;
    max0 = maximum(max0, add[atRow]);
    let classesAt = classes[row];
    let t = (0 <= classesAt) & (classesAt < 4);
    let t0 = select(0, classesAt, t);
    let t1 = select(0.0, reciprocalAt, classesAt != -100) * select(nan(), -1.0, t | (classesAt == -100));
    sum4 = sum4 + -select(0.0, t1, 0 == t0);
    max0 = maximum(max0, add[atRow + 1]);
    sum4 = sum4 + -select(0.0, t1, 1 == t0);
    max0 = maximum(max0, add[atRow + 2]);
    sum4 = sum4 + -select(0.0, t1, 2 == t0);
    max0 = maximum(max0, add[atRow + 3]);
    sum4 = sum4 + -select(0.0, t1, 3 == t0);
    var sum1: f32 = 0.0;
    sum1 = sum1 + expOf(add[atRow] - max0);
    sum1 = sum1 + expOf(add[atRow + 1] - max0);
    sum1 = sum1 + expOf(add[atRow + 2] - max0);
    sum1 = sum1 + expOf(add[atRow + 3] - max0);
    var sum2: f32 = 0.0;
    let classesAt0 = classes[row];
    let t2 = (0 <= classesAt0) & (classesAt0 < 4);
    let t3 = select(0, classesAt0, t2);
    let t4 = 0 == t3;
    let t5 = add[atRow] - max0;
    let t6 = logOf(sum1);
    sum2 = sum2 + select(0.0, t5 - t6, t4);
    let t7 = select(0.0, reciprocalAt0, classesAt0 != -100) * select(nan(), -1.0, t2 | (classesAt0 == -100));
    let t8 = sum4 / select(sum1, 1.0, sum4 == 0.0);
    add2[atRow] = select(0.0, t7, t4) + t8 * expOf(t5);
    let t9 = 1 == t3;
    let t10 = add[atRow + 1] - max0;
    sum2 = sum2 + select(0.0, t10 - t6, t9);
    add2[atRow + 1] = select(0.0, t7, t9) + t8 * expOf(t10);
    let t11 = 2 == t3;
    let t12 = add[atRow + 2] - max0;
    sum2 = sum2 + select(0.0, t12 - t6, t11);
    add2[atRow + 2] = select(0.0, t7, t11) + t8 * expOf(t12);
    let t13 = 3 == t3;
    let t14 = add[atRow + 3] - max0;
    sum2 = sum2 + select(0.0, t14 - t6, t13);
    add2[atRow + 3] = select(0.0, t7, t13) + t8 * expOf(t14);
    let classesAt1 = classes[row];
    sum3 = sum3 + select(0.0, sum2 * select(nan(), -1.0, ((0 <= classesAt1) & (classesAt1 < 4)) | (classesAt1 == -100)), classesAt1 != -100) / convertAt;
  }
  sum3 = combine_sum_f32(sum3, lid);
  for (var first = lid; first < 1; first += 256) {
    reduceSum[0] = sum3;
  }
}

// matmul_select on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> maximum0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> select0: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), add[meDiv4], 12 <= atMe);
  aNext1 = select(vec4<f32>(0.0), add[meDiv4 + 16], 12 <= atMe);
  bNext0 = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 4, 0);
  let meMod8 = lid % 8;
  let atMe0 = most * 2 + meMod8;
  bNext1 = select(vec4<f32>(0.0), weight[atMe0], 4 <= meDiv8);
  let meDiv16 = lid / 16;
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe1 = remainder + meMod4 * 32;
  let remainder0 = meDiv4 % 4;
  let remainder1 = (meDiv16 + meMod4 * 2 + 4) % 8;
  let atMe2 = remainder1 + meMod4 * 32;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe1][remainder0] = lanes[0];
    tileA[atMe1 + 8][remainder0] = lanes[1];
    tileA[atMe1 + 16][remainder0] = lanes[2];
    tileA[atMe1 + 24][remainder0] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe2][remainder0] = lanes0[0];
    tileA[atMe2 + 8][remainder0] = lanes0[1];
    tileA[atMe2 + 16][remainder0] = lanes0[2];
    tileA[atMe2 + 24][remainder0] = lanes0[3];
    tileB[lid] = bNext0;
    tileB[lid + 64] = bNext1;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 32];
      let remainder2 = (meDiv8 + kk * 2) % 8;
      let tileAAt = tileA[kk * 32 + remainder2];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod8 + kk * 32 + 8];
      let tileAAt0 = tileA[kk * 32 + remainder2 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod8 + kk * 32 + 16];
      let tileAAt1 = tileA[kk * 32 + remainder2 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod8 + kk * 32 + 24];
      let tileAAt2 = tileA[kk * 32 + remainder2 + 24];
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
  let atMe3 = meDiv8 * 4;
  let atMe4 = meMod8 * 4;
  if (atMe3 <= 4) {
    if (atMe4 <= 7) {
      select0[lid] = select(vec4<f32>(0.0), c0_0, vec4<f32>(0.0) < maximum0[lid]);
    }
  }
  if (atMe3 <= 3) {
    if (atMe4 <= 7) {
      select0[lid + 2] = select(vec4<f32>(0.0), c1_0, vec4<f32>(0.0) < maximum0[lid + 2]);
    }
  }
  if (atMe3 <= 2) {
    if (atMe4 <= 7) {
      select0[lid + 4] = select(vec4<f32>(0.0), c2_0, vec4<f32>(0.0) < maximum0[lid + 4]);
    }
  }
  if (atMe3 <= 1) {
    if (atMe4 <= 7) {
      select0[lid + 6] = select(vec4<f32>(0.0), c3_0, vec4<f32>(0.0) < maximum0[lid + 6]);
    }
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<f32>, 4>;
  var bNext0: f32 = 0.0;
  var bNext1: f32 = 0.0;
  var bNext2: f32 = 0.0;
  var bNext3: f32 = 0.0;
  var bNext4: f32 = 0.0;
  var bNext5: f32 = 0.0;
  var bNext6: f32 = 0.0;
  var bNext7: f32 = 0.0;
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  aNext0 = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 3, 0);
  let meMod8 = lid % 8;
  let atMe = most * 2 + meMod8;
  aNext1 = select(vec4<f32>(0.0), select0[atMe], 3 <= meDiv8);
  bNext0 = 0.0;
  bNext1 = 0.0;
  bNext2 = 0.0;
  bNext3 = 0.0;
  bNext4 = 0.0;
  let meDiv32 = lid / 32;
  let meMod32 = lid % 32;
  let xAt = select(0.0, x[meMod32], 0 < meDiv32);
  bNext5 = xAt;
  let xAt0 = x[meDiv32 * 6 + meMod32 + 6];
  bNext6 = xAt0;
  let xAt1 = x[meDiv32 * 6 + meMod32 + 18];
  bNext7 = xAt1;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  for (var step = 0; step < 1; step++) {
    tileA[lid] = aNext0;
    tileA[lid + 64] = aNext1;
    tileB[meDiv4][meMod4] = bNext0;
    tileB[meDiv4 + 16][meMod4] = bNext1;
    tileB[meDiv4 + 32][meMod4] = bNext2;
    tileB[meDiv4 + 48][meMod4] = bNext3;
    tileB[meDiv4 + 64][meMod4] = bNext4;
    tileB[meDiv4 + 80][meMod4] = bNext5;
    tileB[meDiv4 + 96][meMod4] = bNext6;
    tileB[meDiv4 + 112][meMod4] = bNext7;
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 32];
      let tileAAt = tileA[meDiv8 + kk * 32];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      sidea0_0 = sidea0_0 + a0_0;
      sidea0_1 = sidea0_1 + a0_1;
      sidea0_2 = sidea0_2 + a0_2;
      sidea0_3 = sidea0_3 + a0_3;
      let b1_0 = tileB[meMod8 + kk * 32 + 8];
      let tileAAt0 = tileA[meDiv8 + kk * 32 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      sidea0_0 = sidea0_0 + a1_0;
      sidea0_1 = sidea0_1 + a1_1;
      sidea0_2 = sidea0_2 + a1_2;
      sidea0_3 = sidea0_3 + a1_3;
      let b2_0 = tileB[meMod8 + kk * 32 + 16];
      let tileAAt1 = tileA[meDiv8 + kk * 32 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      sidea0_0 = sidea0_0 + a2_0;
      sidea0_1 = sidea0_1 + a2_1;
      sidea0_2 = sidea0_2 + a2_2;
      sidea0_3 = sidea0_3 + a2_3;
      let b3_0 = tileB[meMod8 + kk * 32 + 24];
      let tileAAt2 = tileA[meDiv8 + kk * 32 + 24];
      let a3_0 = tileAAt2[0];
      c0_0 = fma(vec4<f32>(a3_0), b3_0, c0_0);
      let a3_1 = tileAAt2[1];
      c1_0 = fma(vec4<f32>(a3_1), b3_0, c1_0);
      let a3_2 = tileAAt2[2];
      c2_0 = fma(vec4<f32>(a3_2), b3_0, c2_0);
      let a3_3 = tileAAt2[3];
      c3_0 = fma(vec4<f32>(a3_3), b3_0, c3_0);
      sidea0_0 = sidea0_0 + a3_0;
      sidea0_1 = sidea0_1 + a3_1;
      sidea0_2 = sidea0_2 + a3_2;
      sidea0_3 = sidea0_3 + a3_3;
    }
    workgroupBarrier();
    storageBarrier();
  }
  sums[0] = c0_0;
  sums[1] = c1_0;
  sums[2] = c2_0;
  sums[3] = c3_0;
  let atMe0 = meDiv8 * 4;
  let atMe1 = meMod8 * 4;
  for (var r = 0; r < 4; r++) {
    let i0 = atMe0 + r;
    let size = i0 * 6;
    if (atMe0 + r <= 7) {
      for (var q = 0; q < 1; q++) {
        for (var s = 0; s < 4; s++) {
          let i1 = atMe1 + s;
          let size0 = size + i1;
          if (atMe1 + s <= 5) {
            weight[size0] = weight[size0] - sums[r][s] * 0.1;
          }
        }
      }
    }
  }
  let i0_0 = meDiv8 * 4;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 7)) {
    let sidea0_0Sum = sidea0_0;
    bias[i0_0] = bias[i0_0] - sidea0_0Sum * 0.1;
  }
  let i0_1 = meDiv8 * 4 + 1;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 6)) {
    let sidea0_1Sum = sidea0_1;
    bias[i0_1] = bias[i0_1] - sidea0_1Sum * 0.1;
  }
  let i0_2 = meDiv8 * 4 + 2;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 5)) {
    let sidea0_2Sum = sidea0_2;
    bias[i0_2] = bias[i0_2] - sidea0_2Sum * 0.1;
  }
  let i0_3 = meDiv8 * 4 + 3;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 4)) {
    let sidea0_3Sum = sidea0_3;
    bias[i0_3] = bias[i0_3] - sidea0_3Sum * 0.1;
  }
}

// matmul_sub2 on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> maximum0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> weight: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 128>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  aNext0 = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 3, 0);
  let meMod8 = lid % 8;
  let atMe = most + meMod8;
  aNext1 = select(vec4<f32>(0.0), add[atMe], 3 <= meDiv8);
  bNext0 = vec4<f32>(0.0);
  let atMe0 = most * 2 + meMod8;
  bNext1 = select(vec4<f32>(0.0), maximum0[atMe0], 3 <= meDiv8);
  for (var step = 0; step < 1; step++) {
    tileA[lid] = aNext0;
    tileA[lid + 64] = aNext1;
    tileB[lid] = bNext0;
    tileB[lid + 64] = bNext1;
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 32];
      let tileAAt = tileA[meDiv8 + kk * 32];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      sidea0_0 = sidea0_0 + a0_0;
      sidea0_1 = sidea0_1 + a0_1;
      sidea0_2 = sidea0_2 + a0_2;
      sidea0_3 = sidea0_3 + a0_3;
      let b1_0 = tileB[meMod8 + kk * 32 + 8];
      let tileAAt0 = tileA[meDiv8 + kk * 32 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      sidea0_0 = sidea0_0 + a1_0;
      sidea0_1 = sidea0_1 + a1_1;
      sidea0_2 = sidea0_2 + a1_2;
      sidea0_3 = sidea0_3 + a1_3;
      let b2_0 = tileB[meMod8 + kk * 32 + 16];
      let tileAAt1 = tileA[meDiv8 + kk * 32 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      sidea0_0 = sidea0_0 + a2_0;
      sidea0_1 = sidea0_1 + a2_1;
      sidea0_2 = sidea0_2 + a2_2;
      sidea0_3 = sidea0_3 + a2_3;
      let b3_0 = tileB[meMod8 + kk * 32 + 24];
      let tileAAt2 = tileA[meDiv8 + kk * 32 + 24];
      let a3_0 = tileAAt2[0];
      c0_0 = fma(vec4<f32>(a3_0), b3_0, c0_0);
      let a3_1 = tileAAt2[1];
      c1_0 = fma(vec4<f32>(a3_1), b3_0, c1_0);
      let a3_2 = tileAAt2[2];
      c2_0 = fma(vec4<f32>(a3_2), b3_0, c2_0);
      let a3_3 = tileAAt2[3];
      c3_0 = fma(vec4<f32>(a3_3), b3_0, c3_0);
      sidea0_0 = sidea0_0 + a3_0;
      sidea0_1 = sidea0_1 + a3_1;
      sidea0_2 = sidea0_2 + a3_2;
      sidea0_3 = sidea0_3 + a3_3;
    }
    workgroupBarrier();
    storageBarrier();
  }
  let atMe1 = meDiv8 * 4;
  let atMe2 = meMod8 * 4;
  if (atMe1 <= 3) {
    if (atMe2 <= 7) {
      weight[lid] = weight[lid] - c0_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 2) {
    if (atMe2 <= 7) {
      weight[lid + 2] = weight[lid + 2] - c1_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 1) {
    if (atMe2 <= 7) {
      weight[lid + 4] = weight[lid + 4] - c2_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 0) {
    if (atMe2 <= 7) {
      weight[lid + 6] = weight[lid + 6] - c3_0 * vec4<f32>(0.1);
    }
  }
  let i0 = meDiv8 * 4;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 3)) {
    let sidea0_0Sum = sidea0_0;
    bias[i0] = bias[i0] - sidea0_0Sum * 0.1;
  }
  let i0_0 = meDiv8 * 4 + 1;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 2)) {
    let sidea0_1Sum = sidea0_1;
    bias[i0_0] = bias[i0_0] - sidea0_1Sum * 0.1;
  }
  let i0_1 = meDiv8 * 4 + 2;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 1)) {
    let sidea0_2Sum = sidea0_2;
    bias[i0_1] = bias[i0_1] - sidea0_2Sum * 0.1;
  }
  let i0_2 = meDiv8 * 4 + 3;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 0)) {
    let sidea0_3Sum = sidea0_3;
    bias[i0_2] = bias[i0_2] - sidea0_3Sum * 0.1;
  }
}
