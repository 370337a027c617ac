// matmul_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> mul: array<vec4<f32>>;

var<workgroup> tileA: array<vec4<f32>, 128>;

var<workgroup> tileB: array<vec4<f32>, 128>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn erf4(x: vec4<f32>) -> vec4<f32> {
  let a = min(abs(x), vec4<f32>(4.0));
  let q = a * a;
  var p = vec4<f32>(1.4807193e-08);
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
  var c = vec4<f32>(0.019375598);
  c = c * t + 0.043283306;
  c = c * t - 0.3417104;
  c = c * t + 0.43843508;
  c = c * t - 0.029074509;
  c = c * t + 0.31957585;
  c = c * t + 0.2663089;
  c = c * t + 0.28403282;
  c = c * t - 0.000103489874;
  let y = select(1.0 - exp(-q) * c, a * p, a < vec4<f32>(1.0));
  return select(select(y, -y, x < vec4<f32>(0.0)), x, isNan4(x) | (x == vec4<f32>(0.0)));
}

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
  var aNext0: vec4<f32> = vec4<f32>(0.0);
  var aNext1: vec4<f32> = vec4<f32>(0.0);
  var bNext0: vec4<f32> = vec4<f32>(0.0);
  var bNext1: vec4<f32> = vec4<f32>(0.0);
  var c0_0: vec4<f32> = vec4<f32>(0.0);
  var c1_0: vec4<f32> = vec4<f32>(0.0);
  var c2_0: vec4<f32> = vec4<f32>(0.0);
  var c3_0: vec4<f32> = vec4<f32>(0.0);
  aNext0 = x[lid];
  aNext1 = x[lid + 64];
  let meDiv8 = lid / 8;
  let meMod8 = lid % 8;
  let atMe = meDiv8 * 3 + meMod8;
  bNext0 = w[atMe];
  bNext1 = w[atMe + 24];
  let meDiv16 = lid / 16;
  let meMod4 = lid % 4;
  let remainder = (meDiv16 + meMod4 * 2) % 8;
  let atMe0 = remainder + meMod4 * 32;
  let meDiv4 = lid / 4;
  let remainder0 = meDiv4 % 4;
  let remainder1 = (meDiv16 + meMod4 * 2 + 4) % 8;
  let atMe1 = remainder1 + meMod4 * 32;
  for (var step = 0; step < 1; step++) {
    let lanes = aNext0;
    tileA[atMe0][remainder0] = lanes[0];
    tileA[atMe0 + 8][remainder0] = lanes[1];
    tileA[atMe0 + 16][remainder0] = lanes[2];
    tileA[atMe0 + 24][remainder0] = lanes[3];
    let lanes0 = aNext1;
    tileA[atMe1][remainder0] = lanes0[0];
    tileA[atMe1 + 8][remainder0] = lanes0[1];
    tileA[atMe1 + 16][remainder0] = lanes0[2];
    tileA[atMe1 + 24][remainder0] = lanes0[3];
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
  sums[0] = c0_0;
  sums[1] = c1_0;
  sums[2] = c2_0;
  sums[3] = c3_0;
  let atMe2 = meDiv8 * 4;
  let atMe3 = meMod8 * 4;
  let atMe4 = meDiv8 * 12 + meMod8;
  for (var r = 0; r < 4; r++) {
    let atR = atMe4 + r * 3;
    if (atMe2 + r <= 7) {
      for (var q = 0; q < 1; q++) {
        if (atMe3 <= 11) {
          let t = sums[r] + b[meMod8];
          mul[atR] = t * ((erf4(t * vec4<f32>(0.70710677)) + vec4<f32>(1.0)) * vec4<f32>(0.5));
        }
      }
    }
  }
}
