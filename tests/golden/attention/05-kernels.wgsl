// attention on a grid of 2 × 1 × 1
@group(0) @binding(0) var<storage, read> q_: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> k_: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> dotGeneral: array<f32>;

var<workgroup> tiles: array<vec4<f32>, 240>;

var<private> infinityBits: u32 = 0x7f800000u;
fn infinity() -> f32 {
  return bitcast<f32>(infinityBits);
}

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}

fn maximum(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, isNan(b)), a, isNan(a));
}

@compute @workgroup_size(128)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let tile = i32(workgroup.y);
  let batch = i32(workgroup.x);
  let meDiv16 = lid / 16;
  let meMod2 = lid % 2;
  let row0 = meDiv16 * 2 + meMod2;
  var top0: f32 = -1.7014117e+38;
  var sum0: f32 = 0.0;
  var o0_0_0: f32 = 0.0;
  var o0_0_1: f32 = 0.0;
  var o0_0_2: f32 = 0.0;
  var o0_0_3: f32 = 0.0;
  let meDiv2 = lid / 2;
  let remainder = meDiv2 % 8;
  let atMe = batch * 8 + lid;
  let atMe0 = meDiv2 * 3 + meMod2;
  let atMe1 = meDiv16 * 6 + meMod2 * 3;
  let atMe2 = remainder * 3;
  let quotient = remainder / 4;
  let atMe3 = meDiv16 * 4 + quotient + meMod2 * 2;
  let remainder0 = meDiv2 % 4;
  let atMe4 = meDiv16 * 4 + meMod2 * 2;
  let atMe5 = meDiv16 * 10 + quotient + meMod2 * 5;
  let meDiv8 = lid / 8;
  let meMod8 = lid % 8;
  let atMe6 = batch * 8 + meDiv8 * 2 + meMod8;
  let atMe7 = meMod8 * 4;
  let atMe8 = meDiv16 * 10 + meMod2 * 5;
  for (var keyTile = 0; keyTile < 1; keyTile++) {
    var s0_0: f32 = 0.0;
    var s0_1: f32 = 0.0;
    var s0_2: f32 = 0.0;
    var s0_3: f32 = 0.0;
    var s0_4: f32 = 0.0;
    var s0_5: f32 = 0.0;
    var s0_6: f32 = 0.0;
    var s0_7: f32 = 0.0;
    for (var step = 0; step < 1; step++) {
      workgroupBarrier();
      if (lid <= 31) {
        tiles[atMe0] = select(vec4<f32>(0.0), q_[atMe], meDiv2 <= 3);
      }
      tiles[atMe0 + 48] = select(vec4<f32>(0.0), k_[atMe], meDiv2 <= 3);
      workgroupBarrier();
      for (var kk = 0; kk < 2; kk++) {
        let tilesAt = tiles[atMe1 + kk];
        let a0_0 = tilesAt[0];
        let a0_1 = tilesAt[1];
        let a0_2 = tilesAt[2];
        let a0_3 = tilesAt[3];
        let tilesAt0 = tiles[atMe2 + kk + 48];
        let b0_0 = tilesAt0[0];
        let b0_1 = tilesAt0[1];
        let b0_2 = tilesAt0[2];
        let b0_3 = tilesAt0[3];
        s0_0 = fma(a0_0, b0_0, s0_0);
        s0_0 = fma(a0_1, b0_1, s0_0);
        s0_0 = fma(a0_2, b0_2, s0_0);
        s0_0 = fma(a0_3, b0_3, s0_0);
        let tilesAt1 = tiles[atMe2 + kk + 72];
        let b1_0 = tilesAt1[0];
        let b1_1 = tilesAt1[1];
        let b1_2 = tilesAt1[2];
        let b1_3 = tilesAt1[3];
        s0_1 = fma(a0_0, b1_0, s0_1);
        s0_1 = fma(a0_1, b1_1, s0_1);
        s0_1 = fma(a0_2, b1_2, s0_1);
        s0_1 = fma(a0_3, b1_3, s0_1);
        let tilesAt2 = tiles[atMe2 + kk + 96];
        let b2_0 = tilesAt2[0];
        let b2_1 = tilesAt2[1];
        let b2_2 = tilesAt2[2];
        let b2_3 = tilesAt2[3];
        s0_2 = fma(a0_0, b2_0, s0_2);
        s0_2 = fma(a0_1, b2_1, s0_2);
        s0_2 = fma(a0_2, b2_2, s0_2);
        s0_2 = fma(a0_3, b2_3, s0_2);
        let tilesAt3 = tiles[atMe2 + kk + 120];
        let b3_0 = tilesAt3[0];
        let b3_1 = tilesAt3[1];
        let b3_2 = tilesAt3[2];
        let b3_3 = tilesAt3[3];
        s0_3 = fma(a0_0, b3_0, s0_3);
        s0_3 = fma(a0_1, b3_1, s0_3);
        s0_3 = fma(a0_2, b3_2, s0_3);
        s0_3 = fma(a0_3, b3_3, s0_3);
        let tilesAt4 = tiles[atMe2 + kk + 144];
        let b4_0 = tilesAt4[0];
        let b4_1 = tilesAt4[1];
        let b4_2 = tilesAt4[2];
        let b4_3 = tilesAt4[3];
        s0_4 = fma(a0_0, b4_0, s0_4);
        s0_4 = fma(a0_1, b4_1, s0_4);
        s0_4 = fma(a0_2, b4_2, s0_4);
        s0_4 = fma(a0_3, b4_3, s0_4);
        let tilesAt5 = tiles[atMe2 + kk + 168];
        let b5_0 = tilesAt5[0];
        let b5_1 = tilesAt5[1];
        let b5_2 = tilesAt5[2];
        let b5_3 = tilesAt5[3];
        s0_5 = fma(a0_0, b5_0, s0_5);
        s0_5 = fma(a0_1, b5_1, s0_5);
        s0_5 = fma(a0_2, b5_2, s0_5);
        s0_5 = fma(a0_3, b5_3, s0_5);
        let tilesAt6 = tiles[atMe2 + kk + 192];
        let b6_0 = tilesAt6[0];
        let b6_1 = tilesAt6[1];
        let b6_2 = tilesAt6[2];
        let b6_3 = tilesAt6[3];
        s0_6 = fma(a0_0, b6_0, s0_6);
        s0_6 = fma(a0_1, b6_1, s0_6);
        s0_6 = fma(a0_2, b6_2, s0_6);
        s0_6 = fma(a0_3, b6_3, s0_6);
        let tilesAt7 = tiles[atMe2 + kk + 216];
        let b7_0 = tilesAt7[0];
        let b7_1 = tilesAt7[1];
        let b7_2 = tilesAt7[2];
        let b7_3 = tilesAt7[3];
        s0_7 = fma(a0_0, b7_0, s0_7);
        s0_7 = fma(a0_1, b7_1, s0_7);
        s0_7 = fma(a0_2, b7_2, s0_7);
        s0_7 = fma(a0_3, b7_3, s0_7);
      }
    }
    s0_0 = select(-infinity(), select(-3.4028234663852886e+38, s0_0 * 0.35355338, remainder <= row0), remainder <= 3);
    s0_1 = -infinity();
    s0_2 = -infinity();
    s0_3 = -infinity();
    s0_4 = -infinity();
    s0_5 = -infinity();
    s0_6 = -infinity();
    s0_7 = -infinity();
    var new0: f32 = -1.7014117e+38;
    new0 = select(new0, s0_0, new0 < s0_0);
    new0 = select(new0, s0_1, new0 < s0_1);
    new0 = select(new0, s0_2, new0 < s0_2);
    new0 = select(new0, s0_3, new0 < s0_3);
    new0 = select(new0, s0_4, new0 < s0_4);
    new0 = select(new0, s0_5, new0 < s0_5);
    new0 = select(new0, s0_6, new0 < s0_6);
    new0 = select(new0, s0_7, new0 < s0_7);
    workgroupBarrier();
    tiles[atMe3][remainder0] = new0;
    workgroupBarrier();
    new0 = top0;
    let tilesAt8 = tiles[atMe4];
    let tilesAt9 = tilesAt8[0];
    new0 = select(new0, tilesAt9, new0 < tilesAt9);
    let tilesAt10 = tilesAt8[1];
    new0 = select(new0, tilesAt10, new0 < tilesAt10);
    let tilesAt11 = tilesAt8[2];
    new0 = select(new0, tilesAt11, new0 < tilesAt11);
    let tilesAt12 = tilesAt8[3];
    new0 = select(new0, tilesAt12, new0 < tilesAt12);
    let tilesAt13 = tiles[atMe4 + 1];
    let tilesAt14 = tilesAt13[0];
    new0 = select(new0, tilesAt14, new0 < tilesAt14);
    let tilesAt15 = tilesAt13[1];
    new0 = select(new0, tilesAt15, new0 < tilesAt15);
    let tilesAt16 = tilesAt13[2];
    new0 = select(new0, tilesAt16, new0 < tilesAt16);
    let tilesAt17 = tilesAt13[3];
    new0 = select(new0, tilesAt17, new0 < tilesAt17);
    let shrink0 = expOf(top0 - new0);
    top0 = new0;
    sum0 = sum0 * shrink0;
    o0_0_0 = o0_0_0 * shrink0;
    o0_0_1 = o0_0_1 * shrink0;
    o0_0_2 = o0_0_2 * shrink0;
    o0_0_3 = o0_0_3 * shrink0;
    s0_0 = expOf(s0_0 - top0);
    sum0 = sum0 + s0_0;
    s0_1 = expOf(s0_1 - top0);
    sum0 = sum0 + s0_1;
    s0_2 = expOf(s0_2 - top0);
    sum0 = sum0 + s0_2;
    s0_3 = expOf(s0_3 - top0);
    sum0 = sum0 + s0_3;
    s0_4 = expOf(s0_4 - top0);
    sum0 = sum0 + s0_4;
    s0_5 = expOf(s0_5 - top0);
    sum0 = sum0 + s0_5;
    s0_6 = expOf(s0_6 - top0);
    sum0 = sum0 + s0_6;
    s0_7 = expOf(s0_7 - top0);
    sum0 = sum0 + s0_7;
    workgroupBarrier();
    tiles[atMe5][remainder0] = s0_0;
    tiles[atMe5 + 2][remainder0] = s0_1;
    tiles[lid + 80] = select(vec4<f32>(0.0), v[atMe6], (meDiv8 <= 3) & (atMe7 <= 7));
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let tilesAt18 = tiles[atMe8 + kk];
      let a0_0_0 = tilesAt18[0];
      let a0_1_0 = tilesAt18[1];
      let a0_2_0 = tilesAt18[2];
      let a0_3_0 = tilesAt18[3];
      let tilesAt19 = tiles[remainder + kk * 32 + 80];
      let b0_0_0 = tilesAt19[0];
      let b1_0_0 = tilesAt19[1];
      let b2_0_0 = tilesAt19[2];
      let b3_0_0 = tilesAt19[3];
      o0_0_0 = fma(a0_0_0, b0_0_0, o0_0_0);
      o0_0_1 = fma(a0_0_0, b1_0_0, o0_0_1);
      o0_0_2 = fma(a0_0_0, b2_0_0, o0_0_2);
      o0_0_3 = fma(a0_0_0, b3_0_0, o0_0_3);
      let tilesAt20 = tiles[remainder + kk * 32 + 88];
      let b0_1_0 = tilesAt20[0];
      let b1_1_0 = tilesAt20[1];
      let b2_1_0 = tilesAt20[2];
      let b3_1_0 = tilesAt20[3];
      o0_0_0 = fma(a0_1_0, b0_1_0, o0_0_0);
      o0_0_1 = fma(a0_1_0, b1_1_0, o0_0_1);
      o0_0_2 = fma(a0_1_0, b2_1_0, o0_0_2);
      o0_0_3 = fma(a0_1_0, b3_1_0, o0_0_3);
      let tilesAt21 = tiles[remainder + kk * 32 + 96];
      let b0_2_0 = tilesAt21[0];
      let b1_2_0 = tilesAt21[1];
      let b2_2_0 = tilesAt21[2];
      let b3_2_0 = tilesAt21[3];
      o0_0_0 = fma(a0_2_0, b0_2_0, o0_0_0);
      o0_0_1 = fma(a0_2_0, b1_2_0, o0_0_1);
      o0_0_2 = fma(a0_2_0, b2_2_0, o0_0_2);
      o0_0_3 = fma(a0_2_0, b3_2_0, o0_0_3);
      let tilesAt22 = tiles[remainder + kk * 32 + 104];
      let b0_3_0 = tilesAt22[0];
      let b1_3_0 = tilesAt22[1];
      let b2_3_0 = tilesAt22[2];
      let b3_3_0 = tilesAt22[3];
      o0_0_0 = fma(a0_3_0, b0_3_0, o0_0_0);
      o0_0_1 = fma(a0_3_0, b1_3_0, o0_0_1);
      o0_0_2 = fma(a0_3_0, b2_3_0, o0_0_2);
      o0_0_3 = fma(a0_3_0, b3_3_0, o0_0_3);
    }
    workgroupBarrier();
    tiles[atMe5][remainder0] = s0_2;
    tiles[atMe5 + 2][remainder0] = s0_3;
    tiles[lid + 80] = vec4<f32>(0.0);
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let tilesAt23 = tiles[atMe8 + kk];
      let a0_0_1 = tilesAt23[0];
      let a0_1_1 = tilesAt23[1];
      let a0_2_1 = tilesAt23[2];
      let a0_3_1 = tilesAt23[3];
      let tilesAt24 = tiles[remainder + kk * 32 + 80];
      let b0_0_1 = tilesAt24[0];
      let b1_0_1 = tilesAt24[1];
      let b2_0_1 = tilesAt24[2];
      let b3_0_1 = tilesAt24[3];
      o0_0_0 = fma(a0_0_1, b0_0_1, o0_0_0);
      o0_0_1 = fma(a0_0_1, b1_0_1, o0_0_1);
      o0_0_2 = fma(a0_0_1, b2_0_1, o0_0_2);
      o0_0_3 = fma(a0_0_1, b3_0_1, o0_0_3);
      let tilesAt25 = tiles[remainder + kk * 32 + 88];
      let b0_1_1 = tilesAt25[0];
      let b1_1_1 = tilesAt25[1];
      let b2_1_1 = tilesAt25[2];
      let b3_1_1 = tilesAt25[3];
      o0_0_0 = fma(a0_1_1, b0_1_1, o0_0_0);
      o0_0_1 = fma(a0_1_1, b1_1_1, o0_0_1);
      o0_0_2 = fma(a0_1_1, b2_1_1, o0_0_2);
      o0_0_3 = fma(a0_1_1, b3_1_1, o0_0_3);
      let tilesAt26 = tiles[remainder + kk * 32 + 96];
      let b0_2_1 = tilesAt26[0];
      let b1_2_1 = tilesAt26[1];
      let b2_2_1 = tilesAt26[2];
      let b3_2_1 = tilesAt26[3];
      o0_0_0 = fma(a0_2_1, b0_2_1, o0_0_0);
      o0_0_1 = fma(a0_2_1, b1_2_1, o0_0_1);
      o0_0_2 = fma(a0_2_1, b2_2_1, o0_0_2);
      o0_0_3 = fma(a0_2_1, b3_2_1, o0_0_3);
      let tilesAt27 = tiles[remainder + kk * 32 + 104];
      let b0_3_1 = tilesAt27[0];
      let b1_3_1 = tilesAt27[1];
      let b2_3_1 = tilesAt27[2];
      let b3_3_1 = tilesAt27[3];
      o0_0_0 = fma(a0_3_1, b0_3_1, o0_0_0);
      o0_0_1 = fma(a0_3_1, b1_3_1, o0_0_1);
      o0_0_2 = fma(a0_3_1, b2_3_1, o0_0_2);
      o0_0_3 = fma(a0_3_1, b3_3_1, o0_0_3);
    }
    workgroupBarrier();
    tiles[atMe5][remainder0] = s0_4;
    tiles[atMe5 + 2][remainder0] = s0_5;
    tiles[lid + 80] = vec4<f32>(0.0);
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let tilesAt28 = tiles[atMe8 + kk];
      let a0_0_2 = tilesAt28[0];
      let a0_1_2 = tilesAt28[1];
      let a0_2_2 = tilesAt28[2];
      let a0_3_2 = tilesAt28[3];
      let tilesAt29 = tiles[remainder + kk * 32 + 80];
      let b0_0_2 = tilesAt29[0];
      let b1_0_2 = tilesAt29[1];
      let b2_0_2 = tilesAt29[2];
      let b3_0_2 = tilesAt29[3];
      o0_0_0 = fma(a0_0_2, b0_0_2, o0_0_0);
      o0_0_1 = fma(a0_0_2, b1_0_2, o0_0_1);
      o0_0_2 = fma(a0_0_2, b2_0_2, o0_0_2);
      o0_0_3 = fma(a0_0_2, b3_0_2, o0_0_3);
      let tilesAt30 = tiles[remainder + kk * 32 + 88];
      let b0_1_2 = tilesAt30[0];
      let b1_1_2 = tilesAt30[1];
      let b2_1_2 = tilesAt30[2];
      let b3_1_2 = tilesAt30[3];
      o0_0_0 = fma(a0_1_2, b0_1_2, o0_0_0);
      o0_0_1 = fma(a0_1_2, b1_1_2, o0_0_1);
      o0_0_2 = fma(a0_1_2, b2_1_2, o0_0_2);
      o0_0_3 = fma(a0_1_2, b3_1_2, o0_0_3);
      let tilesAt31 = tiles[remainder + kk * 32 + 96];
      let b0_2_2 = tilesAt31[0];
      let b1_2_2 = tilesAt31[1];
      let b2_2_2 = tilesAt31[2];
      let b3_2_2 = tilesAt31[3];
      o0_0_0 = fma(a0_2_2, b0_2_2, o0_0_0);
      o0_0_1 = fma(a0_2_2, b1_2_2, o0_0_1);
      o0_0_2 = fma(a0_2_2, b2_2_2, o0_0_2);
      o0_0_3 = fma(a0_2_2, b3_2_2, o0_0_3);
      let tilesAt32 = tiles[remainder + kk * 32 + 104];
      let b0_3_2 = tilesAt32[0];
      let b1_3_2 = tilesAt32[1];
      let b2_3_2 = tilesAt32[2];
      let b3_3_2 = tilesAt32[3];
      o0_0_0 = fma(a0_3_2, b0_3_2, o0_0_0);
      o0_0_1 = fma(a0_3_2, b1_3_2, o0_0_1);
      o0_0_2 = fma(a0_3_2, b2_3_2, o0_0_2);
      o0_0_3 = fma(a0_3_2, b3_3_2, o0_0_3);
    }
    workgroupBarrier();
    tiles[atMe5][remainder0] = s0_6;
    tiles[atMe5 + 2][remainder0] = s0_7;
    tiles[lid + 80] = vec4<f32>(0.0);
    workgroupBarrier();
    for (var kk = 0; kk < 4; kk++) {
      let tilesAt33 = tiles[atMe8 + kk];
      let a0_0_3 = tilesAt33[0];
      let a0_1_3 = tilesAt33[1];
      let a0_2_3 = tilesAt33[2];
      let a0_3_3 = tilesAt33[3];
      let tilesAt34 = tiles[remainder + kk * 32 + 80];
      let b0_0_3 = tilesAt34[0];
      let b1_0_3 = tilesAt34[1];
      let b2_0_3 = tilesAt34[2];
      let b3_0_3 = tilesAt34[3];
      o0_0_0 = fma(a0_0_3, b0_0_3, o0_0_0);
      o0_0_1 = fma(a0_0_3, b1_0_3, o0_0_1);
      o0_0_2 = fma(a0_0_3, b2_0_3, o0_0_2);
      o0_0_3 = fma(a0_0_3, b3_0_3, o0_0_3);
      let tilesAt35 = tiles[remainder + kk * 32 + 88];
      let b0_1_3 = tilesAt35[0];
      let b1_1_3 = tilesAt35[1];
      let b2_1_3 = tilesAt35[2];
      let b3_1_3 = tilesAt35[3];
      o0_0_0 = fma(a0_1_3, b0_1_3, o0_0_0);
      o0_0_1 = fma(a0_1_3, b1_1_3, o0_0_1);
      o0_0_2 = fma(a0_1_3, b2_1_3, o0_0_2);
      o0_0_3 = fma(a0_1_3, b3_1_3, o0_0_3);
      let tilesAt36 = tiles[remainder + kk * 32 + 96];
      let b0_2_3 = tilesAt36[0];
      let b1_2_3 = tilesAt36[1];
      let b2_2_3 = tilesAt36[2];
      let b3_2_3 = tilesAt36[3];
      o0_0_0 = fma(a0_2_3, b0_2_3, o0_0_0);
      o0_0_1 = fma(a0_2_3, b1_2_3, o0_0_1);
      o0_0_2 = fma(a0_2_3, b2_2_3, o0_0_2);
      o0_0_3 = fma(a0_2_3, b3_2_3, o0_0_3);
      let tilesAt37 = tiles[remainder + kk * 32 + 104];
      let b0_3_3 = tilesAt37[0];
      let b1_3_3 = tilesAt37[1];
      let b2_3_3 = tilesAt37[2];
      let b3_3_3 = tilesAt37[3];
      o0_0_0 = fma(a0_3_3, b0_3_3, o0_0_0);
      o0_0_1 = fma(a0_3_3, b1_3_3, o0_0_1);
      o0_0_2 = fma(a0_3_3, b2_3_3, o0_0_2);
      o0_0_3 = fma(a0_3_3, b3_3_3, o0_0_3);
    }
  }
  workgroupBarrier();
  tiles[meDiv16 * 4 + quotient + meMod2 * 2][remainder0] = sum0;
  workgroupBarrier();
  var rowTops: array<f32, 1>;
  var rowTotals: array<f32, 1>;
  var all0: f32 = 0.0;
  let tilesAt38 = tiles[meDiv16 * 4 + meMod2 * 2];
  all0 = all0 + tilesAt38[0];
  all0 = all0 + tilesAt38[1];
  all0 = all0 + tilesAt38[2];
  all0 = all0 + tilesAt38[3];
  let tilesAt39 = tiles[meDiv16 * 4 + meMod2 * 2 + 1];
  all0 = all0 + tilesAt39[0];
  all0 = all0 + tilesAt39[1];
  all0 = all0 + tilesAt39[2];
  all0 = all0 + tilesAt39[3];
  let part0 = 1.0 / maximum(all0, 0.5);
  rowTops[0] = top0;
  rowTotals[0] = all0;
  var results0: array<f32, 4>;
  results0[0] = o0_0_0 * part0;
  results0[1] = o0_0_1 * part0;
  results0[2] = o0_0_2 * part0;
  results0[3] = o0_0_3 * part0;
  let atMe9 = remainder * 4;
  let column = remainder * 4;
  let atBatch = column + row0 * 8 + batch * 32;
  if ((row0 <= 3) & (atMe9 <= 7)) {
    dotGeneral[atBatch] = results0[0];
  }
  let column0 = remainder * 4 + 1;
  let atBatch0 = column0 + row0 * 8 + batch * 32;
  if ((row0 <= 3) & (atMe9 <= 6)) {
    dotGeneral[atBatch0] = results0[1];
  }
  let column1 = remainder * 4 + 2;
  let atBatch1 = column1 + row0 * 8 + batch * 32;
  if ((row0 <= 3) & (atMe9 <= 5)) {
    dotGeneral[atBatch1] = results0[2];
  }
  let column2 = remainder * 4 + 3;
  let atBatch2 = column2 + row0 * 8 + batch * 32;
  if ((row0 <= 3) & (atMe9 <= 4)) {
    dotGeneral[atBatch2] = results0[3];
  }
}
