@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
struct Dims {
  N: i32,
}
@group(0) @binding(3) var<uniform> dims: Dims;

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}

fn expm1(x: f32) -> f32 {
  var p = f32(1.0) + x / 9.0;
  p = f32(1.0) + x / 8.0 * p;
  p = f32(1.0) + x / 7.0 * p;
  p = f32(1.0) + x / 6.0 * p;
  p = f32(1.0) + x / 5.0 * p;
  p = f32(1.0) + x / 4.0 * p;
  p = f32(1.0) + x / 3.0 * p;
  p = f32(1.0) + x / 2.0 * p;
  return select(expOf(x) - 1.0, x * p, abs(x) < f32(0.5));
}

fn tanhOf(x: f32) -> f32 {
  let t = expm1(2.0 * min(abs(x), f32(10.0)));
  let y = t / (t + 2.0);
  return select(select(y, -y, x < f32(0.0)), x, isNan(x) | (x == f32(0.0)));
}

@compute @workgroup_size(32)
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
  let atI = i * 5;
  let bAt = b[i];
  let atI0 = i * 6;
  for (var j = lid; j < 6; j += 32) {
    let t = select(0.0, x[atI + j - 1], 0 < j) + bAt;
    out[atI0 + j] = tanhOf(t) * t;
  }
}
