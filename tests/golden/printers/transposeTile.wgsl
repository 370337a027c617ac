@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
struct Dims {
  N: i32,
  M: i32,
}
@group(0) @binding(2) var<uniform> dims: Dims;

var<workgroup> tile: array<f32, 64>;

@compute @workgroup_size(32)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let lid = i32(invocation);
  let N = dims.N;
  let M = dims.M;
  let NDiv8 = N / 8;
  let MDiv8 = M / 8;
  let group = i32(workgroup.x + workgroup.y * groups.x);
  if (group >= NDiv8 * MDiv8) {
    return;
  }
  let ti = group / MDiv8;
  let tj = group % MDiv8;
  let atTi = ti * M * 8;
  let atTj = atTi + tj * 8;
  for (var p = lid; p < 64; p += 32) {
    let pDiv8 = p / 8;
    let pMod8 = p % 8;
    tile[p] = x[atTj + pDiv8 * M + pMod8];
  }
  workgroupBarrier();
  let atTi0 = ti * 8;
  let atTi1 = atTi0 + tj * N * 8;
  for (var q = lid; q < 64; q += 32) {
    let qDiv8 = q / 8;
    let qMod8 = q % 8;
    out[atTi1 + qDiv8 * N + qMod8] = tile[qDiv8 + qMod8 * 8];
  }
}
