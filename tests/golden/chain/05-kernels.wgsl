// mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> mul: array<vec4<f32>>;

fn isNan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn expOf4(x: vec4<f32>) -> vec4<f32> {
  return select(exp(x), x, isNan4(x));
}

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  if (lid <= 3) {
    let xAt = x[lid];
    let t = expOf4(-xAt) + xAt;
    mul[lid] = t * t;
  }
}
