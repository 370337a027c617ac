// reduceSum_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y_: array<f32>;
@group(0) @binding(2) var<storage, read_write> mul: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atLocal = lid * 4;
  let atLocal0 = lid * 6;
  if (lid <= 5) {
    var sum0: f32 = 0.0;
    let ok = lid <= 3;
    sum0 = sum0 + select(0.0, select(select(0.0, y_[atLocal - 16], 4 <= lid), select(0.0, x[atLocal - 4], (0 < lid) & (lid <= 3)), ok), 0 < lid);
    sum0 = sum0 + select(0.0, select(select(0.0, y_[atLocal - 15], 4 <= lid), select(0.0, x[atLocal - 3], (0 < lid) & (lid <= 3)), ok), 0 < lid);
    sum0 = sum0 + select(0.0, select(select(0.0, y_[atLocal - 14], 4 <= lid), select(0.0, x[atLocal - 2], (0 < lid) & (lid <= 3)), ok), 0 < lid);
    sum0 = sum0 + select(0.0, select(select(0.0, y_[atLocal - 13], 4 <= lid), select(0.0, x[atLocal - 1], (0 < lid) & (lid <= 3)), ok), 0 < lid);
    sum0 = sum0 + 0.0;
    sum0 = sum0 + 0.0;
    let ok0 = lid <= 3;
    mul[atLocal0] = select(0.0, select(select(0.0, y_[atLocal - 16], 4 <= lid), select(0.0, x[atLocal - 4], (0 < lid) & (lid <= 3)), ok0), 0 < lid) * sum0;
    mul[atLocal0 + 1] = select(0.0, select(select(0.0, y_[atLocal - 15], 4 <= lid), select(0.0, x[atLocal - 3], (0 < lid) & (lid <= 3)), ok0), 0 < lid) * sum0;
    mul[atLocal0 + 2] = select(0.0, select(select(0.0, y_[atLocal - 14], 4 <= lid), select(0.0, x[atLocal - 2], (0 < lid) & (lid <= 3)), ok0), 0 < lid) * sum0;
    mul[atLocal0 + 3] = select(0.0, select(select(0.0, y_[atLocal - 13], 4 <= lid), select(0.0, x[atLocal - 1], (0 < lid) & (lid <= 3)), ok0), 0 < lid) * sum0;
    mul[atLocal0 + 4] = 0.0 * sum0;
    mul[atLocal0 + 5] = 0.0 * sum0;
  }
}
