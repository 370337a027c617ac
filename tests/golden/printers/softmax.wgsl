@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
struct Dims {
  N: i32,
}
@group(0) @binding(2) var<uniform> dims: Dims;

var<private> infinityBits: u32 = 0x7f800000u;
fn infinity() -> f32 {
  return bitcast<f32>(infinityBits);
}

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}

fn maximum(a: f32, b: f32) -> f32 {
  return select(select(max(a, b), b, isNan(b)), a, isNan(a));
}

var<workgroup> partials_f32: array<f32, 64>;

fn combine_max_f32(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var count = 64; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) {
      partials_f32[lid] = maximum(partials_f32[lid], partials_f32[lid + span]);
    }
    workgroupBarrier();
  }
  let result = partials_f32[0];
  workgroupBarrier();
  return result;
}

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}

fn combine_sum_f32(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var count = 64; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) {
      partials_f32[lid] = partials_f32[lid] + partials_f32[lid + span];
    }
    workgroupBarrier();
  }
  let result = partials_f32[0];
  workgroupBarrier();
  return result;
}

@compute @workgroup_size(64)
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
  let row = group;
  var m: f32 = -infinity();
  let atRow = row * 7;
  for (var j = lid; j < 7; j += 64) {
    m = maximum(m, x[atRow + j]);
  }
  m = combine_max_f32(m, lid);
  var s: f32 = 0.0;
  for (var k = lid; k < 7; k += 64) {
    s = s + expOf(x[atRow + k] - m);
  }
  s = combine_sum_f32(s, lid);
  for (var l = lid; l < 7; l += 64) {
    out[atRow + l] = expOf(x[atRow + l] - m) / s;
  }
}
