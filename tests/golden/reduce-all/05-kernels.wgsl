// reduceSum_argMax on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
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

var<workgroup> partials_f32: array<f32, 128>;

fn combine_sum_f32_8(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var span = 4; span > 0; span = span / 2) {
    if ((lid & 7) < span) {
      partials_f32[lid] = partials_f32[lid] + partials_f32[lid + span];
    }
    workgroupBarrier();
  }
  let result = partials_f32[lid & -8];
  workgroupBarrier();
  return result;
}

fn combine_max_f32_8(value: f32, lid: i32) -> f32 {
  partials_f32[lid] = value;
  workgroupBarrier();
  for (var span = 4; span > 0; span = span / 2) {
    if ((lid & 7) < span) {
      partials_f32[lid] = maximum(partials_f32[lid], partials_f32[lid + span]);
    }
    workgroupBarrier();
  }
  let result = partials_f32[lid & -8];
  workgroupBarrier();
  return result;
}

var<workgroup> places_argMax: array<i32, 128>;

fn combine_argMax_f32_8(best: ptr<function, f32>, place: ptr<function, i32>, lid: i32) {
  partials_f32[lid] = *best;
  places_argMax[lid] = *place;
  workgroupBarrier();
  for (var span = 4; span > 0; span = span / 2) {
    if ((lid & 7) < span) {
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
  *best = partials_f32[lid & -8];
  *place = places_argMax[lid & -8];
  workgroupBarrier();
}

fn given(x: f32) -> f32 {
  return x;
}

@compute @workgroup_size(128)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let rows = i32(workgroup.x);
  var sum0: f32 = 0.0;
  var max1: f32 = -infinity();
  var argMax2: i32 = 0;
  var argMax2Best: f32 = -infinity();
  let lidDiv8 = lid / 8;
  let lidMod8 = lid % 8;
  let atLid = lidMod8 * 4;
  if (lidDiv8 <= 0) {
    let xAt = x[lidMod8][0];
    sum0 = sum0 + xAt;
    max1 = maximum(max1, xAt);
    let value = xAt;
    if ((argMax2Best < value || isNan(value)) && !isNan(argMax2Best)) {
      argMax2Best = value;
      argMax2 = atLid;
    }
    let xAt0 = x[lidMod8][1];
    sum0 = sum0 + xAt0;
    max1 = maximum(max1, xAt0);
    let value0 = xAt0;
    if ((argMax2Best < value0 || isNan(value0)) && !isNan(argMax2Best)) {
      argMax2Best = value0;
      argMax2 = atLid + 1;
    }
    let xAt1 = x[lidMod8][2];
    sum0 = sum0 + xAt1;
    max1 = maximum(max1, xAt1);
    let value1 = xAt1;
    if ((argMax2Best < value1 || isNan(value1)) && !isNan(argMax2Best)) {
      argMax2Best = value1;
      argMax2 = atLid + 2;
    }
    let xAt2 = x[lidMod8][3];
    sum0 = sum0 + xAt2;
    max1 = maximum(max1, xAt2);
    let value2 = xAt2;
    if ((argMax2Best < value2 || isNan(value2)) && !isNan(argMax2Best)) {
      argMax2Best = value2;
      argMax2 = atLid + 3;
    }
  }
  let r1 = lidMod8 + 8;
  let size = r1 * 4;
  if (lidDiv8 <= 0) {
    let xAt3 = x[r1][0];
    sum0 = sum0 + xAt3;
    max1 = maximum(max1, xAt3);
    let value3 = xAt3;
    if ((argMax2Best < value3 || isNan(value3)) && !isNan(argMax2Best)) {
      argMax2Best = value3;
      argMax2 = size;
    }
    let xAt4 = x[r1][1];
    sum0 = sum0 + xAt4;
    max1 = maximum(max1, xAt4);
    let value4 = xAt4;
    if ((argMax2Best < value4 || isNan(value4)) && !isNan(argMax2Best)) {
      argMax2Best = value4;
      argMax2 = size + 1;
    }
    let xAt5 = x[r1][2];
    sum0 = sum0 + xAt5;
    max1 = maximum(max1, xAt5);
    let value5 = xAt5;
    if ((argMax2Best < value5 || isNan(value5)) && !isNan(argMax2Best)) {
      argMax2Best = value5;
      argMax2 = size + 2;
    }
    let xAt6 = x[r1][3];
    sum0 = sum0 + xAt6;
    max1 = maximum(max1, xAt6);
    let value6 = xAt6;
    if ((argMax2Best < value6 || isNan(value6)) && !isNan(argMax2Best)) {
      argMax2Best = value6;
      argMax2 = size + 3;
    }
  }
  let r1_0 = lidMod8 + 16;
  let size0 = r1_0 * 4;
  if (lidDiv8 <= 0) {
    let xAt7 = x[r1_0][0];
    sum0 = sum0 + xAt7;
    max1 = maximum(max1, xAt7);
    let value7 = xAt7;
    if ((argMax2Best < value7 || isNan(value7)) && !isNan(argMax2Best)) {
      argMax2Best = value7;
      argMax2 = size0;
    }
    let xAt8 = x[r1_0][1];
    sum0 = sum0 + xAt8;
    max1 = maximum(max1, xAt8);
    let value8 = xAt8;
    if ((argMax2Best < value8 || isNan(value8)) && !isNan(argMax2Best)) {
      argMax2Best = value8;
      argMax2 = size0 + 1;
    }
    let xAt9 = x[r1_0][2];
    sum0 = sum0 + xAt9;
    max1 = maximum(max1, xAt9);
    let value9 = xAt9;
    if ((argMax2Best < value9 || isNan(value9)) && !isNan(argMax2Best)) {
      argMax2Best = value9;
      argMax2 = size0 + 2;
    }
    let xAt10 = x[r1_0][3];
    sum0 = sum0 + xAt10;
    max1 = maximum(max1, xAt10);
    let value10 = xAt10;
    if ((argMax2Best < value10 || isNan(value10)) && !isNan(argMax2Best)) {
      argMax2Best = value10;
      argMax2 = size0 + 3;
    }
  }
  sum0 = combine_sum_f32_8(sum0, lid);
  max1 = combine_max_f32_8(max1, lid);
  combine_argMax_f32_8(&argMax2Best, &argMax2, lid);
  if ((lidDiv8 <= 0) & (lidMod8 <= 0)) {
    div[0] = sum0 / given(96.0);
    reduceMax[0] = max1;
    argMax[0] = argMax2;
  }
}
