// reduceSum_argMax on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> div: array<f32>;
@group(0) @binding(2) var<storage, read_write> reduceMax: array<f32>;
@group(0) @binding(3) var<storage, read_write> argMax: array<i32>;

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
  return workgroupUniformLoad(&partials_f32[0]);
}

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
  return workgroupUniformLoad(&partials_f32[0]);
}

var<workgroup> places_argMax: array<i32, 64>;

fn combine_argMax_f32(best: ptr<function, f32>, place: ptr<function, i32>, lid: i32) {
  partials_f32[lid] = *best;
  places_argMax[lid] = *place;
  workgroupBarrier();
  for (var count = 64; count > 1; count = (count + 1) / 2) {
    let span = (count + 1) / 2;
    if (lid + span < count) {
      let tie = select(partials_f32[lid] == partials_f32[lid + span], isNan(partials_f32[lid]) == isNan(partials_f32[lid + span]), isNan(partials_f32[lid]) | isNan(partials_f32[lid + span]));
      let later = select(partials_f32[lid] < partials_f32[lid + span], isNan(partials_f32[lid + span]), isNan(partials_f32[lid]) | isNan(partials_f32[lid + span]));
      let wins = select(later, places_argMax[lid + span] < places_argMax[lid], tie);
      if (wins) {
        partials_f32[lid] = partials_f32[lid + span];
        places_argMax[lid] = places_argMax[lid + span];
      }
    }
    workgroupBarrier();
  }
  *best = workgroupUniformLoad(&partials_f32[0]);
  *place = workgroupUniformLoad(&places_argMax[0]);
}

fn given(x: f32) -> f32 {
  return x;
}

@compute @workgroup_size(64)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let row = i32(workgroup.x);
  var sum0: f32 = 0.0;
  var max1: f32 = -infinity();
  var argMax2: i32 = 0;
  var argMax2Best: f32 = -infinity();
  for (var e = lid; e < 96; e += 64) {
    let xAt = x[e];
    sum0 = sum0 + xAt;
    max1 = maximum(max1, xAt);
    let value = xAt;
    if ((argMax2Best < value || isNan(value)) && !isNan(argMax2Best)) {
      argMax2Best = value;
      argMax2 = e;
    }
  }
  sum0 = combine_sum_f32(sum0, lid);
  max1 = combine_max_f32(max1, lid);
  combine_argMax_f32(&argMax2Best, &argMax2, lid);
  let t = sum0 / given(96.0);
  for (var first = lid; first < 1; first += 64) {
    div[0] = t;
    reduceMax[0] = max1;
    argMax[0] = argMax2;
  }
}
