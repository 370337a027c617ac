// matmul_select on a grid of 1 × 1 × 2
@group(0) @binding(0) var<storage, read> q_: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k_: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> select0: array<vec4<f32>>;

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
  let atBatch = batch * 8;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = atBatch + meDiv4 * 2 + meMod4;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), q_[atMe], (meDiv4 <= 3) & (atMe0 <= 7));
  aNext1 = vec4<f32>(0.0);
  bNext0 = select(vec4<f32>(0.0), k_[atMe], (meDiv4 <= 3) & (atMe0 <= 7));
  bNext1 = vec4<f32>(0.0);
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
  let atBatch0 = batch * 4;
  let atMe5 = atBatch0 + meDiv8 * 4 + meMod8;
  if (atMe3 <= 3) {
    if (atMe4 <= 3) {
      select0[atMe5] = select(vec4<f32>(-1.7014117e+38), c0_0 * vec4<f32>(0.35355338), vec4<i32>(atMe4, atMe4 + 1, atMe4 + 2, atMe4 + 3) <= vec4<i32>(atMe3));
    }
  }
  if (atMe3 <= 2) {
    if (atMe4 <= 3) {
      select0[atMe5 + 1] = select(vec4<f32>(-1.7014117e+38), c1_0 * vec4<f32>(0.35355338), vec4<i32>(atMe4, atMe4 + 1, atMe4 + 2, atMe4 + 3) <= vec4<i32>(atMe3 + 1));
    }
  }
  if (atMe3 <= 1) {
    if (atMe4 <= 3) {
      select0[atMe5 + 2] = select(vec4<f32>(-1.7014117e+38), c2_0 * vec4<f32>(0.35355338), vec4<i32>(atMe4, atMe4 + 1, atMe4 + 2, atMe4 + 3) <= vec4<i32>(atMe3 + 2));
    }
  }
  if (atMe3 <= 0) {
    if (atMe4 <= 3) {
      select0[atMe5 + 3] = select(vec4<f32>(-1.7014117e+38), c3_0 * vec4<f32>(0.35355338), vec4<i32>(atMe4, atMe4 + 1, atMe4 + 2, atMe4 + 3) <= vec4<i32>(atMe3 + 3));
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
@group(0) @binding(0) var<storage, read> mul: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> dotGeneral: array<vec4<f32>>;

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
  let atBatch = batch * 4;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = atBatch + meDiv4 + meMod4;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), mul[atMe], (meDiv4 <= 3) & (atMe0 <= 3));
  aNext1 = vec4<f32>(0.0);
  let atBatch0 = batch * 8;
  let meDiv8 = lid / 8;
  let meMod8 = lid % 8;
  let atMe1 = atBatch0 + meDiv8 * 2 + meMod8;
  let atMe2 = meMod8 * 4;
  bNext0 = select(vec4<f32>(0.0), v[atMe1], (atMe2 <= 7) & (meDiv8 <= 3));
  bNext1 = vec4<f32>(0.0);
  let meDiv16 = lid / 16;
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe3 = remainder + meMod4 * 32;
  let remainder0 = meDiv4 % 4;
  let remainder1 = (meDiv16 + meMod4 * 2 + 4) % 8;
  let atMe4 = remainder1 + meMod4 * 32;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe3][remainder0] = lanes[0];
    tileA[atMe3 + 8][remainder0] = lanes[1];
    tileA[atMe3 + 16][remainder0] = lanes[2];
    tileA[atMe3 + 24][remainder0] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe4][remainder0] = lanes0[0];
    tileA[atMe4 + 8][remainder0] = lanes0[1];
    tileA[atMe4 + 16][remainder0] = lanes0[2];
    tileA[atMe4 + 24][remainder0] = lanes0[3];
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
  let atMe5 = meDiv8 * 4;
  let atMe6 = atBatch0 + lid;
  if (atMe5 <= 3) {
    if (atMe2 <= 7) {
      dotGeneral[atMe6] = c0_0;
    }
  }
  if (atMe5 <= 2) {
    if (atMe2 <= 7) {
      dotGeneral[atMe6 + 2] = c1_0;
    }
  }
  if (atMe5 <= 1) {
    if (atMe2 <= 7) {
      dotGeneral[atMe6 + 4] = c2_0;
    }
  }
  if (atMe5 <= 0) {
    if (atMe2 <= 7) {
      dotGeneral[atMe6 + 6] = c3_0;
    }
  }
}
