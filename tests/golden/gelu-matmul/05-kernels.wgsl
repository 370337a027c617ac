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

fn expOf4(x: vec4<f32>) -> vec4<f32> {
  return select(exp(x), x, isNan4(x));
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
          let t0 = t * vec4<f32>(-0.70710677);
          let t1 = t0 < vec4<f32>(0.0);
          let t2 = select(select(t, vec4<f32>(-60.0), t < vec4<f32>(-60.0)), vec4<f32>(60.0), vec4<f32>(60.0) < t);
          let t3 = t2 * t2;
          let t4 = round(t2 * vec4<f32>(64.0)) * vec4<f32>(0.015625);
          let t5 = t2 - t4;
          let t6 = vec4<f32>(1.0) / (select(t0, -t0, t1) + vec4<f32>(2.5));
          let t7 = t6 * vec4<f32>(-5.0) + vec4<f32>(1.0);
          let t8 = expOf4(t3 * vec4<f32>(-0.5)) * ((t4 * t4 - t3 + t4 * t5 * vec4<f32>(2.0) + t5 * t5) * vec4<f32>(-0.5) + vec4<f32>(1.0)) * (((((((((((t7 * vec4<f32>(-0.00007292146) + vec4<f32>(0.000026865591)) * t7 + vec4<f32>(0.0006662208)) * t7 + vec4<f32>(-0.0004136038)) * t7 + vec4<f32>(-0.004803455)) * t7 + vec4<f32>(0.0083828885)) * t7 + vec4<f32>(0.028358867)) * t7 + vec4<f32>(-0.17124942)) * t7 + vec4<f32>(0.45391425)) * t7 + vec4<f32>(-0.8046519)) * t7 + vec4<f32>(1.0540318)) * t6);
          mul[atR] = t * (select(t8, vec4<f32>(2.0) - t8, t1) * vec4<f32>(0.5));
        }
      }
    }
  }
}
