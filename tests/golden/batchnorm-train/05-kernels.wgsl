// reduceSum_add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> add: array<f32>;
@group(0) @binding(4) var<storage, read_write> runningMean: array<f32>;
@group(0) @binding(5) var<storage, read_write> runningVar: array<f32>;

fn given(x: f32) -> f32 {
  return x;
}

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  if (lid <= 2) {
    var sum0: f32 = 0.0;
    sum0 = sum0 + x[lid];
    sum0 = sum0 + x[lid + 3];
    sum0 = sum0 + x[lid + 6];
    sum0 = sum0 + x[lid + 9];
    sum0 = sum0 + x[lid + 12];
    sum0 = sum0 + x[lid + 15];
    var sum1: f32 = 0.0;
    let t = sum0 / given(6.0);
    let t0 = x[lid] - t;
    sum1 = sum1 + t0 * t0;
    let t1 = x[lid + 3] - t;
    sum1 = sum1 + t1 * t1;
    let t2 = x[lid + 6] - t;
    sum1 = sum1 + t2 * t2;
    let t3 = x[lid + 9] - t;
    sum1 = sum1 + t3 * t3;
    let t4 = x[lid + 12] - t;
    sum1 = sum1 + t4 * t4;
    let t5 = x[lid + 15] - t;
    sum1 = sum1 + t5 * t5;
    let t6 = sum0 / given(6.0);
    let t7 = inverseSqrt(sum1 / given(6.0) + 0.00001);
    let weightAt = weight[lid];
    let biasAt = bias[lid];
    add[lid] = (x[lid] - t6) * t7 * weightAt + biasAt;
    add[lid + 3] = (x[lid + 3] - t6) * t7 * weightAt + biasAt;
    add[lid + 6] = (x[lid + 6] - t6) * t7 * weightAt + biasAt;
    add[lid + 9] = (x[lid + 9] - t6) * t7 * weightAt + biasAt;
    add[lid + 12] = (x[lid + 12] - t6) * t7 * weightAt + biasAt;
    add[lid + 15] = (x[lid + 15] - t6) * t7 * weightAt + biasAt;
    let new0 = runningMean[lid] * 0.9 + sum0 / given(6.0) * 0.1;
    let new1 = runningVar[lid] * 0.9 + sum1 / given(5.0) * 0.1;
    runningMean[lid] = new0;
    runningVar[lid] = new1;
  }
}
