// matmul_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> mul: array<f32>;

var<workgroup> tileA: array<f32, 272>;

var<workgroup> tileB: array<f32, 256>;

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn erf(x: f32) -> f32 {
  let a = min(abs(x), f32(4.0));
  let q = a * a;
  var p = f32(1.4807193e-08);
  p = p * q - 1.6365844e-07;
  p = p * q + 1.6462114e-06;
  p = p * q - 1.492565e-05;
  p = p * q + 0.000120553326;
  p = p * q - 0.0008548327;
  p = p * q + 0.005223978;
  p = p * q - 0.026866172;
  p = p * q + 0.11283792;
  p = p * q - 0.37612638;
  p = p * q + 1.1283792;
  let t = 1.0 / (1.0 + 0.5 * a);
  var c = f32(0.019375598);
  c = c * t + 0.043283306;
  c = c * t - 0.3417104;
  c = c * t + 0.43843508;
  c = c * t - 0.029074509;
  c = c * t + 0.31957585;
  c = c * t + 0.2663089;
  c = c * t + 0.28403282;
  c = c * t - 0.000103489874;
  let y = select(1.0 - exp(-q) * c, a * p, a < f32(1.0));
  return select(select(y, -y, x < f32(0.0)), x, isNan(x) | (x == f32(0.0)));
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
  let atTileRow = tileRow * 16;
  let atMe = lid * 17;
  let i1 = lid + tileColumn * 16;
  let atTileColumn = lid + tileColumn * 16;
  let i1_0 = lid + tileColumn * 16;
  let i1_1 = lid + tileColumn * 16;
  let i1_2 = lid + tileColumn * 16;
  let i1_3 = lid + tileColumn * 16;
  let i1_4 = lid + tileColumn * 16;
  let i1_5 = lid + tileColumn * 16;
  let i1_6 = lid + tileColumn * 16;
  let i1_7 = lid + tileColumn * 16;
  let i1_8 = lid + tileColumn * 16;
  let i1_9 = lid + tileColumn * 16;
  let i1_10 = lid + tileColumn * 16;
  let i1_11 = lid + tileColumn * 16;
  let i1_12 = lid + tileColumn * 16;
  let i1_13 = lid + tileColumn * 16;
  let i1_14 = lid + tileColumn * 16;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    let k0 = lid + step * 16;
    tileA[atMe] = x[k0 + atTileRow * 16];
    let i0 = atTileRow + 1;
    let k0_0 = lid + step * 16;
    tileA[atMe + 1] = x[k0_0 + i0 * 16];
    let i0_0 = atTileRow + 2;
    let k0_1 = lid + step * 16;
    tileA[atMe + 2] = x[k0_1 + i0_0 * 16];
    let i0_1 = atTileRow + 3;
    let k0_2 = lid + step * 16;
    tileA[atMe + 3] = x[k0_2 + i0_1 * 16];
    let i0_2 = atTileRow + 4;
    let k0_3 = lid + step * 16;
    tileA[atMe + 4] = x[k0_3 + i0_2 * 16];
    let i0_3 = atTileRow + 5;
    let k0_4 = lid + step * 16;
    tileA[atMe + 5] = x[k0_4 + i0_3 * 16];
    let i0_4 = atTileRow + 6;
    let k0_5 = lid + step * 16;
    tileA[atMe + 6] = x[k0_5 + i0_4 * 16];
    let i0_5 = atTileRow + 7;
    let k0_6 = lid + step * 16;
    tileA[atMe + 7] = x[k0_6 + i0_5 * 16];
    let i0_6 = atTileRow + 8;
    let k0_7 = lid + step * 16;
    tileA[atMe + 8] = 0.0;
    let i0_7 = atTileRow + 9;
    let k0_8 = lid + step * 16;
    tileA[atMe + 9] = 0.0;
    let i0_8 = atTileRow + 10;
    let k0_9 = lid + step * 16;
    tileA[atMe + 10] = 0.0;
    let i0_9 = atTileRow + 11;
    let k0_10 = lid + step * 16;
    tileA[atMe + 11] = 0.0;
    let i0_10 = atTileRow + 12;
    let k0_11 = lid + step * 16;
    tileA[atMe + 12] = 0.0;
    let i0_11 = atTileRow + 13;
    let k0_12 = lid + step * 16;
    tileA[atMe + 13] = 0.0;
    let i0_12 = atTileRow + 14;
    let k0_13 = lid + step * 16;
    tileA[atMe + 14] = 0.0;
    let i0_13 = atTileRow + 15;
    let k0_14 = lid + step * 16;
    tileA[atMe + 15] = 0.0;
    let atStep = step * 16;
    tileB[lid] = select(0.0, w[i1 + atStep * 12], atTileColumn <= 11);
    let k0_15 = atStep + 1;
    tileB[lid + 16] = select(0.0, w[i1_0 + k0_15 * 12], atTileColumn <= 11);
    let k0_16 = atStep + 2;
    tileB[lid + 32] = select(0.0, w[i1_1 + k0_16 * 12], atTileColumn <= 11);
    let k0_17 = atStep + 3;
    tileB[lid + 48] = select(0.0, w[i1_2 + k0_17 * 12], atTileColumn <= 11);
    let k0_18 = atStep + 4;
    tileB[lid + 64] = select(0.0, w[i1_3 + k0_18 * 12], atTileColumn <= 11);
    let k0_19 = atStep + 5;
    tileB[lid + 80] = select(0.0, w[i1_4 + k0_19 * 12], atTileColumn <= 11);
    let k0_20 = atStep + 6;
    tileB[lid + 96] = select(0.0, w[i1_5 + k0_20 * 12], atTileColumn <= 11);
    let k0_21 = atStep + 7;
    tileB[lid + 112] = select(0.0, w[i1_6 + k0_21 * 12], atTileColumn <= 11);
    let k0_22 = atStep + 8;
    tileB[lid + 128] = select(0.0, w[i1_7 + k0_22 * 12], atTileColumn <= 11);
    let k0_23 = atStep + 9;
    tileB[lid + 144] = select(0.0, w[i1_8 + k0_23 * 12], atTileColumn <= 11);
    let k0_24 = atStep + 10;
    tileB[lid + 160] = select(0.0, w[i1_9 + k0_24 * 12], atTileColumn <= 11);
    let k0_25 = atStep + 11;
    tileB[lid + 176] = select(0.0, w[i1_10 + k0_25 * 12], atTileColumn <= 11);
    let k0_26 = atStep + 12;
    tileB[lid + 192] = select(0.0, w[i1_11 + k0_26 * 12], atTileColumn <= 11);
    let k0_27 = atStep + 13;
    tileB[lid + 208] = select(0.0, w[i1_12 + k0_27 * 12], atTileColumn <= 11);
    let k0_28 = atStep + 14;
    tileB[lid + 224] = select(0.0, w[i1_13 + k0_28 * 12], atTileColumn <= 11);
    let k0_29 = atStep + 15;
    tileB[lid + 240] = select(0.0, w[i1_14 + k0_29 * 12], atTileColumn <= 11);
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
  let atMe2 = atTileRow + meDiv4 * 4;
  let atMe3 = tileColumn * 16 + meMod4 * 4;
  for (var r = 0; r < 4; r++) {
    let i0_14 = atMe2 + r;
    let atR = r * 4;
    let atI0 = i0_14 * 12;
    if (atMe2 + r <= 7) {
      for (var s = 0; s < 4; s++) {
        let i1_15 = atMe3 + s;
        let atR0 = atR + s;
        let atI0_0 = atI0 + i1_15;
        if (atMe3 + s <= 11) {
          let t = sums[atR0] + b[i1_15];
          mul[atI0_0] = t * ((erf(t * 0.70710677) + 1.0) * 0.5);
        }
      }
    }
  }
}
