@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
struct Dims {
  N: i32,
}
@group(0) @binding(3) var<uniform> dims: Dims;

@compute @workgroup_size(16)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let lid = i32(invocation);
  let N = dims.N;
  let group = i32(workgroup.x + workgroup.y * groups.x);
  if (group >= N) {
    return;
  }
  let i = group;
  let atI = i * 6;
  let atI0 = i * 2;
  for (var c = lid; c < 2; c += 16) {
    var s: vec4<f32> = vec4<f32>(0.0);
    for (var k = 0; k < 6; k++) {
      s = fma(vec4<f32>(a[atI + k]), w[c + k * 2], s);
    }
    let atI1 = atI0 + c;
    out[atI1] = s;
  }
}
