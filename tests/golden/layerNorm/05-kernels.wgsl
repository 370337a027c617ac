// reduceSum_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> add: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atI0 = lid * 8;
  if (lid <= 3) {
    var sum0: f32 = 0.0;
    sum0 = sum0 + x[atI0];
    sum0 = sum0 + x[atI0 + 1];
    sum0 = sum0 + x[atI0 + 2];
    sum0 = sum0 + x[atI0 + 3];
    sum0 = sum0 + x[atI0 + 4];
    sum0 = sum0 + x[atI0 + 5];
    sum0 = sum0 + x[atI0 + 6];
    sum0 = sum0 + x[atI0 + 7];
    var sum1: f32 = 0.0;
    let t = sum0 * 0.125;
    let t0 = x[atI0] - t;
    sum1 = sum1 + t0 * t0;
    let t1 = x[atI0 + 1] - t;
    sum1 = sum1 + t1 * t1;
    let t2 = x[atI0 + 2] - t;
    sum1 = sum1 + t2 * t2;
    let t3 = x[atI0 + 3] - t;
    sum1 = sum1 + t3 * t3;
    let t4 = x[atI0 + 4] - t;
    sum1 = sum1 + t4 * t4;
    let t5 = x[atI0 + 5] - t;
    sum1 = sum1 + t5 * t5;
    let t6 = x[atI0 + 6] - t;
    sum1 = sum1 + t6 * t6;
    let t7 = x[atI0 + 7] - t;
    sum1 = sum1 + t7 * t7;
    let t8 = sum0 * 0.125;
    let t9 = inverseSqrt(sum1 * 0.125 + 0.00001);
    add[atI0] = (x[atI0] - t8) * t9 * weight[0] + bias[0];
    add[atI0 + 1] = (x[atI0 + 1] - t8) * t9 * weight[1] + bias[1];
    add[atI0 + 2] = (x[atI0 + 2] - t8) * t9 * weight[2] + bias[2];
    add[atI0 + 3] = (x[atI0 + 3] - t8) * t9 * weight[3] + bias[3];
    add[atI0 + 4] = (x[atI0 + 4] - t8) * t9 * weight[4] + bias[4];
    add[atI0 + 5] = (x[atI0 + 5] - t8) * t9 * weight[5] + bias[5];
    add[atI0 + 6] = (x[atI0 + 6] - t8) * t9 * weight[6] + bias[6];
    add[atI0 + 7] = (x[atI0 + 7] - t8) * t9 * weight[7] + bias[7];
  }
}
