// mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> row: array<f32>;
@group(0) @binding(2) var<storage, read> column: array<f32>;
@group(0) @binding(3) var<storage, read_write> mul: array<f32>;

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let localDiv5 = lid / 5;
  let localMod5 = lid % 5;
  let atI0 = localMod5 + localDiv5 * 5;
  if (lid <= 14) {
    mul[atI0] = (x[atI0] + row[localMod5]) * column[localDiv5];
  }
}
