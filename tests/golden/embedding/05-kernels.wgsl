// reduceSum on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> ids: array<i32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read_write> reduceSum: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  if (lid <= 0) {
    var sum0: f32 = 0.0;
    for (var r0 = 0; r0 < 3; r0++) {
      let idsAt = ids[r0];
      let at0 = min(max(select(idsAt, idsAt + 10, idsAt < 0), 0), 9);
      let atAt0 = at0 * 4;
      for (var r1 = 0; r1 < 4; r1++) {
        let tableAt = table[atAt0 + r1];
        sum0 = sum0 + tableAt * tableAt;
      }
    }
    reduceSum[0] = sum0;
  }
}

// scatter_sub on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read_write> scatter: array<f32>;
@group(0) @binding(1) var<storage, read> ids: array<i32>;
@group(0) @binding(2) var<storage, read> table: array<f32>;
@group(0) @binding(3) var<storage, read_write> sub: array<f32>;

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  if (lid <= 3) {
    for (var i0 = 0; i0 < 10; i0++) {
      scatter[lid + i0 * 4] = 0.0;
    }
    for (var s0 = 0; s0 < 3; s0++) {
      let idsAt = ids[s0];
      let t = select(idsAt, idsAt + 10, idsAt < 0);
      let to0 = max(min(t, 9), 0);
      let at0 = min(max(t, 0), 9);
      let atLocal = lid + to0 * 4;
      let atLocal0 = lid + at0 * 4;
      if ((0 <= to0) & (to0 <= 9)) {
        let tableAt = table[atLocal0];
        scatter[atLocal] = scatter[atLocal] + (tableAt + tableAt);
      }
    }
    for (var i0 = 0; i0 < 10; i0++) {
      sub[lid + i0 * 4] = table[lid + i0 * 4] - scatter[lid + i0 * 4] * 0.5;
    }
  }
}
