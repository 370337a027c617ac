// conv_maximum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<vec4<f32>>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn maximum4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return select(select(max(a, b), b, isNan4(b)), a, isNan4(a));
}

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.y);
  let lines = i32(workgroup.x);
  var c0: vec4<f32> = vec4<f32>(0.0);
  var c1: vec4<f32> = vec4<f32>(0.0);
  var c2: vec4<f32> = vec4<f32>(0.0);
  let meMod4 = lid % 4;
  let meDiv4 = lid / 4;
  let atMe = meDiv4 * 32 + meMod4 * 4;
  let m0 = vec4<f32>(0.0, select(0.0, x[atMe - 4], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 3], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 2], (lid <= 7) & (0 < meMod4)));
  let weightAt = select(0.0, weight[0], lid <= 7);
  let weightAt0 = select(0.0, weight[18], lid <= 7);
  let weightAt1 = select(0.0, weight[36], lid <= 7);
  let m1 = vec4<f32>(select(0.0, x[atMe - 4], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 3], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 2], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 1], (lid <= 7) & (0 < meMod4)));
  let weightAt2 = select(0.0, weight[1], lid <= 7);
  let weightAt3 = select(0.0, weight[19], lid <= 7);
  let weightAt4 = select(0.0, weight[37], lid <= 7);
  let m2 = vec4<f32>(select(0.0, x[atMe - 3], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 2], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe - 1], (lid <= 7) & (0 < meMod4)), 0.0);
  let weightAt5 = select(0.0, weight[2], lid <= 7);
  let weightAt6 = select(0.0, weight[20], lid <= 7);
  let weightAt7 = select(0.0, weight[38], lid <= 7);
  let m3 = vec4<f32>(0.0, select(0.0, x[atMe], lid <= 7), select(0.0, x[atMe + 1], lid <= 7), select(0.0, x[atMe + 2], lid <= 7));
  let weightAt8 = select(0.0, weight[3], lid <= 7);
  let weightAt9 = select(0.0, weight[21], lid <= 7);
  let weightAt10 = select(0.0, weight[39], lid <= 7);
  let m4 = vec4<f32>(select(0.0, x[atMe], lid <= 7), select(0.0, x[atMe + 1], lid <= 7), select(0.0, x[atMe + 2], lid <= 7), select(0.0, x[atMe + 3], lid <= 7));
  let weightAt11 = select(0.0, weight[4], lid <= 7);
  let weightAt12 = select(0.0, weight[22], lid <= 7);
  let weightAt13 = select(0.0, weight[40], lid <= 7);
  let m5 = vec4<f32>(select(0.0, x[atMe + 1], lid <= 7), select(0.0, x[atMe + 2], lid <= 7), select(0.0, x[atMe + 3], lid <= 7), 0.0);
  let weightAt14 = select(0.0, weight[5], lid <= 7);
  let weightAt15 = select(0.0, weight[23], lid <= 7);
  let weightAt16 = select(0.0, weight[41], lid <= 7);
  let m6 = vec4<f32>(0.0, select(0.0, x[atMe + 4], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 5], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 6], (lid <= 7) & (meMod4 <= 2)));
  let weightAt17 = select(0.0, weight[6], lid <= 7);
  let weightAt18 = select(0.0, weight[24], lid <= 7);
  let weightAt19 = select(0.0, weight[42], lid <= 7);
  let m7 = vec4<f32>(select(0.0, x[atMe + 4], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 5], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 6], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 7], (lid <= 7) & (meMod4 <= 2)));
  let weightAt20 = select(0.0, weight[7], lid <= 7);
  let weightAt21 = select(0.0, weight[25], lid <= 7);
  let weightAt22 = select(0.0, weight[43], lid <= 7);
  let m8 = vec4<f32>(select(0.0, x[atMe + 5], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 6], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 7], (lid <= 7) & (meMod4 <= 2)), 0.0);
  let weightAt23 = select(0.0, weight[8], lid <= 7);
  let weightAt24 = select(0.0, weight[26], lid <= 7);
  let weightAt25 = select(0.0, weight[44], lid <= 7);
  let m9 = vec4<f32>(0.0, select(0.0, x[atMe + 12], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 13], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 14], (lid <= 7) & (0 < meMod4)));
  let weightAt26 = select(0.0, weight[9], lid <= 7);
  let weightAt27 = select(0.0, weight[27], lid <= 7);
  let weightAt28 = select(0.0, weight[45], lid <= 7);
  let m10 = vec4<f32>(select(0.0, x[atMe + 12], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 13], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 14], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 15], (lid <= 7) & (0 < meMod4)));
  let weightAt29 = select(0.0, weight[10], lid <= 7);
  let weightAt30 = select(0.0, weight[28], lid <= 7);
  let weightAt31 = select(0.0, weight[46], lid <= 7);
  let m11 = vec4<f32>(select(0.0, x[atMe + 13], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 14], (lid <= 7) & (0 < meMod4)), select(0.0, x[atMe + 15], (lid <= 7) & (0 < meMod4)), 0.0);
  let weightAt32 = select(0.0, weight[11], lid <= 7);
  let weightAt33 = select(0.0, weight[29], lid <= 7);
  let weightAt34 = select(0.0, weight[47], lid <= 7);
  let m12 = vec4<f32>(0.0, select(0.0, x[atMe + 16], lid <= 7), select(0.0, x[atMe + 17], lid <= 7), select(0.0, x[atMe + 18], lid <= 7));
  let weightAt35 = select(0.0, weight[12], lid <= 7);
  let weightAt36 = select(0.0, weight[30], lid <= 7);
  let weightAt37 = select(0.0, weight[48], lid <= 7);
  let m13 = vec4<f32>(select(0.0, x[atMe + 16], lid <= 7), select(0.0, x[atMe + 17], lid <= 7), select(0.0, x[atMe + 18], lid <= 7), select(0.0, x[atMe + 19], lid <= 7));
  let weightAt38 = select(0.0, weight[13], lid <= 7);
  let weightAt39 = select(0.0, weight[31], lid <= 7);
  let weightAt40 = select(0.0, weight[49], lid <= 7);
  let m14 = vec4<f32>(select(0.0, x[atMe + 17], lid <= 7), select(0.0, x[atMe + 18], lid <= 7), select(0.0, x[atMe + 19], lid <= 7), 0.0);
  let weightAt41 = select(0.0, weight[14], lid <= 7);
  let weightAt42 = select(0.0, weight[32], lid <= 7);
  let weightAt43 = select(0.0, weight[50], lid <= 7);
  let m15 = vec4<f32>(0.0, select(0.0, x[atMe + 20], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 21], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 22], (lid <= 7) & (meMod4 <= 2)));
  let weightAt44 = select(0.0, weight[15], lid <= 7);
  let weightAt45 = select(0.0, weight[33], lid <= 7);
  let weightAt46 = select(0.0, weight[51], lid <= 7);
  let m16 = vec4<f32>(select(0.0, x[atMe + 20], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 21], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 22], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 23], (lid <= 7) & (meMod4 <= 2)));
  let weightAt47 = select(0.0, weight[16], lid <= 7);
  let weightAt48 = select(0.0, weight[34], lid <= 7);
  let weightAt49 = select(0.0, weight[52], lid <= 7);
  let m17 = vec4<f32>(select(0.0, x[atMe + 21], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 22], (lid <= 7) & (meMod4 <= 2)), select(0.0, x[atMe + 23], (lid <= 7) & (meMod4 <= 2)), 0.0);
  let weightAt50 = select(0.0, weight[17], lid <= 7);
  let weightAt51 = select(0.0, weight[35], lid <= 7);
  let weightAt52 = select(0.0, weight[53], lid <= 7);
  for (var step = 0; step < 1; step++) {
    c0 = fma(vec4<f32>(weightAt), m0, c0);
    c1 = fma(vec4<f32>(weightAt0), m0, c1);
    c2 = fma(vec4<f32>(weightAt1), m0, c2);
    c0 = fma(vec4<f32>(weightAt2), m1, c0);
    c1 = fma(vec4<f32>(weightAt3), m1, c1);
    c2 = fma(vec4<f32>(weightAt4), m1, c2);
    c0 = fma(vec4<f32>(weightAt5), m2, c0);
    c1 = fma(vec4<f32>(weightAt6), m2, c1);
    c2 = fma(vec4<f32>(weightAt7), m2, c2);
    c0 = fma(vec4<f32>(weightAt8), m3, c0);
    c1 = fma(vec4<f32>(weightAt9), m3, c1);
    c2 = fma(vec4<f32>(weightAt10), m3, c2);
    c0 = fma(vec4<f32>(weightAt11), m4, c0);
    c1 = fma(vec4<f32>(weightAt12), m4, c1);
    c2 = fma(vec4<f32>(weightAt13), m4, c2);
    c0 = fma(vec4<f32>(weightAt14), m5, c0);
    c1 = fma(vec4<f32>(weightAt15), m5, c1);
    c2 = fma(vec4<f32>(weightAt16), m5, c2);
    c0 = fma(vec4<f32>(weightAt17), m6, c0);
    c1 = fma(vec4<f32>(weightAt18), m6, c1);
    c2 = fma(vec4<f32>(weightAt19), m6, c2);
    c0 = fma(vec4<f32>(weightAt20), m7, c0);
    c1 = fma(vec4<f32>(weightAt21), m7, c1);
    c2 = fma(vec4<f32>(weightAt22), m7, c2);
    c0 = fma(vec4<f32>(weightAt23), m8, c0);
    c1 = fma(vec4<f32>(weightAt24), m8, c1);
    c2 = fma(vec4<f32>(weightAt25), m8, c2);
    c0 = fma(vec4<f32>(weightAt26), m9, c0);
    c1 = fma(vec4<f32>(weightAt27), m9, c1);
    c2 = fma(vec4<f32>(weightAt28), m9, c2);
    c0 = fma(vec4<f32>(weightAt29), m10, c0);
    c1 = fma(vec4<f32>(weightAt30), m10, c1);
    c2 = fma(vec4<f32>(weightAt31), m10, c2);
    c0 = fma(vec4<f32>(weightAt32), m11, c0);
    c1 = fma(vec4<f32>(weightAt33), m11, c1);
    c2 = fma(vec4<f32>(weightAt34), m11, c2);
    c0 = fma(vec4<f32>(weightAt35), m12, c0);
    c1 = fma(vec4<f32>(weightAt36), m12, c1);
    c2 = fma(vec4<f32>(weightAt37), m12, c2);
    c0 = fma(vec4<f32>(weightAt38), m13, c0);
    c1 = fma(vec4<f32>(weightAt39), m13, c1);
    c2 = fma(vec4<f32>(weightAt40), m13, c2);
    c0 = fma(vec4<f32>(weightAt41), m14, c0);
    c1 = fma(vec4<f32>(weightAt42), m14, c1);
    c2 = fma(vec4<f32>(weightAt43), m14, c2);
    c0 = fma(vec4<f32>(weightAt44), m15, c0);
    c1 = fma(vec4<f32>(weightAt45), m15, c1);
    c2 = fma(vec4<f32>(weightAt46), m15, c2);
    c0 = fma(vec4<f32>(weightAt47), m16, c0);
    c1 = fma(vec4<f32>(weightAt48), m16, c1);
    c2 = fma(vec4<f32>(weightAt49), m16, c2);
    c0 = fma(vec4<f32>(weightAt50), m17, c0);
    c1 = fma(vec4<f32>(weightAt51), m17, c1);
    c2 = fma(vec4<f32>(weightAt52), m17, c2);
  }
  let atMe0 = meDiv4 * 12 + meMod4;
  if (lid <= 7) {
    maximum0[atMe0] = maximum4(c0 + vec4<f32>(bias[0]), vec4<f32>(0.0));
  }
  if (lid <= 7) {
    maximum0[atMe0 + 4] = maximum4(c1 + vec4<f32>(bias[1]), vec4<f32>(0.0));
  }
  if (lid <= 7) {
    maximum0[atMe0 + 8] = maximum4(c2 + vec4<f32>(bias[2]), vec4<f32>(0.0));
  }
}

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
  let most = max(meMod16 - 14, 0);
  let t = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext0 = t;
  let t0 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext1 = t0;
  let t1 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext2 = t1;
  let t2 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext3 = t2;
  let t3 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext4 = t3;
  let t4 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext5 = t4;
  let t5 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext6 = t5;
  let t6 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  aNext7 = t6;
  let t7 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext0 = t7;
  let t8 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext1 = t8;
  let t9 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext2 = t9;
  let t10 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext3 = t10;
  let t11 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext4 = t11;
  let t12 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext5 = t12;
  let t13 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
  bNext6 = t13;
  let t14 = select(0, i32(select(0, classes[most], 14 <= meMod16) != -100), 14 <= meMod16);
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

// reduceMax_equal on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> maximum0: array<f32>;
@group(0) @binding(1) var<storage, read_write> equal: array<u32>;
@group(0) @binding(2) var<storage, read_write> reduceMax: array<f32>;

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

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let localDiv2 = lid / 2;
  let localMod2 = lid % 2;
  let atLocal = localDiv2 * 8 + localMod2 * 2;
  let atLocal0 = lid * 4;
  if (lid <= 23) {
    var max0: f32 = -infinity();
    var argMax1: i32 = 0;
    var argMax1Best: f32 = -infinity();
    let maximumAt = maximum0[atLocal];
    max0 = maximum(max0, maximumAt);
    let value = maximumAt;
    if ((argMax1Best < value || isNan(value)) && !isNan(argMax1Best)) {
      argMax1Best = value;
      argMax1 = 0;
    }
    let maximumAt0 = maximum0[atLocal + 1];
    max0 = maximum(max0, maximumAt0);
    let value0 = maximumAt0;
    if ((argMax1Best < value0 || isNan(value0)) && !isNan(argMax1Best)) {
      argMax1Best = value0;
      argMax1 = 1;
    }
    let maximumAt1 = maximum0[atLocal + 4];
    max0 = maximum(max0, maximumAt1);
    let value1 = maximumAt1;
    if ((argMax1Best < value1 || isNan(value1)) && !isNan(argMax1Best)) {
      argMax1Best = value1;
      argMax1 = 2;
    }
    let maximumAt2 = maximum0[atLocal + 5];
    max0 = maximum(max0, maximumAt2);
    let value2 = maximumAt2;
    if ((argMax1Best < value2 || isNan(value2)) && !isNan(argMax1Best)) {
      argMax1Best = value2;
      argMax1 = 3;
    }
    equal[atLocal0] = select(0u, 1u, 0 == argMax1);
    equal[atLocal0 + 1] = select(0u, 1u, 1 == argMax1);
    equal[atLocal0 + 2] = select(0u, 1u, 2 == argMax1);
    equal[atLocal0 + 3] = select(0u, 1u, 3 == argMax1);
    reduceMax[lid] = max0;
  }
}

// matmul_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> reduceMax: array<vec4<f32>>;
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
  let most = max(meMod4 - 1, 0);
  let atMe = meDiv4 * 3 + most;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), reduceMax[atMe], 4 <= atMe0);
  aNext1 = select(vec4<f32>(0.0), reduceMax[atMe + 48], 4 <= atMe0);
  bNext0 = select(vec4<f32>(0.0), weight[atMe], 4 <= atMe0);
  bNext1 = select(vec4<f32>(0.0), weight[atMe + 48], 4 <= atMe0);
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
  if (atMe3 <= 1) {
    if (atMe4 <= 3) {
      add[atMe5] = c0_0 + bias[meMod8];
    }
  }
  if (atMe3 <= 0) {
    if (atMe4 <= 3) {
      add[atMe5 + 1] = c1_0 + bias[meMod8];
    }
  }
  if (false) {
    if (atMe4 <= 3) {
      add[atMe5 + 2] = c2_0 + bias[meMod8];
    }
  }
  if (false) {
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
  for (var row = lid; row < 2; row += 256) {
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

// matmul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
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
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), add[meDiv4], 12 <= atMe);
  aNext1 = select(vec4<f32>(0.0), add[meDiv4 + 16], 12 <= atMe);
  bNext0 = vec4<f32>(0.0);
  let meDiv8 = lid / 8;
  let most = max(meDiv8 - 4, 0);
  let meMod8 = lid % 8;
  let atMe0 = most * 3 + meMod8;
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
  let atMe5 = meDiv8 * 12 + meMod8;
  if (atMe3 <= 1) {
    if (atMe4 <= 11) {
      dotGeneral[atMe5] = c0_0;
    }
  }
  if (atMe3 <= 0) {
    if (atMe4 <= 11) {
      dotGeneral[atMe5 + 3] = c1_0;
    }
  }
  if (false) {
    if (atMe4 <= 11) {
      dotGeneral[atMe5 + 6] = c2_0;
    }
  }
  if (false) {
    if (atMe4 <= 11) {
      dotGeneral[atMe5 + 9] = c3_0;
    }
  }
}

// fold_select on a grid of 2 × 1 × 1
@group(0) @binding(0) var<storage, read> equal: array<u32>;
@group(0) @binding(1) var<storage, read> dotGeneral: array<f32>;
@group(0) @binding(2) var<storage, read> maximum0: array<f32>;
@group(0) @binding(3) var<storage, read_write> select0: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atChunk = chunk * 64;
  let atChunk0 = chunk * 4;
  let localDiv16 = lid / 16;
  let i1 = atChunk0 + localDiv16;
  let localDiv4 = lid / 4;
  let remainder = localDiv4 % 4;
  let localMod4 = lid % 4;
  let remainder0 = localDiv4 % 2;
  let localMod2 = lid % 2;
  let quotient = remainder / 2;
  let quotient0 = localMod4 / 2;
  let atLocal = i1 * 16 + quotient * 8 + quotient0 * 4;
  let atLocal0 = i1 * 4 + quotient * 2 + quotient0;
  let remainder1 = (localMod4 + 1) % 2;
  let quotient1 = (localMod4 + 1) / 2;
  let atLocal1 = i1 * 16 + quotient * 8 + quotient1 * 4;
  let atLocal2 = i1 * 4 + quotient * 2 + quotient1;
  let remainder2 = (remainder + 1) % 2;
  let quotient2 = (remainder + 1) / 2;
  let atLocal3 = i1 * 16 + quotient2 * 8 + quotient0 * 4;
  let atLocal4 = i1 * 4 + quotient2 * 2 + quotient0;
  let atLocal5 = i1 * 16 + quotient2 * 8 + quotient1 * 4;
  let atLocal6 = i1 * 4 + quotient2 * 2 + quotient1;
  let atLocal7 = i1 * 16 + remainder * 4 + localMod4;
  if (atChunk + lid <= 95) {
    var sum0: f32 = 0.0;
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atLocal0], (remainder <= 2) & (remainder0 == 0) & (localMod4 <= 2) & (localMod2 == 0)), select(false, equal[atLocal] != 0u, (remainder <= 2) & (remainder0 == 0) & (localMod4 <= 2) & (localMod2 == 0))), (remainder <= 2) & (remainder0 == 0) & (localMod4 <= 2) & (localMod2 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atLocal2 - 1], (remainder <= 2) & (remainder0 == 0) & (0 < localMod4) & (remainder1 == 0)), select(false, equal[atLocal1 - 3] != 0u, (remainder <= 2) & (remainder0 == 0) & (0 < localMod4) & (remainder1 == 0))), (remainder <= 2) & (remainder0 == 0) & (0 < localMod4) & (remainder1 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atLocal4 - 2], (0 < remainder) & (remainder2 == 0) & (localMod4 <= 2) & (localMod2 == 0)), select(false, equal[atLocal3 - 6] != 0u, (0 < remainder) & (remainder2 == 0) & (localMod4 <= 2) & (localMod2 == 0))), (0 < remainder) & (remainder2 == 0) & (localMod4 <= 2) & (localMod2 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atLocal6 - 3], (0 < remainder) & (remainder2 == 0) & (0 < localMod4) & (remainder1 == 0)), select(false, equal[atLocal5 - 9] != 0u, (0 < remainder) & (remainder2 == 0) & (0 < localMod4) & (remainder1 == 0))), (0 < remainder) & (remainder2 == 0) & (0 < localMod4) & (remainder1 == 0));
    select0[atLocal7] = select(0.0, sum0, 0.0 < maximum0[atLocal7]);
  }
}

// conv_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 144>;

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
  aNext0 = select0[lid];
  aNext1 = select0[lid + 64];
  let meDiv48 = lid / 48;
  let meMod16 = lid % 16;
  let quotient = meMod16 / 4;
  let meDiv16 = lid / 16;
  let remainder = meDiv16 % 3;
  let meMod4 = lid % 4;
  let xAt = select(0.0, x[meDiv48 * 4 + remainder + meMod16 - 5], (0 < meDiv48 + quotient) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  bNext0 = xAt;
  let quotient0 = (meDiv16 + 1) / 3;
  let remainder0 = (meDiv16 + 1) % 3;
  let xAt0 = select(0.0, x[quotient0 * 4 + remainder0 + meMod16 - 1], (quotient0 + quotient <= 3) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  bNext1 = xAt0;
  let quotient1 = (meDiv16 + 2) / 3;
  let remainder1 = (quotient1 + 2) % 3;
  let remainder2 = (meDiv16 + 2) % 3;
  let quotient2 = (meDiv16 + 8) / 9;
  let xAt1 = select(0.0, x[quotient2 * 16 + remainder1 * 4 + remainder2 + meMod16 - 5], (0 < quotient + remainder1) & (quotient + remainder1 <= 4) & (0 < remainder2 + meMod4) & (remainder2 + meMod4 <= 4));
  bNext2 = xAt1;
  let xAt2 = select(0.0, x[meDiv48 * 4 + remainder + meMod16 + 15], (meDiv48 + quotient <= 3) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  bNext3 = xAt2;
  let remainder3 = (quotient0 + 2) % 3;
  let quotient3 = (meDiv16 + 7) / 9;
  let xAt3 = select(0.0, x[quotient3 * 16 + remainder3 * 4 + remainder0 + meMod16 + 11], (0 < quotient + remainder3) & (quotient + remainder3 <= 4) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  bNext4 = xAt3;
  let xAt4 = select(0.0, x[quotient1 * 4 + remainder2 + meMod16 + 27], (0 < quotient1 + quotient) & (0 < remainder2 + meMod4) & (remainder2 + meMod4 <= 4));
  bNext5 = xAt4;
  let remainder4 = (meDiv48 + 2) % 3;
  let quotient4 = (meDiv16 + 6) / 9;
  let xAt5 = select(0.0, x[quotient4 * 16 + remainder + remainder4 * 4 + meMod16 + 27], (0 < quotient + remainder4) & (quotient + remainder4 <= 4) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  bNext6 = xAt5;
  let xAt6 = select(0.0, x[quotient0 * 4 + remainder0 + meMod16 + 43], (0 < quotient0 + quotient) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  bNext7 = xAt6;
  let remainder5 = (meDiv16 + meMod4 * 2) % 8;
  let atMe = remainder5 + meMod4 * 32;
  let meDiv4 = lid / 4;
  let remainder6 = meDiv4 % 4;
  let remainder7 = (meDiv16 + meMod4 * 2 + 4) % 8;
  let atMe0 = remainder7 + meMod4 * 32;
  let atMe1 = meMod16 * 9;
  let selectAt = select0[lid + 12];
  let selectAt0 = select0[lid + 76];
  let xAt7 = select(0.0, x[meDiv48 * 4 + remainder + meMod16 + 27], (0 < meDiv48 + quotient) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  let xAt8 = select(0.0, x[quotient0 * 4 + remainder0 + meMod16 + 31], (quotient0 + quotient <= 3) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  let xAt9 = select(0.0, x[quotient2 * 16 + remainder1 * 4 + remainder2 + meMod16 + 27], (0 < quotient + remainder1) & (quotient + remainder1 <= 4) & (0 < remainder2 + meMod4) & (remainder2 + meMod4 <= 4));
  let xAt10 = select(0.0, x[meDiv48 * 4 + remainder + meMod16 + 47], (meDiv48 + quotient <= 3) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  let xAt11 = select(0.0, x[quotient3 * 16 + remainder3 * 4 + remainder0 + meMod16 + 43], (0 < quotient + remainder3) & (quotient + remainder3 <= 4) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  let xAt12 = select(0.0, x[quotient1 * 4 + remainder2 + meMod16 + 59], (0 < quotient1 + quotient) & (0 < remainder2 + meMod4) & (remainder2 + meMod4 <= 4));
  let xAt13 = select(0.0, x[quotient4 * 16 + remainder + remainder4 * 4 + meMod16 + 59], (0 < quotient + remainder4) & (quotient + remainder4 <= 4) & (0 < remainder + meMod4) & (remainder + meMod4 <= 4));
  let xAt14 = select(0.0, x[quotient0 * 4 + remainder0 + meMod16 + 75], (0 < quotient0 + quotient) & (0 < remainder0 + meMod4) & (remainder0 + meMod4 <= 4));
  let meMod8 = lid % 8;
  let meDiv8 = lid / 8;
  for (var step = 0; step < 2; step++) {
    let lanes = aNext0;
    tileA[atMe][remainder6] = lanes[0];
    tileA[atMe + 8][remainder6] = lanes[1];
    tileA[atMe + 16][remainder6] = lanes[2];
    tileA[atMe + 24][remainder6] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe0][remainder6] = lanes0[0];
    tileA[atMe0 + 8][remainder6] = lanes0[1];
    tileA[atMe0 + 16][remainder6] = lanes0[2];
    tileA[atMe0 + 24][remainder6] = lanes0[3];
    tileB[atMe1][meDiv16] = bNext0;
    tileB[atMe1 + 1][meDiv16] = bNext1;
    tileB[atMe1 + 2][meDiv16] = bNext2;
    tileB[atMe1 + 3][meDiv16] = bNext3;
    tileB[atMe1 + 4][meDiv16] = bNext4;
    tileB[atMe1 + 5][meDiv16] = bNext5;
    tileB[atMe1 + 6][meDiv16] = bNext6;
    tileB[atMe1 + 7][meDiv16] = bNext7;
    workgroupBarrier();
    storageBarrier();
    aNext0 = selectAt;
    aNext1 = selectAt0;
    bNext0 = xAt7;
    bNext1 = xAt8;
    bNext2 = xAt9;
    bNext3 = xAt10;
    bNext4 = xAt11;
    bNext5 = xAt12;
    bNext6 = xAt13;
    bNext7 = xAt14;
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod8 + kk * 36];
      let remainder8 = (meDiv8 + kk * 2) % 8;
      let tileAAt = tileA[kk * 32 + remainder8];
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
      let b1_0 = tileB[meMod8 + kk * 36 + 9];
      let tileAAt0 = tileA[kk * 32 + remainder8 + 8];
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
      let b2_0 = tileB[meMod8 + kk * 36 + 18];
      let tileAAt1 = tileA[kk * 32 + remainder8 + 16];
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
      let b3_0 = tileB[meMod8 + kk * 36 + 27];
      let tileAAt2 = tileA[kk * 32 + remainder8 + 24];
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
  let atMe2 = meDiv8 * 4;
  let atMe3 = meMod8 * 4;
  for (var r = 0; r < 4; r++) {
    let f = atMe2 + r;
    let atMe4 = atMe3 + f * 18;
    if (atMe2 + r <= 2) {
      for (var q = 0; q < 1; q++) {
        for (var s = 0; s < 4; s++) {
          let quotient5 = (atMe3 + s) / 9;
          let quotient6 = (atMe3 + s) / 3;
          let remainder9 = quotient6 % 3;
          let remainder10 = (atMe3 + s) % 3;
          let atS = atMe4 + s;
          if (atMe3 + s <= 17) {
            weight[atS] = weight[atS] - sums[r][s] * 0.1;
          }
        }
      }
    }
  }
  let f0 = meDiv8 * 4;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 2)) {
    let sidea0_0Sum = sidea0_0;
    bias[f0] = bias[f0] - sidea0_0Sum * 0.1;
  }
  let f1 = meDiv8 * 4 + 1;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 1)) {
    let sidea0_1Sum = sidea0_1;
    bias[f1] = bias[f1] - sidea0_1Sum * 0.1;
  }
  let f2 = meDiv8 * 4 + 2;
  if ((meMod8 <= 0) & (meDiv8 * 4 <= 0)) {
    let sidea0_2Sum = sidea0_2;
    bias[f2] = bias[f2] - sidea0_2Sum * 0.1;
  }
  let f3 = meDiv8 * 4 + 3;
  if (false) {
    let sidea0_3Sum = sidea0_3;
    bias[f3] = bias[f3] - sidea0_3Sum * 0.1;
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> reduceMax: array<vec4<f32>>;
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
  let most = max(meDiv8 - 6, 0);
  let meMod8 = lid % 8;
  let atMe = most + meMod8;
  aNext1 = select(vec4<f32>(0.0), add[atMe], 6 <= meDiv8);
  bNext0 = vec4<f32>(0.0);
  let atMe0 = most * 3 + meMod8;
  bNext1 = select(vec4<f32>(0.0), reduceMax[atMe0], 6 <= meDiv8);
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
  let atMe3 = meDiv8 * 12 + meMod8;
  if (atMe1 <= 3) {
    if (atMe2 <= 11) {
      weight[atMe3] = weight[atMe3] - c0_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 2) {
    if (atMe2 <= 11) {
      weight[atMe3 + 3] = weight[atMe3 + 3] - c1_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 1) {
    if (atMe2 <= 11) {
      weight[atMe3 + 6] = weight[atMe3 + 6] - c2_0 * vec4<f32>(0.1);
    }
  }
  if (atMe1 <= 0) {
    if (atMe2 <= 11) {
      weight[atMe3 + 9] = weight[atMe3 + 9] - c3_0 * vec4<f32>(0.1);
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
