// attention on a grid of 1 × 2 × 1
@group(0) @binding(0) var<storage, read> q_: array<f32>;
@group(0) @binding(1) var<storage, read> k_: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> dotGeneral: array<f32>;

var<workgroup> rowTile: array<vec4<f32>, 80>;

var<workgroup> lineTile: array<vec4<f32>, 256>;

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

@compute @workgroup_size(128)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let batch = i32(workgroup.y);
  let tile = i32(workgroup.x);
  let meDiv8 = lid / 8;
  var top0: f32 = -3.4028234663852886e+38;
  var sum0: f32 = 0.0;
  var o0_0_0: f32 = 0.0;
  var o0_0_1: f32 = 0.0;
  var o0_0_2: f32 = 0.0;
  var o0_0_3: f32 = 0.0;
  let meMod8 = lid % 8;
  let line0 = meMod8 * 4;
  let meDiv16 = lid / 16;
  let meMod16 = lid % 16;
  let atBatch = batch * 32;
  let atMe = atBatch + meDiv16 * 8 + meMod16;
  let meDiv64 = lid / 64;
  let atMe0 = meDiv64 + meMod16 * 5;
  let remainder = meDiv16 % 4;
  let atMe1 = meMod8 * 4;
  let atMe2 = line0 + meDiv16;
  let atMe3 = atBatch + line0 * 8 + meDiv16 * 8 + meMod16 - meMod8 * 32;
  let atMe4 = meDiv64 + meMod16 * 16;
  let meDiv32 = lid / 32;
  let remainder0 = meDiv8 % 4;
  let meDiv4 = lid / 4;
  let meMod4 = lid % 4;
  let atMe5 = meDiv8 * 2;
  let quotient = meMod8 / 4;
  let atMe6 = meDiv32 + meMod8 * 20;
  let meMod32 = lid % 32;
  let atMe7 = atBatch + meDiv32 * 8 + meMod32;
  let quotient0 = meMod32 / 4;
  let atMe8 = meDiv32 * 16 + quotient0;
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
      rowTile[atMe0][remainder] = select(0.0, q_[atMe], (meDiv16 <= 3) & (meMod16 <= 7));
      rowTile[atMe0 + 2][remainder] = 0.0;
      lineTile[atMe4][remainder] = select(0.0, k_[atMe3], (atMe2 <= atMe1 + 3) & (meMod16 <= 7));
      lineTile[atMe4 + 2][remainder] = select(0.0, k_[atMe3 + 64], (atMe2 + 5 <= atMe1) & (meMod16 <= 7));
      lineTile[atMe4 + 4][remainder] = select(0.0, k_[atMe3 + 128], (atMe2 + 13 <= atMe1) & (meMod16 <= 7));
      lineTile[atMe4 + 6][remainder] = select(0.0, k_[atMe3 + 192], (atMe2 + 21 <= atMe1) & (meMod16 <= 7));
      lineTile[atMe4 + 8][remainder] = 0.0;
      lineTile[atMe4 + 10][remainder] = 0.0;
      lineTile[atMe4 + 12][remainder] = 0.0;
      lineTile[atMe4 + 14][remainder] = 0.0;
      workgroupBarrier();
      for (var kk = 0; kk < 16; kk++) {
        let a0 = rowTile[meDiv32 + kk * 5][remainder0];
        let lineTileAt = lineTile[meMod8 + kk * 16];
        let b0 = lineTileAt[0];
        let b1 = lineTileAt[1];
        let b2 = lineTileAt[2];
        let b3 = lineTileAt[3];
        let lineTileAt0 = lineTile[meMod8 + kk * 16 + 8];
        let b4 = lineTileAt0[0];
        let b5 = lineTileAt0[1];
        let b6 = lineTileAt0[2];
        let b7 = lineTileAt0[3];
        s0_0 = fma(a0, b0, s0_0);
        s0_1 = fma(a0, b1, s0_1);
        s0_2 = fma(a0, b2, s0_2);
        s0_3 = fma(a0, b3, s0_3);
        s0_4 = fma(a0, b4, s0_4);
        s0_5 = fma(a0, b5, s0_5);
        s0_6 = fma(a0, b6, s0_6);
        s0_7 = fma(a0, b7, s0_7);
      }
    }
    s0_0 = select(-infinity(), select(-1.7014117e+38, s0_0 * 0.35355338, line0 <= meDiv8), line0 <= 3);
    s0_1 = select(-infinity(), select(-1.7014117e+38, s0_1 * 0.35355338, line0 + 1 <= meDiv8), line0 <= 2);
    s0_2 = select(-infinity(), select(-1.7014117e+38, s0_2 * 0.35355338, line0 + 2 <= meDiv8), line0 <= 1);
    s0_3 = select(-infinity(), select(-1.7014117e+38, s0_3 * 0.35355338, line0 + 3 <= meDiv8), line0 <= 0);
    s0_4 = -infinity();
    s0_5 = -infinity();
    s0_6 = -infinity();
    s0_7 = -infinity();
    var new0: f32 = -3.4028234663852886e+38;
    new0 = select(new0, s0_0, new0 < s0_0);
    new0 = select(new0, s0_1, new0 < s0_1);
    new0 = select(new0, s0_2, new0 < s0_2);
    new0 = select(new0, s0_3, new0 < s0_3);
    new0 = select(new0, s0_4, new0 < s0_4);
    new0 = select(new0, s0_5, new0 < s0_5);
    new0 = select(new0, s0_6, new0 < s0_6);
    new0 = select(new0, s0_7, new0 < s0_7);
    workgroupBarrier();
    lineTile[meDiv4][meMod4] = new0;
    workgroupBarrier();
    new0 = top0;
    let lineTileAt1 = lineTile[atMe5];
    let lineTileAt2 = lineTileAt1[0];
    new0 = select(new0, lineTileAt2, new0 < lineTileAt2);
    let lineTileAt3 = lineTileAt1[1];
    new0 = select(new0, lineTileAt3, new0 < lineTileAt3);
    let lineTileAt4 = lineTileAt1[2];
    new0 = select(new0, lineTileAt4, new0 < lineTileAt4);
    let lineTileAt5 = lineTileAt1[3];
    new0 = select(new0, lineTileAt5, new0 < lineTileAt5);
    let lineTileAt6 = lineTile[atMe5 + 1];
    let lineTileAt7 = lineTileAt6[0];
    new0 = select(new0, lineTileAt7, new0 < lineTileAt7);
    let lineTileAt8 = lineTileAt6[1];
    new0 = select(new0, lineTileAt8, new0 < lineTileAt8);
    let lineTileAt9 = lineTileAt6[2];
    new0 = select(new0, lineTileAt9, new0 < lineTileAt9);
    let lineTileAt10 = lineTileAt6[3];
    new0 = select(new0, lineTileAt10, new0 < lineTileAt10);
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
    if (quotient == 0) {
      rowTile[atMe6][remainder0] = s0_0;
      rowTile[atMe6 + 5][remainder0] = s0_1;
      rowTile[atMe6 + 10][remainder0] = s0_2;
      rowTile[atMe6 + 15][remainder0] = s0_3;
    }
    lineTile[atMe8][meMod4] = select(0.0, v[atMe7], meMod32 <= 7);
    lineTile[atMe8 + 64][meMod4] = 0.0;
    lineTile[atMe8 + 128][meMod4] = 0.0;
    lineTile[atMe8 + 192][meMod4] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0_0 = rowTile[meDiv32 + kk * 5][remainder0];
      let lineTileAt11 = lineTile[meMod8 + kk * 16];
      let b0_0 = lineTileAt11[0];
      let b1_0 = lineTileAt11[1];
      let b2_0 = lineTileAt11[2];
      let b3_0 = lineTileAt11[3];
      o0_0_0 = fma(a0_0, b0_0, o0_0_0);
      o0_0_1 = fma(a0_0, b1_0, o0_0_1);
      o0_0_2 = fma(a0_0, b2_0, o0_0_2);
      o0_0_3 = fma(a0_0, b3_0, o0_0_3);
    }
    workgroupBarrier();
    if (quotient == 1) {
      rowTile[atMe6 - 80][remainder0] = s0_0;
      rowTile[atMe6 - 75][remainder0] = s0_1;
      rowTile[atMe6 - 70][remainder0] = s0_2;
      rowTile[atMe6 - 65][remainder0] = s0_3;
    }
    lineTile[atMe8][meMod4] = 0.0;
    lineTile[atMe8 + 64][meMod4] = 0.0;
    lineTile[atMe8 + 128][meMod4] = 0.0;
    lineTile[atMe8 + 192][meMod4] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0_1 = rowTile[meDiv32 + kk * 5][remainder0];
      let lineTileAt12 = lineTile[meMod8 + kk * 16];
      let b0_1 = lineTileAt12[0];
      let b1_1 = lineTileAt12[1];
      let b2_1 = lineTileAt12[2];
      let b3_1 = lineTileAt12[3];
      o0_0_0 = fma(a0_1, b0_1, o0_0_0);
      o0_0_1 = fma(a0_1, b1_1, o0_0_1);
      o0_0_2 = fma(a0_1, b2_1, o0_0_2);
      o0_0_3 = fma(a0_1, b3_1, o0_0_3);
    }
    workgroupBarrier();
    if (quotient == 0) {
      rowTile[atMe6][remainder0] = s0_4;
      rowTile[atMe6 + 5][remainder0] = s0_5;
      rowTile[atMe6 + 10][remainder0] = s0_6;
      rowTile[atMe6 + 15][remainder0] = s0_7;
    }
    lineTile[atMe8][meMod4] = 0.0;
    lineTile[atMe8 + 64][meMod4] = 0.0;
    lineTile[atMe8 + 128][meMod4] = 0.0;
    lineTile[atMe8 + 192][meMod4] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0_2 = rowTile[meDiv32 + kk * 5][remainder0];
      let lineTileAt13 = lineTile[meMod8 + kk * 16];
      let b0_2 = lineTileAt13[0];
      let b1_2 = lineTileAt13[1];
      let b2_2 = lineTileAt13[2];
      let b3_2 = lineTileAt13[3];
      o0_0_0 = fma(a0_2, b0_2, o0_0_0);
      o0_0_1 = fma(a0_2, b1_2, o0_0_1);
      o0_0_2 = fma(a0_2, b2_2, o0_0_2);
      o0_0_3 = fma(a0_2, b3_2, o0_0_3);
    }
    workgroupBarrier();
    if (quotient == 1) {
      rowTile[atMe6 - 80][remainder0] = s0_4;
      rowTile[atMe6 - 75][remainder0] = s0_5;
      rowTile[atMe6 - 70][remainder0] = s0_6;
      rowTile[atMe6 - 65][remainder0] = s0_7;
    }
    lineTile[atMe8][meMod4] = 0.0;
    lineTile[atMe8 + 64][meMod4] = 0.0;
    lineTile[atMe8 + 128][meMod4] = 0.0;
    lineTile[atMe8 + 192][meMod4] = 0.0;
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0_3 = rowTile[meDiv32 + kk * 5][remainder0];
      let lineTileAt14 = lineTile[meMod8 + kk * 16];
      let b0_3 = lineTileAt14[0];
      let b1_3 = lineTileAt14[1];
      let b2_3 = lineTileAt14[2];
      let b3_3 = lineTileAt14[3];
      o0_0_0 = fma(a0_3, b0_3, o0_0_0);
      o0_0_1 = fma(a0_3, b1_3, o0_0_1);
      o0_0_2 = fma(a0_3, b2_3, o0_0_2);
      o0_0_3 = fma(a0_3, b3_3, o0_0_3);
    }
  }
  workgroupBarrier();
  lineTile[meDiv4][meMod4] = sum0;
  workgroupBarrier();
  var rowTops: array<f32, 1>;
  var rowTotals: array<f32, 1>;
  var all0: f32 = 0.0;
  let lineTileAt15 = lineTile[meDiv8 * 2];
  all0 = all0 + lineTileAt15[0];
  all0 = all0 + lineTileAt15[1];
  all0 = all0 + lineTileAt15[2];
  all0 = all0 + lineTileAt15[3];
  let lineTileAt16 = lineTile[meDiv8 * 2 + 1];
  all0 = all0 + lineTileAt16[0];
  all0 = all0 + lineTileAt16[1];
  all0 = all0 + lineTileAt16[2];
  all0 = all0 + lineTileAt16[3];
  let part0 = 1.0 / all0;
  rowTops[0] = top0;
  rowTotals[0] = all0;
  var results0: array<f32, 4>;
  results0[0] = o0_0_0 * part0;
  results0[1] = o0_0_1 * part0;
  results0[2] = o0_0_2 * part0;
  results0[3] = o0_0_3 * part0;
  let column = meMod8 * 4;
  let atMe9 = atBatch + column + meDiv8 * 8;
  if ((meDiv8 <= 3) & (atMe1 <= 7)) {
    dotGeneral[atMe9] = results0[0];
  }
  let column0 = meMod8 * 4 + 1;
  let atMe10 = atBatch + column0 + meDiv8 * 8;
  if ((meDiv8 <= 3) & (atMe1 <= 6)) {
    dotGeneral[atMe10] = results0[1];
  }
  let column1 = meMod8 * 4 + 2;
  let atMe11 = atBatch + column1 + meDiv8 * 8;
  if ((meDiv8 <= 3) & (atMe1 <= 5)) {
    dotGeneral[atMe11] = results0[2];
  }
  let column2 = meMod8 * 4 + 3;
  let atMe12 = atBatch + column2 + meDiv8 * 8;
  if ((meDiv8 <= 3) & (atMe1 <= 4)) {
    dotGeneral[atMe12] = results0[3];
  }
}
