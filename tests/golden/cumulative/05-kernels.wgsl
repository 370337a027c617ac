// cumsum_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> mul: array<f32>;

fn isNan(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
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
  let atLocal = lid * 16;
  if (lid <= 3) {
    var sum0: f32 = 0.0;
    for (var r1 = 0; r1 < 16; r1++) {
      sum0 = sum0 + expOf(x[atLocal + r1]);
      mul[atLocal + r1] = sum0 * 0.5;
    }
  }
}

// cumsum on a grid of 2 × 1 × 1
@group(0) @binding(0) var<storage, read> y_: array<f32>;
@group(0) @binding(1) var<storage, read_write> cumsum: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atChunk = chunk * 64;
  let quotient = (atChunk + lid) / 40;
  let remainder = (atChunk + lid) % 40;
  let atLocal = quotient * 960 + remainder;
  if (atChunk + lid <= 119) {
    var sum0: f32 = 0.0;
    for (var r1 = 0; r1 < 24; r1++) {
      let sum0Next = y_[atLocal - r1 * 40 + 920];
      cumsum[atLocal - r1 * 40 + 920] = sum0;
      sum0 = sum0 + sum0Next;
    }
  }
}
