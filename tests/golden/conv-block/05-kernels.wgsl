// conv_maximum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> weight: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> maximum0: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 512>;

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn maximum(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, isNan(b)), a, isNan(a));
}

@compute @workgroup_size(32)
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
  let meDiv16 = lid / 16;
  let meMod16 = lid % 16;
  let atMe = meDiv16 * 18 + meMod16;
  let atMe0 = meDiv16 + meMod16 * 17;
  let f = meDiv16 + 2;
  let atMe1 = f * 18 + meMod16;
  let f0 = meDiv16 + 4;
  let f1 = meDiv16 + 6;
  let f2 = meDiv16 + 8;
  let f3 = meDiv16 + 10;
  let f4 = meDiv16 + 12;
  let f5 = meDiv16 + 14;
  let meDiv4 = lid / 4;
  let remainder1 = meDiv4 % 4;
  let meMod4 = lid % 4;
  let atMe2 = meDiv16 * 32 + remainder1 * 4 + meMod4;
  let meDiv8 = lid / 8;
  let atMe3 = meDiv8 * 4;
  let meMod8 = lid % 8;
  let atMe4 = meMod8 * 4;
  for (var step = 0; step < 2; step++) {
    let quotient = (meMod16 + step * 16) / 9;
    let quotient0 = (meMod16 + step * 16) / 3;
    let remainder = quotient0 % 3;
    let remainder0 = (meMod16 + step * 16) % 3;
    let atStep = meMod16 + step * 16;
    let atStep0 = atMe + step * 16;
    tileA[atMe0] = select(0.0, weight[atStep0], atStep <= 17);
    let atStep1 = atMe1 + step * 16;
    tileA[atMe0 + 2] = select(0.0, weight[atStep1], (meDiv16 <= 0) & (atStep <= 17));
    tileA[atMe0 + 4] = 0.0;
    tileA[atMe0 + 6] = 0.0;
    tileA[atMe0 + 8] = 0.0;
    tileA[atMe0 + 10] = 0.0;
    tileA[atMe0 + 12] = 0.0;
    tileA[atMe0 + 14] = 0.0;
    let quotient1 = step * 16 / 9;
    let quotient2 = step * 16 / 3;
    let remainder2 = quotient2 % 3;
    let remainder3 = step * 16 % 3;
    let atStep2 = remainder1 + remainder2;
    let atStep3 = meMod4 + remainder3;
    let atStep4 = atMe2 + quotient1 * 16 + remainder2 * 4 + remainder3;
    tileB[lid] = select(0.0, x[atStep4 - 5], (0 < atStep2) & (atStep2 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    let quotient3 = (step * 16 + 1) / 9;
    let quotient4 = (step * 16 + 1) / 3;
    let remainder4 = quotient4 % 3;
    let remainder5 = (step * 16 + 1) % 3;
    let atStep5 = remainder1 + remainder4;
    let atStep6 = meMod4 + remainder5;
    let atStep7 = atMe2 + quotient3 * 16 + remainder4 * 4 + remainder5;
    tileB[lid + 32] = select(0.0, x[atStep7 - 5], (0 < atStep5) & (atStep5 <= 4) & (0 < atStep6) & (atStep6 <= 4));
    let quotient5 = (step * 16 + 2) / 9;
    let quotient6 = (step * 16 + 2) / 3;
    let remainder6 = quotient6 % 3;
    let remainder7 = (step * 16 + 2) % 3;
    let atStep8 = step * 16;
    let atStep9 = remainder1 + remainder6;
    let atStep10 = meMod4 + remainder7;
    let atStep11 = atMe2 + quotient5 * 16 + remainder6 * 4 + remainder7;
    tileB[lid + 64] = select(0.0, x[atStep11 - 5], (atStep8 <= 15) & (0 < atStep9) & (atStep9 <= 4) & (0 < atStep10) & (atStep10 <= 4));
    let quotient7 = (step * 16 + 3) / 9;
    let remainder8 = (quotient2 + 1) % 3;
    let atStep12 = remainder1 + remainder8;
    let atStep13 = atMe2 + quotient7 * 16 + remainder8 * 4 + remainder3;
    tileB[lid + 96] = select(0.0, x[atStep13 - 5], (atStep8 <= 14) & (0 < atStep12) & (atStep12 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    let quotient8 = (step * 16 + 4) / 9;
    let remainder9 = (quotient4 + 1) % 3;
    let atStep14 = remainder1 + remainder9;
    let atStep15 = atMe2 + quotient8 * 16 + remainder9 * 4 + remainder5;
    tileB[lid + 128] = select(0.0, x[atStep15 - 5], (atStep8 <= 13) & (0 < atStep14) & (atStep14 <= 4) & (0 < atStep6) & (atStep6 <= 4));
    let quotient9 = (step * 16 + 5) / 9;
    let remainder10 = (quotient6 + 1) % 3;
    let atStep16 = remainder1 + remainder10;
    let atStep17 = atMe2 + quotient9 * 16 + remainder10 * 4 + remainder7;
    tileB[lid + 160] = select(0.0, x[atStep17 - 5], (atStep8 <= 12) & (0 < atStep16) & (atStep16 <= 4) & (0 < atStep10) & (atStep10 <= 4));
    let quotient10 = (step * 16 + 6) / 9;
    let remainder11 = (quotient2 + 2) % 3;
    let atStep18 = remainder1 + remainder11;
    let atStep19 = atMe2 + quotient10 * 16 + remainder11 * 4 + remainder3;
    tileB[lid + 192] = select(0.0, x[atStep19 - 5], (atStep8 <= 11) & (0 < atStep18) & (atStep18 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    let quotient11 = (step * 16 + 7) / 9;
    let remainder12 = (quotient4 + 2) % 3;
    let atStep20 = remainder1 + remainder12;
    let atStep21 = atMe2 + quotient11 * 16 + remainder12 * 4 + remainder5;
    tileB[lid + 224] = select(0.0, x[atStep21 - 5], (atStep8 <= 10) & (0 < atStep20) & (atStep20 <= 4) & (0 < atStep6) & (atStep6 <= 4));
    let quotient12 = (step * 16 + 8) / 9;
    let remainder13 = (quotient6 + 2) % 3;
    let atStep22 = remainder1 + remainder13;
    let atStep23 = atMe2 + quotient12 * 16 + remainder13 * 4 + remainder7;
    tileB[lid + 256] = select(0.0, x[atStep23 - 5], (atStep8 <= 9) & (0 < atStep22) & (atStep22 <= 4) & (0 < atStep10) & (atStep10 <= 4));
    let c = quotient1 + 1;
    let atStep24 = atMe2 + c * 16 + remainder2 * 4 + remainder3;
    tileB[lid + 288] = select(0.0, x[atStep24 - 5], (atStep8 <= 8) & (0 < atStep2) & (atStep2 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    let c0 = quotient3 + 1;
    let atStep25 = atMe2 + c0 * 16 + remainder4 * 4 + remainder5;
    tileB[lid + 320] = select(0.0, x[atStep25 - 5], (atStep8 <= 7) & (0 < atStep5) & (atStep5 <= 4) & (0 < atStep6) & (atStep6 <= 4));
    let c1 = quotient5 + 1;
    let atStep26 = atMe2 + c1 * 16 + remainder6 * 4 + remainder7;
    tileB[lid + 352] = select(0.0, x[atStep26 - 5], (atStep8 <= 6) & (0 < atStep9) & (atStep9 <= 4) & (0 < atStep10) & (atStep10 <= 4));
    let c2 = quotient7 + 1;
    let atStep27 = atMe2 + c2 * 16 + remainder8 * 4 + remainder3;
    tileB[lid + 384] = select(0.0, x[atStep27 - 5], (atStep8 <= 5) & (0 < atStep12) & (atStep12 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    let c3 = quotient8 + 1;
    let atStep28 = atMe2 + c3 * 16 + remainder9 * 4 + remainder5;
    tileB[lid + 416] = select(0.0, x[atStep28 - 5], (atStep8 <= 4) & (0 < atStep14) & (atStep14 <= 4) & (0 < atStep6) & (atStep6 <= 4));
    let c4 = quotient9 + 1;
    let atStep29 = atMe2 + c4 * 16 + remainder10 * 4 + remainder7;
    tileB[lid + 448] = select(0.0, x[atStep29 - 5], (atStep8 <= 3) & (0 < atStep16) & (atStep16 <= 4) & (0 < atStep10) & (atStep10 <= 4));
    let c5 = quotient10 + 1;
    let atStep30 = atMe2 + c5 * 16 + remainder11 * 4 + remainder3;
    tileB[lid + 480] = select(0.0, x[atStep30 - 5], (atStep8 <= 2) & (0 < atStep18) & (atStep18 <= 4) & (0 < atStep3) & (atStep3 <= 4));
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe3 + kk * 17];
      let a1 = tileA[atMe3 + kk * 17 + 1];
      let a2 = tileA[atMe3 + kk * 17 + 2];
      let a3 = tileA[atMe3 + kk * 17 + 3];
      let b0 = tileB[atMe4 + kk * 32];
      let b1 = tileB[atMe4 + kk * 32 + 1];
      let b2 = tileB[atMe4 + kk * 32 + 2];
      let b3 = tileB[atMe4 + kk * 32 + 3];
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
  let quotient13 = meMod8 / 4;
  let atMe5 = quotient13 * 48 + meMod4 * 4;
  for (var r = 0; r < 4; r++) {
    let f6 = atMe3 + r;
    let atR = r * 4;
    let atMe6 = atMe5 + f6 * 16;
    if (atMe3 + r <= 2) {
      for (var s = 0; s < 4; s++) {
        let atS = atR + s;
        let atS0 = atMe6 + s;
        if (true) {
          maximum0[atS0] = maximum(sums[atS] + bias[f6], 0.0);
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
@group(0) @binding(0) var<storage, read> reduceMax: array<f32>;
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
    tileA[atMe] = select(0.0, reduceMax[lid], lid <= 11);
    tileA[atMe + 1] = select(0.0, reduceMax[lid + 12], lid <= 11);
    tileA[atMe + 2] = 0.0;
    tileA[atMe + 3] = 0.0;
    tileA[atMe + 4] = 0.0;
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
    tileB[atMe] = select(0.0, weight[lid], lid <= 11);
    tileB[atMe + 1] = select(0.0, weight[lid + 12], lid <= 11);
    tileB[atMe + 2] = select(0.0, weight[lid + 24], lid <= 11);
    tileB[atMe + 3] = select(0.0, weight[lid + 36], lid <= 11);
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
    if (atMe0 + r <= 1) {
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
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
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
  let atMe = lid * 17;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe] = select(0.0, add[lid], lid <= 3);
    tileA[atMe + 1] = select(0.0, add[lid + 4], lid <= 3);
    tileA[atMe + 2] = 0.0;
    tileA[atMe + 3] = 0.0;
    tileA[atMe + 4] = 0.0;
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
    tileB[lid] = select(0.0, weight[lid], lid <= 11);
    tileB[lid + 16] = select(0.0, weight[lid + 12], lid <= 11);
    tileB[lid + 32] = select(0.0, weight[lid + 24], lid <= 11);
    tileB[lid + 48] = select(0.0, weight[lid + 36], lid <= 11);
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
    let atR = r * 4;
    let size = i0 * 12;
    if (atMe0 + r <= 1) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atS = atR + s;
        let size0 = size + i1;
        if (atMe1 + s <= 11) {
          dotGeneral[size0] = sums[atS];
        }
      }
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
@group(0) @binding(0) var<storage, read> select0: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> weight: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 512>;

@compute @workgroup_size(32)
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
  let meDiv16 = lid / 16;
  let meMod16 = lid % 16;
  let quotient = meMod16 / 4;
  let meMod4 = lid % 4;
  let atMe = meDiv16 * 16 + quotient * 4 + meMod4;
  let atMe0 = meDiv16 + meMod16 * 17;
  let f = meDiv16 + 2;
  let atMe1 = f * 16 + quotient * 4 + meMod4;
  let f0 = meDiv16 + 4;
  let f1 = meDiv16 + 6;
  let f2 = meDiv16 + 8;
  let f3 = meDiv16 + 10;
  let f4 = meDiv16 + 12;
  let f5 = meDiv16 + 14;
  let meDiv9 = lid / 9;
  let meDiv3 = lid / 3;
  let remainder = meDiv3 % 3;
  let meMod3 = lid % 3;
  let atMe2 = meDiv9 * 16 + remainder * 4 + meMod3;
  let meDiv8 = lid / 8;
  let atMe3 = meDiv8 * 4;
  let meMod8 = lid % 8;
  let atMe4 = meMod8 * 4;
  for (var step = 0; step < 2; step++) {
    let atStep = atMe + step * 48;
    tileA[atMe0] = select0[atStep];
    let atStep0 = atMe1 + step * 48;
    tileA[atMe0 + 2] = select(0.0, select0[atStep0], meDiv16 <= 0);
    tileA[atMe0 + 4] = 0.0;
    tileA[atMe0 + 6] = 0.0;
    tileA[atMe0 + 8] = 0.0;
    tileA[atMe0 + 10] = 0.0;
    tileA[atMe0 + 12] = 0.0;
    tileA[atMe0 + 14] = 0.0;
    let atStep1 = atMe2 + step * 32;
    tileB[lid] = select(0.0, x[atStep1 - 5], (lid <= 17) & (0 < remainder) & (0 < meMod3));
    tileB[lid + 32] = select(0.0, x[atStep1 - 4], (lid <= 17) & (0 < remainder));
    tileB[lid + 64] = select(0.0, x[atStep1 - 3], (lid <= 17) & (0 < remainder));
    tileB[lid + 96] = select(0.0, x[atStep1 - 2], (lid <= 17) & (0 < remainder) & (meMod3 <= 1));
    tileB[lid + 128] = select(0.0, x[atStep1 - 1], (lid <= 17) & (0 < meMod3));
    tileB[lid + 160] = select(0.0, x[atStep1], lid <= 17);
    tileB[lid + 192] = select(0.0, x[atStep1 + 1], lid <= 17);
    tileB[lid + 224] = select(0.0, x[atStep1 + 2], (lid <= 17) & (meMod3 <= 1));
    tileB[lid + 256] = select(0.0, x[atStep1 + 3], (lid <= 17) & (0 < meMod3));
    tileB[lid + 288] = select(0.0, x[atStep1 + 4], lid <= 17);
    tileB[lid + 320] = select(0.0, x[atStep1 + 5], lid <= 17);
    tileB[lid + 352] = select(0.0, x[atStep1 + 6], (lid <= 17) & (meMod3 <= 1));
    tileB[lid + 384] = select(0.0, x[atStep1 + 7], (lid <= 17) & (remainder <= 1) & (0 < meMod3));
    tileB[lid + 416] = select(0.0, x[atStep1 + 8], (lid <= 17) & (remainder <= 1));
    tileB[lid + 448] = select(0.0, x[atStep1 + 9], (lid <= 17) & (remainder <= 1));
    tileB[lid + 480] = select(0.0, x[atStep1 + 10], (lid <= 17) & (remainder <= 1) & (meMod3 <= 1));
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe3 + kk * 17];
      let a1 = tileA[atMe3 + kk * 17 + 1];
      let a2 = tileA[atMe3 + kk * 17 + 2];
      let a3 = tileA[atMe3 + kk * 17 + 3];
      let b0 = tileB[atMe4 + kk * 32];
      let b1 = tileB[atMe4 + kk * 32 + 1];
      let b2 = tileB[atMe4 + kk * 32 + 2];
      let b3 = tileB[atMe4 + kk * 32 + 3];
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
  let f6 = meDiv8 * 4;
  if ((meMod8 * 4 <= 0) & (meDiv8 * 4 <= 2)) {
    bias[f6] = bias[f6] - sidea0_0 * 0.1;
  }
  let f7 = meDiv8 * 4 + 1;
  if ((meMod8 * 4 <= 0) & (meDiv8 * 4 <= 1)) {
    bias[f7] = bias[f7] - sidea0_1 * 0.1;
  }
  let f8 = meDiv8 * 4 + 2;
  if ((meMod8 * 4 <= 0) & (meDiv8 * 4 <= 0)) {
    bias[f8] = bias[f8] - sidea0_2 * 0.1;
  }
  let f9 = meDiv8 * 4 + 3;
  if (false) {
    bias[f9] = bias[f9] - sidea0_3 * 0.1;
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
    let f10 = atMe3 + r;
    let atMe5 = atMe4 + f10 * 18;
    let atR = r * 4;
    if (atMe3 + r <= 2) {
      for (var s = 0; s < 4; s++) {
        let quotient0 = (atMe4 + s) / 9;
        let quotient1 = (atMe4 + s) / 3;
        let remainder0 = quotient1 % 3;
        let remainder1 = (atMe4 + s) % 3;
        let atS = atMe5 + s;
        let atS0 = atR + s;
        if (atMe4 + s <= 17) {
          weight[atS] = weight[atS] - sums[atS0] * 0.1;
        }
      }
    }
  }
}

// matmul_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> add: array<f32>;
@group(0) @binding(1) var<storage, read> reduceMax: array<f32>;
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
    tileA[lid + 32] = 0.0;
    tileA[lid + 48] = 0.0;
    tileA[lid + 64] = 0.0;
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
    tileB[lid] = select(0.0, reduceMax[lid], lid <= 11);
    tileB[lid + 16] = select(0.0, reduceMax[lid + 12], lid <= 11);
    tileB[lid + 32] = 0.0;
    tileB[lid + 48] = 0.0;
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
    let size = i0_3 * 12;
    let atR = r * 4;
    if (atMe + r <= 3) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe0 + s;
        let size0 = size + i1;
        let atS = atR + s;
        if (atMe0 + s <= 11) {
          weight[size0] = weight[size0] - sums[atS] * 0.1;
        }
      }
    }
  }
}
