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
  let atMe = meDiv16 + meMod16 * 17;
  let meDiv4 = lid / 4;
  let remainder1 = meDiv4 % 4;
  let meMod4 = lid % 4;
  let atY0 = meMod4 + meDiv16 * 32 + remainder1 * 4;
  let meDiv8 = lid / 8;
  let atMe0 = meDiv8 * 4;
  let meMod8 = lid % 8;
  let atMe1 = meMod8 * 4;
  for (var step = 0; step < 2; step++) {
    let quotient = (meMod16 + step * 16) / 9;
    let quotient0 = (meMod16 + step * 16) / 3;
    let remainder = quotient0 % 3;
    let remainder0 = (meMod16 + step * 16) % 3;
    let atStep = meMod16 + step * 16;
    let atC = remainder0 + remainder * 3 + quotient * 9;
    tileA[atMe] = select(0.0, weight[atC + meDiv16 * 18], atStep <= 17);
    let f = meDiv16 + 2;
    tileA[atMe + 2] = select(0.0, weight[atC + f * 18], (meDiv16 <= 0) & (atStep <= 17));
    let f0 = meDiv16 + 4;
    tileA[atMe + 4] = 0.0;
    let f1 = meDiv16 + 6;
    tileA[atMe + 6] = 0.0;
    let f2 = meDiv16 + 8;
    tileA[atMe + 8] = 0.0;
    let f3 = meDiv16 + 10;
    tileA[atMe + 10] = 0.0;
    let f4 = meDiv16 + 12;
    tileA[atMe + 12] = 0.0;
    let f5 = meDiv16 + 14;
    tileA[atMe + 14] = 0.0;
    let quotient1 = step * 16 / 9;
    let quotient2 = step * 16 / 3;
    let remainder2 = quotient2 % 3;
    let remainder3 = step * 16 % 3;
    tileB[lid] = select(0.0, x[atY0 + remainder3 + quotient1 * 16 + remainder2 * 4 - 5], (0 < remainder1 + remainder2) & (remainder1 + remainder2 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    let quotient3 = (step * 16 + 1) / 9;
    let quotient4 = (step * 16 + 1) / 3;
    let remainder4 = quotient4 % 3;
    let remainder5 = (step * 16 + 1) % 3;
    tileB[lid + 32] = select(0.0, x[atY0 + remainder5 + quotient3 * 16 + remainder4 * 4 - 5], (0 < remainder1 + remainder4) & (remainder1 + remainder4 <= 4) & (0 < meMod4 + remainder5) & (meMod4 + remainder5 <= 4));
    let quotient5 = (step * 16 + 2) / 9;
    let quotient6 = (step * 16 + 2) / 3;
    let remainder6 = quotient6 % 3;
    let remainder7 = (step * 16 + 2) % 3;
    let atStep0 = step * 16;
    tileB[lid + 64] = select(0.0, x[atY0 + remainder7 + quotient5 * 16 + remainder6 * 4 - 5], (atStep0 <= 15) & (0 < remainder1 + remainder6) & (remainder1 + remainder6 <= 4) & (0 < meMod4 + remainder7) & (meMod4 + remainder7 <= 4));
    let quotient7 = (step * 16 + 3) / 9;
    let remainder8 = (quotient2 + 1) % 3;
    tileB[lid + 96] = select(0.0, x[atY0 + remainder3 + quotient7 * 16 + remainder8 * 4 - 5], (atStep0 <= 14) & (0 < remainder1 + remainder8) & (remainder1 + remainder8 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    let quotient8 = (step * 16 + 4) / 9;
    let remainder9 = (quotient4 + 1) % 3;
    tileB[lid + 128] = select(0.0, x[atY0 + remainder5 + quotient8 * 16 + remainder9 * 4 - 5], (atStep0 <= 13) & (0 < remainder1 + remainder9) & (remainder1 + remainder9 <= 4) & (0 < meMod4 + remainder5) & (meMod4 + remainder5 <= 4));
    let quotient9 = (step * 16 + 5) / 9;
    let remainder10 = (quotient6 + 1) % 3;
    tileB[lid + 160] = select(0.0, x[atY0 + remainder7 + quotient9 * 16 + remainder10 * 4 - 5], (atStep0 <= 12) & (0 < remainder1 + remainder10) & (remainder1 + remainder10 <= 4) & (0 < meMod4 + remainder7) & (meMod4 + remainder7 <= 4));
    let quotient10 = (step * 16 + 6) / 9;
    let remainder11 = (quotient2 + 2) % 3;
    tileB[lid + 192] = select(0.0, x[atY0 + remainder3 + quotient10 * 16 + remainder11 * 4 - 5], (atStep0 <= 11) & (0 < remainder1 + remainder11) & (remainder1 + remainder11 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    let quotient11 = (step * 16 + 7) / 9;
    let remainder12 = (quotient4 + 2) % 3;
    tileB[lid + 224] = select(0.0, x[atY0 + remainder5 + quotient11 * 16 + remainder12 * 4 - 5], (atStep0 <= 10) & (0 < remainder1 + remainder12) & (remainder1 + remainder12 <= 4) & (0 < meMod4 + remainder5) & (meMod4 + remainder5 <= 4));
    let quotient12 = (step * 16 + 8) / 9;
    let remainder13 = (quotient6 + 2) % 3;
    tileB[lid + 256] = select(0.0, x[atY0 + remainder7 + quotient12 * 16 + remainder13 * 4 - 5], (atStep0 <= 9) & (0 < remainder1 + remainder13) & (remainder1 + remainder13 <= 4) & (0 < meMod4 + remainder7) & (meMod4 + remainder7 <= 4));
    let c = quotient1 + 1;
    tileB[lid + 288] = select(0.0, x[atY0 + remainder3 + c * 16 + remainder2 * 4 - 5], (atStep0 <= 8) & (0 < remainder1 + remainder2) & (remainder1 + remainder2 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    let c0 = quotient3 + 1;
    tileB[lid + 320] = select(0.0, x[atY0 + remainder5 + c0 * 16 + remainder4 * 4 - 5], (atStep0 <= 7) & (0 < remainder1 + remainder4) & (remainder1 + remainder4 <= 4) & (0 < meMod4 + remainder5) & (meMod4 + remainder5 <= 4));
    let c1 = quotient5 + 1;
    tileB[lid + 352] = select(0.0, x[atY0 + remainder7 + c1 * 16 + remainder6 * 4 - 5], (atStep0 <= 6) & (0 < remainder1 + remainder6) & (remainder1 + remainder6 <= 4) & (0 < meMod4 + remainder7) & (meMod4 + remainder7 <= 4));
    let c2 = quotient7 + 1;
    tileB[lid + 384] = select(0.0, x[atY0 + remainder3 + c2 * 16 + remainder8 * 4 - 5], (atStep0 <= 5) & (0 < remainder1 + remainder8) & (remainder1 + remainder8 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    let c3 = quotient8 + 1;
    tileB[lid + 416] = select(0.0, x[atY0 + remainder5 + c3 * 16 + remainder9 * 4 - 5], (atStep0 <= 4) & (0 < remainder1 + remainder9) & (remainder1 + remainder9 <= 4) & (0 < meMod4 + remainder5) & (meMod4 + remainder5 <= 4));
    let c4 = quotient9 + 1;
    tileB[lid + 448] = select(0.0, x[atY0 + remainder7 + c4 * 16 + remainder10 * 4 - 5], (atStep0 <= 3) & (0 < remainder1 + remainder10) & (remainder1 + remainder10 <= 4) & (0 < meMod4 + remainder7) & (meMod4 + remainder7 <= 4));
    let c5 = quotient10 + 1;
    tileB[lid + 480] = select(0.0, x[atY0 + remainder3 + c5 * 16 + remainder11 * 4 - 5], (atStep0 <= 2) & (0 < remainder1 + remainder11) & (remainder1 + remainder11 <= 4) & (0 < meMod4 + remainder3) & (meMod4 + remainder3 <= 4));
    workgroupBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe0 + kk * 17];
      let a1 = tileA[atMe0 + kk * 17 + 1];
      let a2 = tileA[atMe0 + kk * 17 + 2];
      let a3 = tileA[atMe0 + kk * 17 + 3];
      let b0 = tileB[atMe1 + kk * 32];
      let b1 = tileB[atMe1 + kk * 32 + 1];
      let b2 = tileB[atMe1 + kk * 32 + 2];
      let b3 = tileB[atMe1 + kk * 32 + 3];
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
  let atN = meMod4 * 4 + quotient13 * 48;
  for (var r = 0; r < 4; r++) {
    let f6 = atMe0 + r;
    let atR = r * 4;
    let atN0 = atN + f6 * 16;
    if (atMe0 + r <= 2) {
      for (var s = 0; s < 4; s++) {
        let atR0 = atR + s;
        let atN1 = atN0 + s;
        if (true) {
          maximum0[atN1] = maximum(sums[atR0] + bias[f6], 0.0);
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
  let atI2 = localMod2 * 2 + localDiv12 * 48 + remainder * 8;
  let atI2_0 = localMod2 * 4 + localDiv12 * 48 + remainder * 8;
  let atI2_1 = localMod2 + localDiv12 * 12 + remainder * 2;
  if (lid <= 23) {
    var max0: f32 = -infinity();
    var argMax1: i32 = 0;
    var argMax1Best: f32 = -infinity();
    let maximumAt = maximum0[atI2];
    max0 = maximum(max0, maximumAt);
    let value = maximumAt;
    if ((argMax1Best < value || isNan(value)) && !isNan(argMax1Best)) {
      argMax1Best = value;
      argMax1 = 0;
    }
    let maximumAt0 = maximum0[atI2 + 1];
    max0 = maximum(max0, maximumAt0);
    let value0 = maximumAt0;
    if ((argMax1Best < value0 || isNan(value0)) && !isNan(argMax1Best)) {
      argMax1Best = value0;
      argMax1 = 1;
    }
    let maximumAt1 = maximum0[atI2 + 4];
    max0 = maximum(max0, maximumAt1);
    let value1 = maximumAt1;
    if ((argMax1Best < value1 || isNan(value1)) && !isNan(argMax1Best)) {
      argMax1Best = value1;
      argMax1 = 2;
    }
    let maximumAt2 = maximum0[atI2 + 5];
    max0 = maximum(max0, maximumAt2);
    let value2 = maximumAt2;
    if ((argMax1Best < value2 || isNan(value2)) && !isNan(argMax1Best)) {
      argMax1Best = value2;
      argMax1 = 3;
    }
    equal[atI2_0] = select(0u, 1u, 0 == argMax1);
    equal[atI2_0 + 1] = select(0u, 1u, 1 == argMax1);
    equal[atI2_0 + 2] = select(0u, 1u, 2 == argMax1);
    equal[atI2_0 + 3] = select(0u, 1u, 3 == argMax1);
    reduceMax[atI2_1] = max0;
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
    tileA[atMe] = select(0.0, reduceMax[lid + 0 * 12], lid <= 11);
    tileA[atMe + 1] = select(0.0, reduceMax[lid + 1 * 12], lid <= 11);
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
    tileB[atMe] = select(0.0, weight[lid + 0 * 12], lid <= 11);
    tileB[atMe + 1] = select(0.0, weight[lid + 1 * 12], lid <= 11);
    tileB[atMe + 2] = select(0.0, weight[lid + 2 * 12], lid <= 11);
    tileB[atMe + 3] = select(0.0, weight[lid + 3 * 12], lid <= 11);
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
    let atI0 = i0 * 4;
    if (atMe0 + r <= 1) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atR0 = atR + s;
        let atI0_0 = atI0 + i1;
        if (atMe1 + s <= 3) {
          add[atI0_0] = sums[atR0] + bias[i1];
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
  return workgroupUniformLoad(&partials_f32[0]);
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
    let atI0 = row * 4;
    max0 = maximum(max0, add[atI0]);
    let classesAt = classes[row];
    sum4 = sum4 + -select(0.0, -0.5, 0 == classesAt);
    max0 = maximum(max0, add[atI0 + 1]);
    sum4 = sum4 + -select(0.0, -0.5, 1 == classesAt);
    max0 = maximum(max0, add[atI0 + 2]);
    sum4 = sum4 + -select(0.0, -0.5, 2 == classesAt);
    max0 = maximum(max0, add[atI0 + 3]);
    sum4 = sum4 + -select(0.0, -0.5, 3 == classesAt);
    var sum1: f32 = 0.0;
    sum1 = sum1 + expOf(add[atI0] - max0);
    sum1 = sum1 + expOf(add[atI0 + 1] - max0);
    sum1 = sum1 + expOf(add[atI0 + 2] - max0);
    sum1 = sum1 + expOf(add[atI0 + 3] - max0);
    var sum2: f32 = 0.0;
    let classesAt0 = classes[row];
    let t = 0 == classesAt0;
    let t0 = add[atI0] - max0;
    let t1 = logOf(sum1);
    sum2 = sum2 + select(0.0, t0 - t1, t);
    let t2 = sum4 / sum1;
    add2[atI0] = select(0.0, -0.5, t) + t2 * expOf(t0);
    let t3 = 1 == classesAt0;
    let t4 = add[atI0 + 1] - max0;
    sum2 = sum2 + select(0.0, t4 - t1, t3);
    add2[atI0 + 1] = select(0.0, -0.5, t3) + t2 * expOf(t4);
    let t5 = 2 == classesAt0;
    let t6 = add[atI0 + 2] - max0;
    sum2 = sum2 + select(0.0, t6 - t1, t5);
    add2[atI0 + 2] = select(0.0, -0.5, t5) + t2 * expOf(t6);
    let t7 = 3 == classesAt0;
    let t8 = add[atI0 + 3] - max0;
    sum2 = sum2 + select(0.0, t8 - t1, t7);
    add2[atI0 + 3] = select(0.0, -0.5, t7) + t2 * expOf(t8);
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
    tileA[atMe] = select(0.0, add[lid + 0 * 4], lid <= 3);
    tileA[atMe + 1] = select(0.0, add[lid + 1 * 4], lid <= 3);
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
    tileB[lid] = select(0.0, weight[lid + 0 * 12], lid <= 11);
    tileB[lid + 16] = select(0.0, weight[lid + 1 * 12], lid <= 11);
    tileB[lid + 32] = select(0.0, weight[lid + 2 * 12], lid <= 11);
    tileB[lid + 48] = select(0.0, weight[lid + 3 * 12], lid <= 11);
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
    let atI0 = i0 * 12;
    if (atMe0 + r <= 1) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atR0 = atR + s;
        let atI0_0 = atI0 + i1;
        if (atMe1 + s <= 11) {
          dotGeneral[atI0_0] = sums[atR0];
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
  let i2Mod2 = remainder % 2;
  let i3Mod2 = localMod4 % 2;
  let i3Div2 = localMod4 / 2;
  let i2Div2 = remainder / 2;
  let atI2 = i1 * 16 + i3Div2 * 4 + i2Div2 * 8;
  let atI1 = i3Div2 + i2Div2 * 2 + i1 * 4;
  let remainder0 = (localMod4 + 1) % 2;
  let quotient = (localMod4 + 1) / 2;
  let atI2_0 = i1 * 16 + quotient * 4 + i2Div2 * 8;
  let atI1_0 = quotient + i2Div2 * 2 + i1 * 4;
  let remainder1 = (remainder + 1) % 2;
  let quotient0 = (remainder + 1) / 2;
  let atI2_1 = i1 * 16 + i3Div2 * 4 + quotient0 * 8;
  let atI1_1 = i3Div2 + quotient0 * 2 + i1 * 4;
  let atI2_2 = i1 * 16 + quotient * 4 + quotient0 * 8;
  let atI1_2 = quotient + quotient0 * 2 + i1 * 4;
  let atI2_3 = localMod4 + i1 * 16 + remainder * 4;
  if (atChunk + lid <= 95) {
    var sum0: f32 = 0.0;
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atI1], (remainder <= 2) & (i2Mod2 == 0) & (localMod4 <= 2) & (i3Mod2 == 0)), select(false, equal[atI2] != 0u, (remainder <= 2) & (i2Mod2 == 0) & (localMod4 <= 2) & (i3Mod2 == 0))), (remainder <= 2) & (i2Mod2 == 0) & (localMod4 <= 2) & (i3Mod2 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atI1_0 - 1], (remainder <= 2) & (i2Mod2 == 0) & (0 < localMod4) & (remainder0 == 0)), select(false, equal[atI2_0 - 3] != 0u, (remainder <= 2) & (i2Mod2 == 0) & (0 < localMod4) & (remainder0 == 0))), (remainder <= 2) & (i2Mod2 == 0) & (0 < localMod4) & (remainder0 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atI1_1 - 2], (0 < remainder) & (remainder1 == 0) & (localMod4 <= 2) & (i3Mod2 == 0)), select(false, equal[atI2_1 - 6] != 0u, (0 < remainder) & (remainder1 == 0) & (localMod4 <= 2) & (i3Mod2 == 0))), (0 < remainder) & (remainder1 == 0) & (localMod4 <= 2) & (i3Mod2 == 0));
    sum0 = sum0 + select(0.0, select(0.0, select(0.0, dotGeneral[atI1_2 - 3], (0 < remainder) & (remainder1 == 0) & (0 < localMod4) & (remainder0 == 0)), select(false, equal[atI2_2 - 9] != 0u, (0 < remainder) & (remainder1 == 0) & (0 < localMod4) & (remainder0 == 0))), (0 < remainder) & (remainder1 == 0) & (0 < localMod4) & (remainder0 == 0));
    select0[atI2_3] = select(0.0, sum0, 0.0 < maximum0[atI2_3]);
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
  let atT0 = meMod4 + quotient * 4;
  let atMe = meDiv16 + meMod16 * 17;
  let meDiv9 = lid / 9;
  let meDiv3 = lid / 3;
  let remainder = meDiv3 % 3;
  let meMod3 = lid % 3;
  let atY0 = meMod3 + meDiv9 * 16 + remainder * 4;
  let meDiv8 = lid / 8;
  let atMe0 = meDiv8 * 4;
  let meMod8 = lid % 8;
  let atMe1 = meMod8 * 4;
  for (var step = 0; step < 2; step++) {
    let atC = atT0 + step * 48;
    tileA[atMe] = select0[atC + meDiv16 * 16];
    let f = meDiv16 + 2;
    tileA[atMe + 2] = select(0.0, select0[atC + f * 16], meDiv16 <= 0);
    let f0 = meDiv16 + 4;
    tileA[atMe + 4] = 0.0;
    let f1 = meDiv16 + 6;
    tileA[atMe + 6] = 0.0;
    let f2 = meDiv16 + 8;
    tileA[atMe + 8] = 0.0;
    let f3 = meDiv16 + 10;
    tileA[atMe + 10] = 0.0;
    let f4 = meDiv16 + 12;
    tileA[atMe + 12] = 0.0;
    let f5 = meDiv16 + 14;
    tileA[atMe + 14] = 0.0;
    let atY0_0 = atY0 + step * 32;
    tileB[lid] = select(0.0, x[atY0_0 + 0 + 0 * 4 - 5], (lid <= 17) & (0 < remainder + 0) & (remainder + 0 <= 4) & (0 < meMod3 + 0) & (meMod3 + 0 <= 4));
    tileB[lid + 32] = select(0.0, x[atY0_0 + 1 + 0 * 4 - 5], (lid <= 17) & (0 < remainder + 0) & (remainder + 0 <= 4) & (0 < meMod3 + 1) & (meMod3 + 1 <= 4));
    tileB[lid + 64] = select(0.0, x[atY0_0 + 2 + 0 * 4 - 5], (lid <= 17) & (0 < remainder + 0) & (remainder + 0 <= 4) & (0 < meMod3 + 2) & (meMod3 + 2 <= 4));
    tileB[lid + 96] = select(0.0, x[atY0_0 + 3 + 0 * 4 - 5], (lid <= 17) & (0 < remainder + 0) & (remainder + 0 <= 4) & (0 < meMod3 + 3) & (meMod3 + 3 <= 4));
    tileB[lid + 128] = select(0.0, x[atY0_0 + 0 + 1 * 4 - 5], (lid <= 17) & (0 < remainder + 1) & (remainder + 1 <= 4) & (0 < meMod3 + 0) & (meMod3 + 0 <= 4));
    tileB[lid + 160] = select(0.0, x[atY0_0 + 1 + 1 * 4 - 5], (lid <= 17) & (0 < remainder + 1) & (remainder + 1 <= 4) & (0 < meMod3 + 1) & (meMod3 + 1 <= 4));
    tileB[lid + 192] = select(0.0, x[atY0_0 + 2 + 1 * 4 - 5], (lid <= 17) & (0 < remainder + 1) & (remainder + 1 <= 4) & (0 < meMod3 + 2) & (meMod3 + 2 <= 4));
    tileB[lid + 224] = select(0.0, x[atY0_0 + 3 + 1 * 4 - 5], (lid <= 17) & (0 < remainder + 1) & (remainder + 1 <= 4) & (0 < meMod3 + 3) & (meMod3 + 3 <= 4));
    tileB[lid + 256] = select(0.0, x[atY0_0 + 0 + 2 * 4 - 5], (lid <= 17) & (0 < remainder + 2) & (remainder + 2 <= 4) & (0 < meMod3 + 0) & (meMod3 + 0 <= 4));
    tileB[lid + 288] = select(0.0, x[atY0_0 + 1 + 2 * 4 - 5], (lid <= 17) & (0 < remainder + 2) & (remainder + 2 <= 4) & (0 < meMod3 + 1) & (meMod3 + 1 <= 4));
    tileB[lid + 320] = select(0.0, x[atY0_0 + 2 + 2 * 4 - 5], (lid <= 17) & (0 < remainder + 2) & (remainder + 2 <= 4) & (0 < meMod3 + 2) & (meMod3 + 2 <= 4));
    tileB[lid + 352] = select(0.0, x[atY0_0 + 3 + 2 * 4 - 5], (lid <= 17) & (0 < remainder + 2) & (remainder + 2 <= 4) & (0 < meMod3 + 3) & (meMod3 + 3 <= 4));
    tileB[lid + 384] = select(0.0, x[atY0_0 + 0 + 3 * 4 - 5], (lid <= 17) & (0 < remainder + 3) & (remainder + 3 <= 4) & (0 < meMod3 + 0) & (meMod3 + 0 <= 4));
    tileB[lid + 416] = select(0.0, x[atY0_0 + 1 + 3 * 4 - 5], (lid <= 17) & (0 < remainder + 3) & (remainder + 3 <= 4) & (0 < meMod3 + 1) & (meMod3 + 1 <= 4));
    tileB[lid + 448] = select(0.0, x[atY0_0 + 2 + 3 * 4 - 5], (lid <= 17) & (0 < remainder + 3) & (remainder + 3 <= 4) & (0 < meMod3 + 2) & (meMod3 + 2 <= 4));
    tileB[lid + 480] = select(0.0, x[atY0_0 + 3 + 3 * 4 - 5], (lid <= 17) & (0 < remainder + 3) & (remainder + 3 <= 4) & (0 < meMod3 + 3) & (meMod3 + 3 <= 4));
    workgroupBarrier();
    storageBarrier();
    for (var kk = 0; kk < 16; kk++) {
      let a0 = tileA[atMe0 + kk * 17];
      let a1 = tileA[atMe0 + kk * 17 + 1];
      let a2 = tileA[atMe0 + kk * 17 + 2];
      let a3 = tileA[atMe0 + kk * 17 + 3];
      let b0 = tileB[atMe1 + kk * 32];
      let b1 = tileB[atMe1 + kk * 32 + 1];
      let b2 = tileB[atMe1 + kk * 32 + 2];
      let b3 = tileB[atMe1 + kk * 32 + 3];
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
  let new0 = c00;
  let new1 = c01;
  let new2 = c02;
  let new3 = c03;
  let new4 = c10;
  let new5 = c11;
  let new6 = c12;
  let new7 = c13;
  let new8 = c20;
  let new9 = c21;
  let new10 = c22;
  let new11 = c23;
  let new12 = c30;
  let new13 = c31;
  let new14 = c32;
  let new15 = c33;
  sums[0] = new0;
  sums[1] = new1;
  sums[2] = new2;
  sums[3] = new3;
  sums[4] = new4;
  sums[5] = new5;
  sums[6] = new6;
  sums[7] = new7;
  sums[8] = new8;
  sums[9] = new9;
  sums[10] = new10;
  sums[11] = new11;
  sums[12] = new12;
  sums[13] = new13;
  sums[14] = new14;
  sums[15] = new15;
  for (var r = 0; r < 4; r++) {
    let f10 = atMe0 + r;
    let atF = f10 * 18;
    let atR = r * 4;
    if (atMe0 + r <= 2) {
      for (var s = 0; s < 4; s++) {
        let quotient0 = (atMe1 + s) / 9;
        let quotient1 = (atMe1 + s) / 3;
        let remainder0 = quotient1 % 3;
        let remainder1 = (atMe1 + s) % 3;
        let atN = atF + remainder1 + remainder0 * 3 + quotient0 * 9;
        let atR0 = atR + s;
        if (atMe1 + s <= 17) {
          weight[atN] = weight[atN] - sums[atR0] * 0.1;
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
    tileA[lid] = select(0.0, add[lid + 0 * 4], lid <= 3);
    tileA[lid + 16] = select(0.0, add[lid + 1 * 4], lid <= 3);
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
    tileB[lid] = select(0.0, reduceMax[lid + 0 * 12], lid <= 11);
    tileB[lid + 16] = select(0.0, reduceMax[lid + 1 * 12], lid <= 11);
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
  let new0 = c00;
  let new1 = c01;
  let new2 = c02;
  let new3 = c03;
  let new4 = c10;
  let new5 = c11;
  let new6 = c12;
  let new7 = c13;
  let new8 = c20;
  let new9 = c21;
  let new10 = c22;
  let new11 = c23;
  let new12 = c30;
  let new13 = c31;
  let new14 = c32;
  let new15 = c33;
  sums[0] = new0;
  sums[1] = new1;
  sums[2] = new2;
  sums[3] = new3;
  sums[4] = new4;
  sums[5] = new5;
  sums[6] = new6;
  sums[7] = new7;
  sums[8] = new8;
  sums[9] = new9;
  sums[10] = new10;
  sums[11] = new11;
  sums[12] = new12;
  sums[13] = new13;
  sums[14] = new14;
  sums[15] = new15;
  for (var r = 0; r < 4; r++) {
    let i0_3 = atMe + r;
    let atI0 = i0_3 * 12;
    let atR = r * 4;
    if (atMe + r <= 3) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe0 + s;
        let atI0_0 = atI0 + i1;
        let atR0 = atR + s;
        if (atMe0 + s <= 11) {
          weight[atI0_0] = weight[atI0_0] - sums[atR0] * 0.1;
        }
      }
    }
  }
}
