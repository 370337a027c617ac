// conv_maximum on a grid of 2 × 1 × 1
@group(0) @binding(0) var<storage, read> weight: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn maximum4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return select(select(max(a, b), b, isNan4(b)), a, isNan4(a));
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
  var bNext0: f32 = 0.0;
  var bNext1: f32 = 0.0;
  var bNext2: f32 = 0.0;
  var bNext3: f32 = 0.0;
  var bNext4: f32 = 0.0;
  var bNext5: f32 = 0.0;
  var bNext6: f32 = 0.0;
  var bNext7: f32 = 0.0;
  var bNext8: f32 = 0.0;
  var bNext9: f32 = 0.0;
  var bNext10: f32 = 0.0;
  var bNext11: f32 = 0.0;
  var bNext12: f32 = 0.0;
  var bNext13: f32 = 0.0;
  var bNext14: f32 = 0.0;
  var bNext15: f32 = 0.0;
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let weightAt = weight[lid];
  aNext0 = weightAt;
  let weightAt0 = weight[lid + 18];
  aNext1 = weightAt0;
  let weightAt1 = weight[lid + 36];
  aNext2 = weightAt1;
  aNext3 = 0.0;
  aNext4 = 0.0;
  aNext5 = 0.0;
  aNext6 = 0.0;
  aNext7 = 0.0;
  aNext8 = 0.0;
  aNext9 = 0.0;
  aNext10 = 0.0;
  aNext11 = 0.0;
  aNext12 = 0.0;
  aNext13 = 0.0;
  aNext14 = 0.0;
  aNext15 = 0.0;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let xAt = select(0.0, x[lid + tileColumn * 32 - 5], (0 < meDiv4) & (0 < meMod4));
  bNext0 = xAt;
  let xAt0 = select(0.0, x[lid + tileColumn * 32 - 4], 0 < meDiv4);
  bNext1 = xAt0;
  let xAt1 = select(0.0, x[lid + tileColumn * 32 - 3], (0 < meDiv4) & (meMod4 <= 2));
  bNext2 = xAt1;
  let xAt2 = select(0.0, x[lid + tileColumn * 32 - 1], 0 < meMod4);
  bNext3 = xAt2;
  let xAt3 = x[lid + tileColumn * 32];
  bNext4 = xAt3;
  let xAt4 = select(0.0, x[lid + tileColumn * 32 + 1], meMod4 <= 2);
  bNext5 = xAt4;
  let xAt5 = select(0.0, x[lid + tileColumn * 32 + 3], (meDiv4 <= 2) & (0 < meMod4));
  bNext6 = xAt5;
  let xAt6 = select(0.0, x[lid + tileColumn * 32 + 4], meDiv4 <= 2);
  bNext7 = xAt6;
  let xAt7 = select(0.0, x[lid + tileColumn * 32 + 5], (meDiv4 <= 2) & (meMod4 <= 2));
  bNext8 = xAt7;
  let xAt8 = select(0.0, x[lid + tileColumn * 32 + 11], (0 < meDiv4) & (0 < meMod4));
  bNext9 = xAt8;
  let xAt9 = select(0.0, x[lid + tileColumn * 32 + 12], 0 < meDiv4);
  bNext10 = xAt9;
  let xAt10 = select(0.0, x[lid + tileColumn * 32 + 13], (0 < meDiv4) & (meMod4 <= 2));
  bNext11 = xAt10;
  let xAt11 = select(0.0, x[lid + tileColumn * 32 + 15], 0 < meMod4);
  bNext12 = xAt11;
  let xAt12 = x[lid + tileColumn * 32 + 16];
  bNext13 = xAt12;
  let xAt13 = select(0.0, x[lid + tileColumn * 32 + 17], meMod4 <= 2);
  bNext14 = xAt13;
  let xAt14 = select(0.0, x[lid + tileColumn * 32 + 19], (meDiv4 <= 2) & (0 < meMod4));
  bNext15 = xAt14;
  let remainder = meDiv4 % 2;
  let atMe = lid * 4 + remainder * 2;
  let remainder0 = (meDiv4 + 1) % 2;
  let atMe0 = lid * 4 + remainder0 * 2;
  let atTileColumn = lid + tileColumn * 32;
  for (var step = 0; step < 2; step++) {
    tileA[atMe][0] = aNext0;
    tileA[atMe][1] = aNext1;
    tileA[atMe][2] = aNext2;
    tileA[atMe][3] = aNext3;
    tileA[atMe + 1][0] = aNext4;
    tileA[atMe + 1][1] = aNext5;
    tileA[atMe + 1][2] = aNext6;
    tileA[atMe + 1][3] = aNext7;
    tileA[atMe0][0] = aNext8;
    tileA[atMe0][1] = aNext9;
    tileA[atMe0][2] = aNext10;
    tileA[atMe0][3] = aNext11;
    tileA[atMe0 + 1][0] = aNext12;
    tileA[atMe0 + 1][1] = aNext13;
    tileA[atMe0 + 1][2] = aNext14;
    tileA[atMe0 + 1][3] = aNext15;
    tileB[meDiv4][meMod4] = bNext0;
    tileB[meDiv4 + 4][meMod4] = bNext1;
    tileB[meDiv4 + 8][meMod4] = bNext2;
    tileB[meDiv4 + 12][meMod4] = bNext3;
    tileB[meDiv4 + 16][meMod4] = bNext4;
    tileB[meDiv4 + 20][meMod4] = bNext5;
    tileB[meDiv4 + 24][meMod4] = bNext6;
    tileB[meDiv4 + 28][meMod4] = bNext7;
    tileB[meDiv4 + 32][meMod4] = bNext8;
    tileB[meDiv4 + 36][meMod4] = bNext9;
    tileB[meDiv4 + 40][meMod4] = bNext10;
    tileB[meDiv4 + 44][meMod4] = bNext11;
    tileB[meDiv4 + 48][meMod4] = bNext12;
    tileB[meDiv4 + 52][meMod4] = bNext13;
    tileB[meDiv4 + 56][meMod4] = bNext14;
    tileB[meDiv4 + 60][meMod4] = bNext15;
    workgroupBarrier();
    aNext0 = select(0.0, weight[lid + 16], lid <= 1);
    aNext1 = select(0.0, weight[lid + 34], lid <= 1);
    aNext2 = select(0.0, weight[lid + 52], lid <= 1);
    aNext3 = 0.0;
    aNext4 = 0.0;
    aNext5 = 0.0;
    aNext6 = 0.0;
    aNext7 = 0.0;
    aNext8 = 0.0;
    aNext9 = 0.0;
    aNext10 = 0.0;
    aNext11 = 0.0;
    aNext12 = 0.0;
    aNext13 = 0.0;
    aNext14 = 0.0;
    aNext15 = 0.0;
    bNext0 = select(0.0, x[atTileColumn + 20], meDiv4 <= 2);
    bNext1 = select(0.0, x[atTileColumn + 21], (meDiv4 <= 2) & (meMod4 <= 2));
    bNext2 = 0.0;
    bNext3 = 0.0;
    bNext4 = 0.0;
    bNext5 = 0.0;
    bNext6 = 0.0;
    bNext7 = 0.0;
    bNext8 = 0.0;
    bNext9 = 0.0;
    bNext10 = 0.0;
    bNext11 = 0.0;
    bNext12 = 0.0;
    bNext13 = 0.0;
    bNext14 = 0.0;
    bNext15 = 0.0;
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
  let atMe1 = meDiv4 * 4;
  let atTileColumn0 = meDiv4 * 16 + meMod4 + tileColumn * 12;
  if (atMe1 <= 2) {
    maximum0[atTileColumn0] = maximum4(sums[0] + vec4<f32>(bias[atMe1]), vec4<f32>(0.0));
  }
  if (atMe1 <= 1) {
    maximum0[atTileColumn0 + 4] = maximum4(sums[1] + vec4<f32>(bias[atMe1 + 1]), vec4<f32>(0.0));
  }
  if (atMe1 <= 0) {
    maximum0[atTileColumn0 + 8] = maximum4(sums[2] + vec4<f32>(bias[atMe1 + 2]), vec4<f32>(0.0));
  }
  if (false) {
    maximum0[atTileColumn0 + 12] = maximum4(sums[3] + vec4<f32>(bias[atMe1 + 3]), vec4<f32>(0.0));
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
  let localDiv12 = lid / 12;
  let localDiv2 = lid / 2;
  let remainder = localDiv2 % 6;
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

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<f32>, 4>;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var aNext2: vec4<f32> = vec4<f32>(0.0);
  var aNext3: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext2: vec4<f32> = vec4<f32>(0.0);
  var bNext3: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meDiv4 * 3 + meMod4;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), reduceMax[atMe], (meDiv4 <= 1) & (atMe0 <= 11));
  aNext1 = vec4<f32>(0.0);
  aNext2 = vec4<f32>(0.0);
  aNext3 = vec4<f32>(0.0);
  bNext0 = select(vec4<f32>(0.0), weight[atMe], atMe0 <= 11);
  bNext1 = vec4<f32>(0.0);
  bNext2 = vec4<f32>(0.0);
  bNext3 = vec4<f32>(0.0);
  let meMod2 = lid % 2;
  let atMe1 = meMod2 * 2 + meMod4 * 16;
  let remainder = (meMod4 + 1) % 2;
  let atMe2 = meMod4 * 16 + remainder * 2;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe1][meDiv4] = lanes[0];
    tileA[atMe1 + 4][meDiv4] = lanes[1];
    tileA[atMe1 + 8][meDiv4] = lanes[2];
    tileA[atMe1 + 12][meDiv4] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe1 + 1][meDiv4] = lanes0[0];
    tileA[atMe1 + 5][meDiv4] = lanes0[1];
    tileA[atMe1 + 9][meDiv4] = lanes0[2];
    tileA[atMe1 + 13][meDiv4] = lanes0[3];
    let lanes1 = aNext2;
    tileA[atMe2][meDiv4] = lanes1[0];
    tileA[atMe2 + 4][meDiv4] = lanes1[1];
    tileA[atMe2 + 8][meDiv4] = lanes1[2];
    tileA[atMe2 + 12][meDiv4] = lanes1[3];
    let lanes2 = aNext3;
    tileA[atMe2 + 1][meDiv4] = lanes2[0];
    tileA[atMe2 + 5][meDiv4] = lanes2[1];
    tileA[atMe2 + 9][meDiv4] = lanes2[2];
    tileA[atMe2 + 13][meDiv4] = lanes2[3];
    let lanes3 = bNext0;
    tileB[atMe1][meDiv4] = lanes3[0];
    tileB[atMe1 + 4][meDiv4] = lanes3[1];
    tileB[atMe1 + 8][meDiv4] = lanes3[2];
    tileB[atMe1 + 12][meDiv4] = lanes3[3];
    let lanes4 = bNext1;
    tileB[atMe1 + 1][meDiv4] = lanes4[0];
    tileB[atMe1 + 5][meDiv4] = lanes4[1];
    tileB[atMe1 + 9][meDiv4] = lanes4[2];
    tileB[atMe1 + 13][meDiv4] = lanes4[3];
    let lanes5 = bNext2;
    tileB[atMe2][meDiv4] = lanes5[0];
    tileB[atMe2 + 4][meDiv4] = lanes5[1];
    tileB[atMe2 + 8][meDiv4] = lanes5[2];
    tileB[atMe2 + 12][meDiv4] = lanes5[3];
    let lanes6 = bNext3;
    tileB[atMe2 + 1][meDiv4] = lanes6[0];
    tileB[atMe2 + 5][meDiv4] = lanes6[1];
    tileB[atMe2 + 9][meDiv4] = lanes6[2];
    tileB[atMe2 + 13][meDiv4] = lanes6[3];
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let remainder0 = (meMod4 + kk * 2) % 4;
      let b0_0 = tileB[kk * 16 + remainder0];
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
      let b1_0 = tileB[kk * 16 + remainder0 + 4];
      let tileAAt0 = tileA[kk * 16 + remainder1 + 4];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[kk * 16 + remainder0 + 8];
      let tileAAt1 = tileA[kk * 16 + remainder1 + 8];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[kk * 16 + remainder0 + 12];
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
  let atMe3 = meDiv4 * 4;
  if (atMe3 <= 1) {
    if (atMe0 <= 3) {
      add[lid] = sums[0] + bias[meMod4];
    }
  }
  if (atMe3 <= 0) {
    if (atMe0 <= 3) {
      add[lid + 1] = sums[1] + bias[meMod4];
    }
  }
  if (false) {
    if (atMe0 <= 3) {
      add[lid + 2] = sums[2] + bias[meMod4];
    }
  }
  if (false) {
    if (atMe0 <= 3) {
      add[lid + 3] = sums[3] + bias[meMod4];
    }
  }
}

// reduceMax_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> classes: array<i32>;
@group(0) @binding(2) var<storage, read_write> add2: array<f32>;
@group(0) @binding(3) var<storage, read_write> mul: array<f32>;

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

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  var sum3: f32 = 0.0;
  for (var row = lid; row < 2; row += 256) {
    var max0: f32 = -infinity();
    var sum4: f32 = 0.0;
    let atRow = row * 4;
    max0 = maximum(max0, add[atRow]);
    let classesAt = classes[row];
    sum4 = sum4 + -select(0.0, -0.5, 0 == classesAt);
    max0 = maximum(max0, add[atRow + 1]);
    sum4 = sum4 + -select(0.0, -0.5, 1 == classesAt);
    max0 = maximum(max0, add[atRow + 2]);
    sum4 = sum4 + -select(0.0, -0.5, 2 == classesAt);
    max0 = maximum(max0, add[atRow + 3]);
    sum4 = sum4 + -select(0.0, -0.5, 3 == classesAt);
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
    add2[atRow] = select(0.0, -0.5, t) + t2 * expOf(t0);
    let t3 = 1 == classesAt0;
    let t4 = add[atRow + 1] - max0;
    sum2 = sum2 + select(0.0, t4 - t1, t3);
    add2[atRow + 1] = select(0.0, -0.5, t3) + t2 * expOf(t4);
    let t5 = 2 == classesAt0;
    let t6 = add[atRow + 2] - max0;
    sum2 = sum2 + select(0.0, t6 - t1, t5);
    add2[atRow + 2] = select(0.0, -0.5, t5) + t2 * expOf(t6);
    let t7 = 3 == classesAt0;
    let t8 = add[atRow + 3] - max0;
    sum2 = sum2 + select(0.0, t8 - t1, t7);
    add2[atRow + 3] = select(0.0, -0.5, t7) + t2 * expOf(t8);
    sum3 = sum3 + -sum2;
  }
  sum3 = combine_sum_f32(sum3, lid);
  let t9 = sum3 * 0.5;
  for (var first = lid; first < 1; first += 256) {
    mul[0] = t9;
  }
}

// matmul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> weight: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> dotGeneral: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<f32>, 4>;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var aNext2: vec4<f32> = vec4<f32>(0.0);
  var aNext3: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext2: vec4<f32> = vec4<f32>(0.0);
  var bNext3: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meDiv4 + meMod4;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), add[atMe], (meDiv4 <= 1) & (atMe0 <= 3));
  aNext1 = vec4<f32>(0.0);
  aNext2 = vec4<f32>(0.0);
  aNext3 = vec4<f32>(0.0);
  let atMe1 = meDiv4 * 3 + meMod4;
  bNext0 = select(vec4<f32>(0.0), weight[atMe1], atMe0 <= 11);
  bNext1 = vec4<f32>(0.0);
  bNext2 = vec4<f32>(0.0);
  bNext3 = vec4<f32>(0.0);
  let meMod2 = lid % 2;
  let atMe2 = meMod2 * 2 + meMod4 * 16;
  let remainder = (meMod4 + 1) % 2;
  let atMe3 = meMod4 * 16 + remainder * 2;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe2][meDiv4] = lanes[0];
    tileA[atMe2 + 4][meDiv4] = lanes[1];
    tileA[atMe2 + 8][meDiv4] = lanes[2];
    tileA[atMe2 + 12][meDiv4] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe2 + 1][meDiv4] = lanes0[0];
    tileA[atMe2 + 5][meDiv4] = lanes0[1];
    tileA[atMe2 + 9][meDiv4] = lanes0[2];
    tileA[atMe2 + 13][meDiv4] = lanes0[3];
    let lanes1 = aNext2;
    tileA[atMe3][meDiv4] = lanes1[0];
    tileA[atMe3 + 4][meDiv4] = lanes1[1];
    tileA[atMe3 + 8][meDiv4] = lanes1[2];
    tileA[atMe3 + 12][meDiv4] = lanes1[3];
    let lanes2 = aNext3;
    tileA[atMe3 + 1][meDiv4] = lanes2[0];
    tileA[atMe3 + 5][meDiv4] = lanes2[1];
    tileA[atMe3 + 9][meDiv4] = lanes2[2];
    tileA[atMe3 + 13][meDiv4] = lanes2[3];
    tileB[lid] = bNext0;
    tileB[lid + 16] = bNext1;
    tileB[lid + 32] = bNext2;
    tileB[lid + 48] = bNext3;
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod4 + kk * 16];
      let remainder0 = (meDiv4 + kk * 2) % 4;
      let tileAAt = tileA[kk * 16 + remainder0];
      let a0_0 = tileAAt[0];
      c0_0 = fma(vec4<f32>(a0_0), b0_0, c0_0);
      let a0_1 = tileAAt[1];
      c1_0 = fma(vec4<f32>(a0_1), b0_0, c1_0);
      let a0_2 = tileAAt[2];
      c2_0 = fma(vec4<f32>(a0_2), b0_0, c2_0);
      let a0_3 = tileAAt[3];
      c3_0 = fma(vec4<f32>(a0_3), b0_0, c3_0);
      let b1_0 = tileB[meMod4 + kk * 16 + 4];
      let tileAAt0 = tileA[kk * 16 + remainder0 + 4];
      let a1_0 = tileAAt0[0];
      c0_0 = fma(vec4<f32>(a1_0), b1_0, c0_0);
      let a1_1 = tileAAt0[1];
      c1_0 = fma(vec4<f32>(a1_1), b1_0, c1_0);
      let a1_2 = tileAAt0[2];
      c2_0 = fma(vec4<f32>(a1_2), b1_0, c2_0);
      let a1_3 = tileAAt0[3];
      c3_0 = fma(vec4<f32>(a1_3), b1_0, c3_0);
      let b2_0 = tileB[meMod4 + kk * 16 + 8];
      let tileAAt1 = tileA[kk * 16 + remainder0 + 8];
      let a2_0 = tileAAt1[0];
      c0_0 = fma(vec4<f32>(a2_0), b2_0, c0_0);
      let a2_1 = tileAAt1[1];
      c1_0 = fma(vec4<f32>(a2_1), b2_0, c1_0);
      let a2_2 = tileAAt1[2];
      c2_0 = fma(vec4<f32>(a2_2), b2_0, c2_0);
      let a2_3 = tileAAt1[3];
      c3_0 = fma(vec4<f32>(a2_3), b2_0, c3_0);
      let b3_0 = tileB[meMod4 + kk * 16 + 12];
      let tileAAt2 = tileA[kk * 16 + remainder0 + 12];
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
  let atMe4 = meDiv4 * 4;
  let atMe5 = meDiv4 * 12 + meMod4;
  if (atMe4 <= 1) {
    if (atMe0 <= 11) {
      dotGeneral[atMe5] = sums[0];
    }
  }
  if (atMe4 <= 0) {
    if (atMe0 <= 11) {
      dotGeneral[atMe5 + 3] = sums[1];
    }
  }
  if (false) {
    if (atMe0 <= 11) {
      dotGeneral[atMe5 + 6] = sums[2];
    }
  }
  if (false) {
    if (atMe0 <= 11) {
      dotGeneral[atMe5 + 9] = sums[3];
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

// conv_sub on a grid of 2 × 1 × 1
@group(0) @binding(0) var<storage, read> select0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

@compute @workgroup_size(16)
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
  var bNext8: f32 = 0.0;
  var bNext9: f32 = 0.0;
  var bNext10: f32 = 0.0;
  var bNext11: f32 = 0.0;
  var bNext12: f32 = 0.0;
  var bNext13: f32 = 0.0;
  var bNext14: f32 = 0.0;
  var bNext15: f32 = 0.0;
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var aNext2: vec4<f32> = vec4<f32>(0.0);
  var aNext3: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  aNext0 = select(vec4<f32>(0.0), select0[lid], meDiv4 <= 2);
  aNext1 = vec4<f32>(0.0);
  aNext2 = vec4<f32>(0.0);
  aNext3 = vec4<f32>(0.0);
  let quotient = tileColumn * 16 / 3;
  let remainder = quotient % 3;
  let meMod4 = lid % 4;
  let remainder0 = tileColumn * 16 % 3;
  let quotient0 = tileColumn * 16 / 9;
  let xAt = select(0.0, x[quotient0 * 16 + lid + remainder * 4 + remainder0 - 5], (0 < meDiv4 + remainder) & (meDiv4 + remainder <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext0 = xAt;
  let quotient1 = (tileColumn * 16 + 1) / 3;
  let remainder1 = quotient1 % 3;
  let remainder2 = (tileColumn * 16 + 1) % 3;
  let quotient2 = (tileColumn * 16 + 1) / 9;
  let xAt0 = select(0.0, x[quotient2 * 16 + lid + remainder1 * 4 + remainder2 - 5], (0 < meDiv4 + remainder1) & (meDiv4 + remainder1 <= 4) & (0 < meMod4 + remainder2) & (meMod4 + remainder2 <= 4));
  bNext1 = xAt0;
  let quotient3 = (tileColumn * 16 + 2) / 3;
  let remainder3 = quotient3 % 3;
  let remainder4 = (tileColumn * 16 + 2) % 3;
  let quotient4 = (tileColumn * 16 + 2) / 9;
  let xAt1 = select(0.0, x[quotient4 * 16 + lid + remainder3 * 4 + remainder4 - 5], (tileColumn * 16 <= 15) & (0 < meDiv4 + remainder3) & (meDiv4 + remainder3 <= 4) & (0 < meMod4 + remainder4) & (meMod4 + remainder4 <= 4));
  bNext2 = xAt1;
  let remainder5 = (quotient + 1) % 3;
  let quotient5 = (tileColumn * 16 + 3) / 9;
  let xAt2 = select(0.0, x[quotient5 * 16 + lid + remainder5 * 4 + remainder0 - 5], (tileColumn * 16 <= 14) & (0 < meDiv4 + remainder5) & (meDiv4 + remainder5 <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext3 = xAt2;
  let remainder6 = (quotient1 + 1) % 3;
  let quotient6 = (tileColumn * 16 + 4) / 9;
  let xAt3 = select(0.0, x[quotient6 * 16 + lid + remainder6 * 4 + remainder2 - 5], (tileColumn * 16 <= 13) & (0 < meDiv4 + remainder6) & (meDiv4 + remainder6 <= 4) & (0 < meMod4 + remainder2) & (meMod4 + remainder2 <= 4));
  bNext4 = xAt3;
  let remainder7 = (quotient3 + 1) % 3;
  let quotient7 = (tileColumn * 16 + 5) / 9;
  let xAt4 = select(0.0, x[quotient7 * 16 + lid + remainder7 * 4 + remainder4 - 5], (tileColumn * 16 <= 12) & (0 < meDiv4 + remainder7) & (meDiv4 + remainder7 <= 4) & (0 < meMod4 + remainder4) & (meMod4 + remainder4 <= 4));
  bNext5 = xAt4;
  let remainder8 = (quotient + 2) % 3;
  let quotient8 = (tileColumn * 16 + 6) / 9;
  let xAt5 = select(0.0, x[quotient8 * 16 + lid + remainder8 * 4 + remainder0 - 5], (tileColumn * 16 <= 11) & (0 < meDiv4 + remainder8) & (meDiv4 + remainder8 <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext6 = xAt5;
  let remainder9 = (quotient1 + 2) % 3;
  let quotient9 = (tileColumn * 16 + 7) / 9;
  let xAt6 = select(0.0, x[quotient9 * 16 + lid + remainder9 * 4 + remainder2 - 5], (tileColumn * 16 <= 10) & (0 < meDiv4 + remainder9) & (meDiv4 + remainder9 <= 4) & (0 < meMod4 + remainder2) & (meMod4 + remainder2 <= 4));
  bNext7 = xAt6;
  let remainder10 = (quotient3 + 2) % 3;
  let quotient10 = (tileColumn * 16 + 8) / 9;
  let xAt7 = select(0.0, x[quotient10 * 16 + lid + remainder10 * 4 + remainder4 - 5], (tileColumn * 16 <= 9) & (0 < meDiv4 + remainder10) & (meDiv4 + remainder10 <= 4) & (0 < meMod4 + remainder4) & (meMod4 + remainder4 <= 4));
  bNext8 = xAt7;
  let xAt8 = select(0.0, x[quotient0 * 16 + lid + remainder * 4 + remainder0 + 11], (tileColumn * 16 <= 8) & (0 < meDiv4 + remainder) & (meDiv4 + remainder <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext9 = xAt8;
  let xAt9 = select(0.0, x[quotient2 * 16 + lid + remainder1 * 4 + remainder2 + 11], (tileColumn * 16 <= 7) & (0 < meDiv4 + remainder1) & (meDiv4 + remainder1 <= 4) & (0 < meMod4 + remainder2) & (meMod4 + remainder2 <= 4));
  bNext10 = xAt9;
  let xAt10 = select(0.0, x[quotient4 * 16 + lid + remainder3 * 4 + remainder4 + 11], (tileColumn * 16 <= 6) & (0 < meDiv4 + remainder3) & (meDiv4 + remainder3 <= 4) & (0 < meMod4 + remainder4) & (meMod4 + remainder4 <= 4));
  bNext11 = xAt10;
  let xAt11 = select(0.0, x[quotient5 * 16 + lid + remainder5 * 4 + remainder0 + 11], (tileColumn * 16 <= 5) & (0 < meDiv4 + remainder5) & (meDiv4 + remainder5 <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext12 = xAt11;
  let xAt12 = select(0.0, x[quotient6 * 16 + lid + remainder6 * 4 + remainder2 + 11], (tileColumn * 16 <= 4) & (0 < meDiv4 + remainder6) & (meDiv4 + remainder6 <= 4) & (0 < meMod4 + remainder2) & (meMod4 + remainder2 <= 4));
  bNext13 = xAt12;
  let xAt13 = select(0.0, x[quotient7 * 16 + lid + remainder7 * 4 + remainder4 + 11], (tileColumn * 16 <= 3) & (0 < meDiv4 + remainder7) & (meDiv4 + remainder7 <= 4) & (0 < meMod4 + remainder4) & (meMod4 + remainder4 <= 4));
  bNext14 = xAt13;
  let xAt14 = select(0.0, x[quotient8 * 16 + lid + remainder8 * 4 + remainder0 + 11], (tileColumn * 16 <= 2) & (0 < meDiv4 + remainder8) & (meDiv4 + remainder8 <= 4) & (0 < meMod4 + remainder0) & (meMod4 + remainder0 <= 4));
  bNext15 = xAt14;
  let meMod2 = lid % 2;
  let atMe = meMod2 * 2 + meMod4 * 16;
  let remainder11 = (meMod4 + 1) % 2;
  let atMe0 = meMod4 * 16 + remainder11 * 2;
  let remainder12 = meDiv4 % 2;
  let atMe1 = lid * 4 + remainder12 * 2;
  let remainder13 = (meDiv4 + 1) % 2;
  let atMe2 = lid * 4 + remainder13 * 2;
  let atTileColumn = meDiv4 + remainder;
  let atTileColumn0 = meMod4 + remainder0;
  let atMe3 = quotient0 * 16 + lid + remainder * 4 + remainder0;
  let atTileColumn1 = meDiv4 + remainder1;
  let atTileColumn2 = meMod4 + remainder2;
  let atMe4 = quotient2 * 16 + lid + remainder1 * 4 + remainder2;
  let atTileColumn3 = tileColumn * 16;
  let atTileColumn4 = meDiv4 + remainder3;
  let atTileColumn5 = meMod4 + remainder4;
  let atMe5 = quotient4 * 16 + lid + remainder3 * 4 + remainder4;
  let atTileColumn6 = meDiv4 + remainder5;
  let atMe6 = quotient5 * 16 + lid + remainder5 * 4 + remainder0;
  let atTileColumn7 = meDiv4 + remainder6;
  let atMe7 = quotient6 * 16 + lid + remainder6 * 4 + remainder2;
  let atTileColumn8 = meDiv4 + remainder7;
  let atMe8 = quotient7 * 16 + lid + remainder7 * 4 + remainder4;
  let atTileColumn9 = meDiv4 + remainder8;
  let atMe9 = quotient8 * 16 + lid + remainder8 * 4 + remainder0;
  let atTileColumn10 = meDiv4 + remainder9;
  let atMe10 = quotient9 * 16 + lid + remainder9 * 4 + remainder2;
  let atTileColumn11 = meDiv4 + remainder10;
  let atMe11 = quotient10 * 16 + lid + remainder10 * 4 + remainder4;
  for (var step = 0; step < 2; step++) {
    let lanes = aNext0;
    tileA[atMe][meDiv4] = lanes[0];
    tileA[atMe + 4][meDiv4] = lanes[1];
    tileA[atMe + 8][meDiv4] = lanes[2];
    tileA[atMe + 12][meDiv4] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe + 1][meDiv4] = lanes0[0];
    tileA[atMe + 5][meDiv4] = lanes0[1];
    tileA[atMe + 9][meDiv4] = lanes0[2];
    tileA[atMe + 13][meDiv4] = lanes0[3];
    let lanes1 = aNext2;
    tileA[atMe0][meDiv4] = lanes1[0];
    tileA[atMe0 + 4][meDiv4] = lanes1[1];
    tileA[atMe0 + 8][meDiv4] = lanes1[2];
    tileA[atMe0 + 12][meDiv4] = lanes1[3];
    let lanes2 = aNext3;
    tileA[atMe0 + 1][meDiv4] = lanes2[0];
    tileA[atMe0 + 5][meDiv4] = lanes2[1];
    tileA[atMe0 + 9][meDiv4] = lanes2[2];
    tileA[atMe0 + 13][meDiv4] = lanes2[3];
    tileB[atMe1][0] = bNext0;
    tileB[atMe1][1] = bNext1;
    tileB[atMe1][2] = bNext2;
    tileB[atMe1][3] = bNext3;
    tileB[atMe1 + 1][0] = bNext4;
    tileB[atMe1 + 1][1] = bNext5;
    tileB[atMe1 + 1][2] = bNext6;
    tileB[atMe1 + 1][3] = bNext7;
    tileB[atMe2][0] = bNext8;
    tileB[atMe2][1] = bNext9;
    tileB[atMe2][2] = bNext10;
    tileB[atMe2][3] = bNext11;
    tileB[atMe2 + 1][0] = bNext12;
    tileB[atMe2 + 1][1] = bNext13;
    tileB[atMe2 + 1][2] = bNext14;
    tileB[atMe2 + 1][3] = bNext15;
    workgroupBarrier();
    storageBarrier();
    aNext0 = select(vec4<f32>(0.0), select0[lid + 12], meDiv4 <= 2);
    aNext1 = vec4<f32>(0.0);
    aNext2 = vec4<f32>(0.0);
    aNext3 = vec4<f32>(0.0);
    bNext0 = select(0.0, x[atMe3 + 27], (0 < atTileColumn) & (atTileColumn <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    bNext1 = select(0.0, x[atMe4 + 27], (0 < atTileColumn1) & (atTileColumn1 <= 4) & (0 < atTileColumn2) & (atTileColumn2 <= 4));
    bNext2 = select(0.0, x[atMe5 + 27], (atTileColumn3 <= 15) & (0 < atTileColumn4) & (atTileColumn4 <= 4) & (0 < atTileColumn5) & (atTileColumn5 <= 4));
    bNext3 = select(0.0, x[atMe6 + 27], (atTileColumn3 <= 14) & (0 < atTileColumn6) & (atTileColumn6 <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    bNext4 = select(0.0, x[atMe7 + 27], (atTileColumn3 <= 13) & (0 < atTileColumn7) & (atTileColumn7 <= 4) & (0 < atTileColumn2) & (atTileColumn2 <= 4));
    bNext5 = select(0.0, x[atMe8 + 27], (atTileColumn3 <= 12) & (0 < atTileColumn8) & (atTileColumn8 <= 4) & (0 < atTileColumn5) & (atTileColumn5 <= 4));
    bNext6 = select(0.0, x[atMe9 + 27], (atTileColumn3 <= 11) & (0 < atTileColumn9) & (atTileColumn9 <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    bNext7 = select(0.0, x[atMe10 + 27], (atTileColumn3 <= 10) & (0 < atTileColumn10) & (atTileColumn10 <= 4) & (0 < atTileColumn2) & (atTileColumn2 <= 4));
    bNext8 = select(0.0, x[atMe11 + 27], (atTileColumn3 <= 9) & (0 < atTileColumn11) & (atTileColumn11 <= 4) & (0 < atTileColumn5) & (atTileColumn5 <= 4));
    bNext9 = select(0.0, x[atMe3 + 43], (atTileColumn3 <= 8) & (0 < atTileColumn) & (atTileColumn <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    bNext10 = select(0.0, x[atMe4 + 43], (atTileColumn3 <= 7) & (0 < atTileColumn1) & (atTileColumn1 <= 4) & (0 < atTileColumn2) & (atTileColumn2 <= 4));
    bNext11 = select(0.0, x[atMe5 + 43], (atTileColumn3 <= 6) & (0 < atTileColumn4) & (atTileColumn4 <= 4) & (0 < atTileColumn5) & (atTileColumn5 <= 4));
    bNext12 = select(0.0, x[atMe6 + 43], (atTileColumn3 <= 5) & (0 < atTileColumn6) & (atTileColumn6 <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    bNext13 = select(0.0, x[atMe7 + 43], (atTileColumn3 <= 4) & (0 < atTileColumn7) & (atTileColumn7 <= 4) & (0 < atTileColumn2) & (atTileColumn2 <= 4));
    bNext14 = select(0.0, x[atMe8 + 43], (atTileColumn3 <= 3) & (0 < atTileColumn8) & (atTileColumn8 <= 4) & (0 < atTileColumn5) & (atTileColumn5 <= 4));
    bNext15 = select(0.0, x[atMe9 + 43], (atTileColumn3 <= 2) & (0 < atTileColumn9) & (atTileColumn9 <= 4) & (0 < atTileColumn0) & (atTileColumn0 <= 4));
    for (var kk = 0; kk < 4; kk++) {
      let remainder14 = (meMod4 + kk * 2) % 4;
      let b0_0 = tileB[kk * 16 + remainder14];
      let remainder15 = (meDiv4 + kk * 2) % 4;
      let tileAAt = tileA[kk * 16 + remainder15];
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
      let b1_0 = tileB[kk * 16 + remainder14 + 4];
      let tileAAt0 = tileA[kk * 16 + remainder15 + 4];
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
      let b2_0 = tileB[kk * 16 + remainder14 + 8];
      let tileAAt1 = tileA[kk * 16 + remainder15 + 8];
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
      let b3_0 = tileB[kk * 16 + remainder14 + 12];
      let tileAAt2 = tileA[kk * 16 + remainder15 + 12];
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
  let atMe12 = meDiv4 * 4;
  let atTileColumn12 = meMod4 * 4 + tileColumn * 16;
  for (var r = 0; r < 4; r++) {
    let f = atMe12 + r;
    let atTileColumn13 = atTileColumn12 + f * 18;
    if (atMe12 + r <= 2) {
      for (var q = 0; q < 1; q++) {
        for (var s = 0; s < 4; s++) {
          let quotient11 = (atTileColumn12 + s) / 9;
          let quotient12 = (atTileColumn12 + s) / 3;
          let remainder16 = quotient12 % 3;
          let remainder17 = (atTileColumn12 + s) % 3;
          let atTileColumn14 = atTileColumn13 + s;
          if (atTileColumn12 + s <= 17) {
            weight[atTileColumn14] = weight[atTileColumn14] - sums[r][s] * 0.1;
          }
        }
      }
    }
  }
  let f0 = meDiv4 * 4;
  if ((tileColumn <= 0) & (meMod4 <= 0) & (meDiv4 * 4 <= 2)) {
    bias[f0] = bias[f0] - sidea0_0 * 0.1;
  }
  let f1 = meDiv4 * 4 + 1;
  if ((tileColumn <= 0) & (meMod4 <= 0) & (meDiv4 * 4 <= 1)) {
    bias[f1] = bias[f1] - sidea0_1 * 0.1;
  }
  let f2 = meDiv4 * 4 + 2;
  if ((tileColumn <= 0) & (meMod4 <= 0) & (meDiv4 * 4 <= 0)) {
    bias[f2] = bias[f2] - sidea0_2 * 0.1;
  }
  let f3 = meDiv4 * 4 + 3;
  if (false) {
    bias[f3] = bias[f3] - sidea0_3 * 0.1;
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> reduceMax: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> weight: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> bias: array<f32>;

var<workgroup> tileA: array<vec4<f32>, 64>;

var<workgroup> tileB: array<vec4<f32>, 64>;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.z);
  let tileRow = i32(workgroup.y);
  let tileColumn = i32(workgroup.x);
  var sums: array<vec4<f32>, 4>;
  var sidea0_0: f32 = 0.0;
  var sidea0_1: f32 = 0.0;
  var sidea0_2: f32 = 0.0;
  var sidea0_3: f32 = 0.0;
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var aNext2: vec4<f32> = vec4<f32>(0.0);
  var aNext3: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext2: vec4<f32> = vec4<f32>(0.0);
  var bNext3: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe = meDiv4 + meMod4;
  let atMe0 = meMod4 * 4;
  aNext0 = select(vec4<f32>(0.0), add[atMe], (atMe0 <= 3) & (meDiv4 <= 1));
  aNext1 = vec4<f32>(0.0);
  aNext2 = vec4<f32>(0.0);
  aNext3 = vec4<f32>(0.0);
  let atMe1 = meDiv4 * 3 + meMod4;
  bNext0 = select(vec4<f32>(0.0), reduceMax[atMe1], (atMe0 <= 11) & (meDiv4 <= 1));
  bNext1 = vec4<f32>(0.0);
  bNext2 = vec4<f32>(0.0);
  bNext3 = vec4<f32>(0.0);
  for (var step = 0; step < 1; step++) {
    tileA[lid] = aNext0;
    tileA[lid + 16] = aNext1;
    tileA[lid + 32] = aNext2;
    tileA[lid + 48] = aNext3;
    tileB[lid] = bNext0;
    tileB[lid + 16] = bNext1;
    tileB[lid + 32] = bNext2;
    tileB[lid + 48] = bNext3;
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let b0_0 = tileB[meMod4 + kk * 16];
      let tileAAt = tileA[meDiv4 + kk * 16];
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
      let b1_0 = tileB[meMod4 + kk * 16 + 4];
      let tileAAt0 = tileA[meDiv4 + kk * 16 + 4];
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
      let b2_0 = tileB[meMod4 + kk * 16 + 8];
      let tileAAt1 = tileA[meDiv4 + kk * 16 + 8];
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
      let b3_0 = tileB[meMod4 + kk * 16 + 12];
      let tileAAt2 = tileA[meDiv4 + kk * 16 + 12];
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
  let atMe2 = meDiv4 * 4;
  let atMe3 = meDiv4 * 12 + meMod4;
  if (atMe2 <= 3) {
    if (atMe0 <= 11) {
      weight[atMe3] = weight[atMe3] - sums[0] * vec4<f32>(0.1);
    }
  }
  if (atMe2 <= 2) {
    if (atMe0 <= 11) {
      weight[atMe3 + 3] = weight[atMe3 + 3] - sums[1] * vec4<f32>(0.1);
    }
  }
  if (atMe2 <= 1) {
    if (atMe0 <= 11) {
      weight[atMe3 + 6] = weight[atMe3 + 6] - sums[2] * vec4<f32>(0.1);
    }
  }
  if (atMe2 <= 0) {
    if (atMe0 <= 11) {
      weight[atMe3 + 9] = weight[atMe3 + 9] - sums[3] * vec4<f32>(0.1);
    }
  }
  let i0 = meDiv4 * 4;
  if ((meMod4 <= 0) & (meDiv4 * 4 <= 3)) {
    bias[i0] = bias[i0] - sidea0_0 * 0.1;
  }
  let i0_0 = meDiv4 * 4 + 1;
  if ((meMod4 <= 0) & (meDiv4 * 4 <= 2)) {
    bias[i0_0] = bias[i0_0] - sidea0_1 * 0.1;
  }
  let i0_1 = meDiv4 * 4 + 2;
  if ((meMod4 <= 0) & (meDiv4 * 4 <= 1)) {
    bias[i0_1] = bias[i0_1] - sidea0_2 * 0.1;
  }
  let i0_2 = meDiv4 * 4 + 3;
  if ((meMod4 <= 0) & (meDiv4 * 4 <= 0)) {
    bias[i0_2] = bias[i0_2] - sidea0_3 * 0.1;
  }
}
