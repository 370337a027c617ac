@group(0) @binding(0) var<storage, read> index: array<i32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
struct Dims {
  N: i32,
}
@group(0) @binding(3) var<uniform> dims: Dims;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
) {
  let lid = i32(invocation);
  let N = dims.N;
  for (var i = lid; i < N; i += 64) {
    let row = min(max(index[i], 0), 9);
    let atRow = row * 4;
    let atI = i * 4;
    for (var j = 0; j < 4; j++) {
      out[atI + j] = table[atRow + j];
    }
  }
}
