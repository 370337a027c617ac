@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

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

var<workgroup> partials_f32: array<f32, 32>;

fn combine_sum_f32(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var count = 32; count > 1; count = (count + 1) / 2) {
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

fn combine_max_f32(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var count = 32; count > 1; count = (count + 1) / 2) {
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

@compute @workgroup_size(32)
fn main(
  @builtin(local_invocation_index) invocation: u32,
) {
  let lid = i32(invocation);
  var s: f32 = 0.0;
  var m: f32 = -infinity();
  for (var i = lid; i < 8; i += 32) {
    let xAt = x[i];
    s = s + (xAt[0] + xAt[1] + xAt[2] + xAt[3]);
    m = maximum(m, maximum(maximum(maximum(xAt[0], xAt[1]), xAt[2]), xAt[3]));
  }
  s = combine_sum_f32(s, lid);
  m = combine_max_f32(m, lid);
  out[0] = s;
  out[1] = m;
}
