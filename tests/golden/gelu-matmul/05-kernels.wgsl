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
  let atMe = lid * 17;
  let meDiv4 = lid / 4;
  let atMe0 = meDiv4 * 4;
  let meMod4 = lid % 4;
  let atMe1 = meMod4 * 4;
  for (var step = 0; step < 1; step++) {
    tileA[atMe] = x[lid];
    tileA[atMe + 1] = x[lid + 16];
    tileA[atMe + 2] = x[lid + 32];
    tileA[atMe + 3] = x[lid + 48];
    tileA[atMe + 4] = x[lid + 64];
    tileA[atMe + 5] = x[lid + 80];
    tileA[atMe + 6] = x[lid + 96];
    tileA[atMe + 7] = x[lid + 112];
    tileA[atMe + 8] = 0.0;
    tileA[atMe + 9] = 0.0;
    tileA[atMe + 10] = 0.0;
    tileA[atMe + 11] = 0.0;
    tileA[atMe + 12] = 0.0;
    tileA[atMe + 13] = 0.0;
    tileA[atMe + 14] = 0.0;
    tileA[atMe + 15] = 0.0;
    tileB[lid] = select(0.0, w[lid], lid <= 11);
    tileB[lid + 16] = select(0.0, w[lid + 12], lid <= 11);
    tileB[lid + 32] = select(0.0, w[lid + 24], lid <= 11);
    tileB[lid + 48] = select(0.0, w[lid + 36], lid <= 11);
    tileB[lid + 64] = select(0.0, w[lid + 48], lid <= 11);
    tileB[lid + 80] = select(0.0, w[lid + 60], lid <= 11);
    tileB[lid + 96] = select(0.0, w[lid + 72], lid <= 11);
    tileB[lid + 112] = select(0.0, w[lid + 84], lid <= 11);
    tileB[lid + 128] = select(0.0, w[lid + 96], lid <= 11);
    tileB[lid + 144] = select(0.0, w[lid + 108], lid <= 11);
    tileB[lid + 160] = select(0.0, w[lid + 120], lid <= 11);
    tileB[lid + 176] = select(0.0, w[lid + 132], lid <= 11);
    tileB[lid + 192] = select(0.0, w[lid + 144], lid <= 11);
    tileB[lid + 208] = select(0.0, w[lid + 156], lid <= 11);
    tileB[lid + 224] = select(0.0, w[lid + 168], lid <= 11);
    tileB[lid + 240] = select(0.0, w[lid + 180], lid <= 11);
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
    if (atMe0 + r <= 7) {
      for (var s = 0; s < 4; s++) {
        let i1 = atMe1 + s;
        let atS = atR + s;
        let size0 = size + i1;
        if (atMe1 + s <= 11) {
          let t = sums[atS] + b[i1];
          mul[size0] = t * ((erf(t * 0.70710677) + 1.0) * 0.5);
        }
      }
    }
  }
}
