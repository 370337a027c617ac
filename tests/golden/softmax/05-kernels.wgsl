// reduceMax_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> mul: array<f32>;

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

fn expOf(x: f32) -> f32 {
  return select(exp(x), x, isNan(x));
}

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atLocal = lid * 10;
  if (lid <= 3) {
    var max0: f32 = -infinity();
    for (var r1 = 0; r1 < 10; r1++) {
      max0 = maximum(max0, x[atLocal + r1]);
    }
    var sum1: f32 = 0.0;
    for (var r1 = 0; r1 < 10; r1++) {
      sum1 = sum1 + expOf(x[atLocal + r1] - max0);
    }
    let t = 1.0 / sum1;
    for (var r1 = 0; r1 < 10; r1++) {
      mul[atLocal + r1] = expOf(x[atLocal + r1] - max0) * t;
    }
  }
}
