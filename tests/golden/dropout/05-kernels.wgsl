// select_mul on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read> key: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> select0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> mul: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  let atLocal = lid * 4;
  if (lid <= 5) {
    let keyAt = key[0];
    let keyAt0 = key[1];
    let t = vec4<u32>(vec4<i32>(atLocal, atLocal + 1, atLocal + 2, atLocal + 3)) + vec4<u32>(keyAt) + vec4<u32>(keyAt0);
    let t0 = (keyAt0 << u32(13u)) | (keyAt0 >> u32(19u));
    let t1 = vec4<u32>(t0) ^ t;
    let t2 = t + t1;
    let t3 = ((t1 << vec4<u32>(vec4<u32>(15u))) | (t1 >> vec4<u32>(vec4<u32>(17u)))) ^ t2;
    let t4 = t2 + t3;
    let t5 = ((t3 << vec4<u32>(vec4<u32>(26u))) | (t3 >> vec4<u32>(vec4<u32>(6u)))) ^ t4;
    let t6 = t4 + t5;
    let t7 = (keyAt ^ keyAt0) ^ 466688986u;
    let t8 = (((t5 << vec4<u32>(vec4<u32>(6u))) | (t5 >> vec4<u32>(vec4<u32>(26u)))) ^ t6) + vec4<u32>(t7) + vec4<u32>(1u);
    let t9 = t6 + vec4<u32>(keyAt0) + t8;
    let t10 = ((t8 << vec4<u32>(vec4<u32>(17u))) | (t8 >> vec4<u32>(vec4<u32>(15u)))) ^ t9;
    let t11 = t9 + t10;
    let t12 = ((t10 << vec4<u32>(vec4<u32>(29u))) | (t10 >> vec4<u32>(vec4<u32>(3u)))) ^ t11;
    let t13 = t11 + t12;
    let t14 = ((t12 << vec4<u32>(vec4<u32>(16u))) | (t12 >> vec4<u32>(vec4<u32>(16u)))) ^ t13;
    let t15 = t13 + t14;
    let t16 = (((t14 << vec4<u32>(vec4<u32>(24u))) | (t14 >> vec4<u32>(vec4<u32>(8u)))) ^ t15) + vec4<u32>(keyAt) + vec4<u32>(2u);
    let t17 = t15 + vec4<u32>(t7) + t16;
    let t18 = ((t16 << vec4<u32>(vec4<u32>(13u))) | (t16 >> vec4<u32>(vec4<u32>(19u)))) ^ t17;
    let t19 = t17 + t18;
    let t20 = ((t18 << vec4<u32>(vec4<u32>(15u))) | (t18 >> vec4<u32>(vec4<u32>(17u)))) ^ t19;
    let t21 = t19 + t20;
    let t22 = ((t20 << vec4<u32>(vec4<u32>(26u))) | (t20 >> vec4<u32>(vec4<u32>(6u)))) ^ t21;
    let t23 = t21 + t22;
    let t24 = (((t22 << vec4<u32>(vec4<u32>(6u))) | (t22 >> vec4<u32>(vec4<u32>(26u)))) ^ t23) + vec4<u32>(keyAt0) + vec4<u32>(3u);
    let t25 = t23 + vec4<u32>(keyAt) + t24;
    let t26 = ((t24 << vec4<u32>(vec4<u32>(17u))) | (t24 >> vec4<u32>(vec4<u32>(15u)))) ^ t25;
    let t27 = t25 + t26;
    let t28 = ((t26 << vec4<u32>(vec4<u32>(29u))) | (t26 >> vec4<u32>(vec4<u32>(3u)))) ^ t27;
    let t29 = t27 + t28;
    let t30 = ((t28 << vec4<u32>(vec4<u32>(16u))) | (t28 >> vec4<u32>(vec4<u32>(16u)))) ^ t29;
    let t31 = t29 + t30;
    let t32 = (((t30 << vec4<u32>(vec4<u32>(24u))) | (t30 >> vec4<u32>(vec4<u32>(8u)))) ^ t31) + vec4<u32>(t7) + vec4<u32>(4u);
    let t33 = t31 + vec4<u32>(keyAt0) + t32;
    let t34 = ((t32 << vec4<u32>(vec4<u32>(13u))) | (t32 >> vec4<u32>(vec4<u32>(19u)))) ^ t33;
    let t35 = t33 + t34;
    let t36 = ((t34 << vec4<u32>(vec4<u32>(15u))) | (t34 >> vec4<u32>(vec4<u32>(17u)))) ^ t35;
    let t37 = t35 + t36;
    let t38 = vec4<f32>(((t37 + (((t36 << vec4<u32>(vec4<u32>(26u))) | (t36 >> vec4<u32>(vec4<u32>(6u)))) ^ t37) + vec4<u32>(t7)) >> vec4<u32>(vec4<u32>(8u)))) * vec4<f32>(5.9604645e-8) < vec4<f32>(0.75);
    select0[lid] = select(vec4<f32>(0.0), x[lid] * vec4<f32>(1.3333334), t38);
    mul[lid] = vec4<f32>(t38) * vec4<f32>(1.3333334);
  }
}

// add on a grid of 1 × 1 × 1
@group(0) @binding(0) var<storage, read_write> key: array<u32>;

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) invocation: u32,
  @builtin(workgroup_id) workgroup: vec3<u32>,
) {
  let lid = i32(invocation);
  let chunk = i32(workgroup.x);
  if (lid <= 1) {
    key[lid] = key[lid] + u32(lid);
  }
}
