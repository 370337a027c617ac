// matmul_maximum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 144>;

var<workgroup> tileB: array<vec4<f32>, 272>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn maximum4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return select(select(max(a, b), b, isNan4(b)), a, isNan4(a));
}

@compute @workgroup_size(128)
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
  let xAt0 = select(0.0, x[meDiv16 * 6 + most + 48], 10 <= meMod16);
  aNext1 = xAt0;
  let xAt1 = select(0.0, x[meDiv16 * 6 + most + 96], 10 <= meMod16);
  aNext2 = xAt1;
  let xAt2 = select(0.0, x[meDiv16 * 6 + most + 144], 10 <= meMod16);
  aNext3 = xAt2;
  let weightAt = select(0.0, weight[meDiv16 * 6 + most], 10 <= meMod16);
  bNext0 = weightAt;
  let weightAt0 = select(0.0, weight[meDiv16 * 6 + most + 48], 10 <= meMod16);
  bNext1 = weightAt0;
  let weightAt1 = select(0.0, weight[meDiv16 * 6 + most + 96], 10 <= meMod16);
  bNext2 = weightAt1;
  let weightAt2 = select(0.0, weight[meDiv16 * 6 + most + 144], 10 <= meMod16);
  bNext3 = weightAt2;
  let weightAt3 = select(0.0, weight[meDiv16 * 6 + most + 192], 10 <= meMod16);
  bNext4 = weightAt3;
  let weightAt4 = select(0.0, weight[meDiv16 * 6 + most + 240], 10 <= meMod16);
  bNext5 = weightAt4;
  let weightAt5 = select(0.0, weight[meDiv16 * 6 + most + 288], 10 <= meMod16);
  bNext6 = weightAt5;
  let weightAt6 = select(0.0, weight[meDiv16 * 6 + most + 336], 10 <= meMod16);
  bNext7 = weightAt6;
  let meDiv64 = lid / 64;
  let atMe = meDiv64 + meMod16 * 9;
  let remainder = meDiv16 % 4;
  let atMe0 = meDiv64 + meMod16 * 17;
  for (var step = 0; step < 1; step++) {
    tileA[atMe][remainder] = aNext0;
    tileA[atMe + 2][remainder] = aNext1;
    tileA[atMe + 4][remainder] = aNext2;
    tileA[atMe + 6][remainder] = aNext3;
    tileB[atMe0][remainder] = bNext0;
    tileB[atMe0 + 2][remainder] = bNext1;
    tileB[atMe0 + 4][remainder] = bNext2;
    tileB[atMe0 + 6][remainder] = bNext3;
    tileB[atMe0 + 8][remainder] = bNext4;
    tileB[atMe0 + 10][remainder] = bNext5;
    tileB[atMe0 + 12][remainder] = bNext6;
    tileB[atMe0 + 14][remainder] = bNext7;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod16 + kk * 68];
      let tileAAt = tileA[meDiv16 + kk * 36];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod16 + kk * 68 + 17];
      let tileAAt0 = tileA[meDiv16 + kk * 36 + 9];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod16 + kk * 68 + 34];
      let tileAAt1 = tileA[meDiv16 + kk * 36 + 18];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod16 + kk * 68 + 51];
      let tileAAt2 = tileA[meDiv16 + kk * 36 + 27];
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
  let atMe1 = meDiv16 * 4;
  let atMe2 = meMod16 * 4;
  let atMe3 = meDiv16 * 8 + meMod16;
  if (atMe1 <= 4) {
    if (atMe2 <= 7) {
      maximum0[atMe3] = maximum4(c0_0 + bias[meMod16], vec4<f32>(0.0));
    }
  }
  if (atMe1 <= 3) {
    if (atMe2 <= 7) {
      maximum0[atMe3 + 2] = maximum4(c1_0 + bias[meMod16], vec4<f32>(0.0));
    }
  }
  if (atMe1 <= 2) {
    if (atMe2 <= 7) {
      maximum0[atMe3 + 4] = maximum4(c2_0 + bias[meMod16], vec4<f32>(0.0));
    }
  }
  if (atMe1 <= 1) {
    if (atMe2 <= 7) {
      maximum0[atMe3 + 6] = maximum4(c3_0 + bias[meMod16], vec4<f32>(0.0));
    }
  }
}

// matmul_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> maximum0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> add: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 256>;

@compute @workgroup_size(128)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var aNext0: vec4<f32> = vec4<f32>(0.0);
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
  bNext0 = select(vec4<f32>(0.0), weight[atMe], 8 <= atMe0);
  bNext1 = select(vec4<f32>(0.0), weight[atMe + 64], 8 <= atMe0);
  let meDiv16 = lid / 16;
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe1 = remainder + meMod4 * 32;
  let remainder0 = meDiv4 % 4;
  let atMe2 = meDiv16 + meMod4 * 66;
  let remainder1 = (meDiv16 + meMod4 * 2 + 8) % 16;
  let atMe3 = remainder1 + meMod4 * 64;
  let meMod16 = lid % 16;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe1][remainder0] = lanes[0];
    tileA[atMe1 + 8][remainder0] = lanes[1];
    tileA[atMe1 + 16][remainder0] = lanes[2];
    tileA[atMe1 + 24][remainder0] = lanes[3];
    let lanes0 = bNext0;
    tileB[atMe2][remainder0] = lanes0[0];
    tileB[atMe2 + 16][remainder0] = lanes0[1];
    tileB[atMe2 + 32][remainder0] = lanes0[2];
    tileB[atMe2 + 48][remainder0] = lanes0[3];
    let lanes1 = bNext1;
    tileB[atMe3][remainder0] = lanes1[0];
    tileB[atMe3 + 16][remainder0] = lanes1[1];
    tileB[atMe3 + 32][remainder0] = lanes1[2];
    tileB[atMe3 + 48][remainder0] = lanes1[3];
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let remainder2 = (meMod16 + kk * 2) % 16;
      let b0_0 = tileB[kk * 64 + remainder2];
      let remainder3 = (meDiv16 + kk * 2) % 8;
      let tileAAt = tileA[kk * 32 + remainder3];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[kk * 64 + remainder2 + 16];
      let tileAAt0 = tileA[kk * 32 + remainder3 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[kk * 64 + remainder2 + 32];
      let tileAAt1 = tileA[kk * 32 + remainder3 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[kk * 64 + remainder2 + 48];
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
  let atMe4 = meDiv16 * 4;
  let atMe5 = meMod16 * 4;
  let atMe6 = meDiv16 * 4 + meMod16;
  if (atMe4 <= 4) {
    if (atMe5 <= 3) {
      add[atMe6] = c0_0 + bias[meMod16];
    }
  }
  if (atMe4 <= 3) {
    if (atMe5 <= 3) {
      add[atMe6 + 1] = c1_0 + bias[meMod16];
    }
  }
  if (atMe4 <= 2) {
    if (atMe5 <= 3) {
      add[atMe6 + 2] = c2_0 + bias[meMod16];
    }
  }
  if (atMe4 <= 1) {
    if (atMe5 <= 3) {
      add[atMe6 + 3] = c3_0 + bias[meMod16];
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
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> maximum0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> select0: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 256>;

@compute @workgroup_size(128)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var aNext0: vec4<f32> = vec4<f32>(0.0);
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
  bNext0 = vec4<f32>(0.0);
  let meDiv16 = lid / 16;
  let most = max(meDiv16 - 4, 0);
  let meMod16 = lid % 16;
  let atMe0 = most * 2 + meMod16;
  bNext1 = select(vec4<f32>(0.0), weight[atMe0], 4 <= meDiv16);
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe1 = remainder + meMod4 * 32;
  let remainder0 = meDiv4 % 4;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe1][remainder0] = lanes[0];
    tileA[atMe1 + 8][remainder0] = lanes[1];
    tileA[atMe1 + 16][remainder0] = lanes[2];
    tileA[atMe1 + 24][remainder0] = lanes[3];
    tileB[lid] = bNext0;
    tileB[lid + 128] = bNext1;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod16 + kk * 64];
      let remainder1 = (meDiv16 + kk * 2) % 8;
      let tileAAt = tileA[kk * 32 + remainder1];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod16 + kk * 64 + 16];
      let tileAAt0 = tileA[kk * 32 + remainder1 + 8];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod16 + kk * 64 + 32];
      let tileAAt1 = tileA[kk * 32 + remainder1 + 16];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod16 + kk * 64 + 48];
      let tileAAt2 = tileA[kk * 32 + remainder1 + 24];
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
  let atMe2 = meDiv16 * 4;
  let atMe3 = meMod16 * 4;
  let atMe4 = meDiv16 * 8 + meMod16;
  if (atMe2 <= 4) {
    if (atMe3 <= 7) {
      select0[atMe4] = select(vec4<f32>(0.0), c0_0, vec4<f32>(0.0) < maximum0[atMe4]);
    }
  }
  if (atMe2 <= 3) {
    if (atMe3 <= 7) {
      select0[atMe4 + 2] = select(vec4<f32>(0.0), c1_0, vec4<f32>(0.0) < maximum0[atMe4 + 2]);
    }
  }
  if (atMe2 <= 2) {
    if (atMe3 <= 7) {
      select0[atMe4 + 4] = select(vec4<f32>(0.0), c2_0, vec4<f32>(0.0) < maximum0[atMe4 + 4]);
    }
  }
  if (atMe2 <= 1) {
    if (atMe3 <= 7) {
      select0[atMe4 + 6] = select(vec4<f32>(0.0), c3_0, vec4<f32>(0.0) < maximum0[atMe4 + 6]);
    }
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 256>;

@compute @workgroup_size(128)
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
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 11, 0);
  let meMod8 = lid % 8;
  let atMe = most * 2 + meMod8;
  aNext0 = select(vec4<f32>(0.0), select0[atMe], 11 <= meDiv8);
  bNext0 = 0.0;
  bNext1 = 0.0;
  bNext2 = 0.0;
  bNext3 = 0.0;
  bNext4 = 0.0;
  let meDiv64 = lid / 64;
  let meMod64 = lid % 64;
  let xAt = select(0.0, x[meMod64], 0 < meDiv64);
  bNext5 = xAt;
  let xAt0 = x[meDiv64 * 6 + meMod64 + 6];
  bNext6 = xAt0;
  let xAt1 = x[meDiv64 * 6 + meMod64 + 18];
  bNext7 = xAt1;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let meMod16 = lid % 16;
  let meDiv16 = lid / 16;
  for (var step = 0; step < 1; step++) {
    tileA[lid] = aNext0;
    tileB[meDiv4][meMod4] = bNext0;
    tileB[meDiv4 + 32][meMod4] = bNext1;
    tileB[meDiv4 + 64][meMod4] = bNext2;
    tileB[meDiv4 + 96][meMod4] = bNext3;
    tileB[meDiv4 + 128][meMod4] = bNext4;
    tileB[meDiv4 + 160][meMod4] = bNext5;
    tileB[meDiv4 + 192][meMod4] = bNext6;
    tileB[meDiv4 + 224][meMod4] = bNext7;
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod16 + kk * 64];
      let tileAAt = tileA[meDiv16 + kk * 32];
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
      let b1_0 = tileB[meMod16 + kk * 64 + 16];
      let tileAAt0 = tileA[meDiv16 + kk * 32 + 8];
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
      let b2_0 = tileB[meMod16 + kk * 64 + 32];
      let tileAAt1 = tileA[meDiv16 + kk * 32 + 16];
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
      let b3_0 = tileB[meMod16 + kk * 64 + 48];
      let tileAAt2 = tileA[meDiv16 + kk * 32 + 24];
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
  let atMe0 = meDiv16 * 4;
  let atMe1 = meMod16 * 4;
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
  let i0_0 = meDiv16 * 4;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 7)) {
    let sidea0_0Sum = sidea0_0;
    bias[i0_0] = bias[i0_0] - sidea0_0Sum * 0.1;
  }
  let i0_1 = meDiv16 * 4 + 1;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 6)) {
    let sidea0_1Sum = sidea0_1;
    bias[i0_1] = bias[i0_1] - sidea0_1Sum * 0.1;
  }
  let i0_2 = meDiv16 * 4 + 2;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 5)) {
    let sidea0_2Sum = sidea0_2;
    bias[i0_2] = bias[i0_2] - sidea0_2Sum * 0.1;
  }
  let i0_3 = meDiv16 * 4 + 3;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 4)) {
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

var<workgroup> tileB: array<vec4<f32>, 256>;

@compute @workgroup_size(128)
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
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 11, 0);
  let meMod8 = lid % 8;
  let atMe = most + meMod8;
  aNext0 = select(vec4<f32>(0.0), add[atMe], 11 <= meDiv8);
  bNext0 = vec4<f32>(0.0);
  let meDiv16 = lid / 16;
  let most0 = max(meDiv16 - 3, 0);
  let meMod16 = lid % 16;
  let atMe0 = most0 * 2 + meMod16;
  bNext1 = select(vec4<f32>(0.0), maximum0[atMe0], 3 <= meDiv16);
  for (var step = 0; step < 1; step++) {
    tileA[lid] = aNext0;
    tileB[lid] = bNext0;
    tileB[lid + 128] = bNext1;
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod16 + kk * 64];
      let tileAAt = tileA[meDiv16 + kk * 32];
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
      let b1_0 = tileB[meMod16 + kk * 64 + 16];
      let tileAAt0 = tileA[meDiv16 + kk * 32 + 8];
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
      let b2_0 = tileB[meMod16 + kk * 64 + 32];
      let tileAAt1 = tileA[meDiv16 + kk * 32 + 16];
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
      let b3_0 = tileB[meMod16 + kk * 64 + 48];
      let tileAAt2 = tileA[meDiv16 + kk * 32 + 24];
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
  let atMe1 = meDiv16 * 4;
  let atMe2 = meMod16 * 4;
  let atMe3 = meDiv16 * 8 + meMod16;
  if (atMe1 <= 3) {
    if (atMe2 <= 7) {
      weight[atMe3] = weight[atMe3] - c0_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 2) {
    if (atMe2 <= 7) {
      weight[atMe3 + 2] = weight[atMe3 + 2] - c1_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 1) {
    if (atMe2 <= 7) {
      weight[atMe3 + 4] = weight[atMe3 + 4] - c2_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 0) {
    if (atMe2 <= 7) {
      weight[atMe3 + 6] = weight[atMe3 + 6] - c3_0 * vec4<f32>(0.1);
    }
  }
  let i0 = meDiv16 * 4;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 3)) {
    let sidea0_0Sum = sidea0_0;
    bias[i0] = bias[i0] - sidea0_0Sum * 0.1;
  }
  let i0_0 = meDiv16 * 4 + 1;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 2)) {
    let sidea0_1Sum = sidea0_1;
    bias[i0_0] = bias[i0_0] - sidea0_1Sum * 0.1;
  }
  let i0_1 = meDiv16 * 4 + 2;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 1)) {
    let sidea0_2Sum = sidea0_2;
    bias[i0_1] = bias[i0_1] - sidea0_2Sum * 0.1;
  }
  let i0_2 = meDiv16 * 4 + 3;
  if ((meMod16 <= 0) & (meDiv16 * 4 <= 0)) {
    let sidea0_3Sum = sidea0_3;
    bias[i0_2] = bias[i0_2] - sidea0_3Sum * 0.1;
  }
}
